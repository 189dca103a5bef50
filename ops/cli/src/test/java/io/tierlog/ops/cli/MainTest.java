/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.ops.cli.command.CliError;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** What holds for every command: help, exit codes, errors, and where settings come from. */
class MainTest {
    @TempDir
    Path home;

    private final Probe probe = new Probe();
    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    @Test
    void everyCommandExplainsItself() {
        List<CommandLine> all = new ArrayList<>();
        collect(new CommandLine(new Main()), all);
        for (CommandLine command : all) {
            String name = command.getCommandSpec().qualifiedName();
            List<String> words = new ArrayList<>(List.of(name.split(" ")).subList(1, name.split(" ").length));
            words.add("--help");

            assertEquals(0, run(Map.of(), words.toArray(String[]::new)), name);
            assertTrue(out.toString().contains("Usage: " + name), name);
            assertFalse(out.toString().contains("%%"), () -> "a description of " + name + " is no format:\n" + out);
            assertTrue(command.getCommandSpec().usageMessage().description().length > 0, name + " has no description");
            List<String> children = List.copyOf(command.getSubcommands().keySet());
            assertEquals(children.stream().sorted().toList(), children, "the commands under " + name + " are not sorted");
        }
    }

    /** A process reads the options of its command alone, which are those that the command has among all. */
    @Test
    void theFirstArgumentNamesTheOnlyCommandThatIsRead() {
        for (Map.Entry<String, CommandLine> command : new CommandLine(new Main()).getSubcommands().entrySet()) {
            Map<String, CommandLine> read = Main.commandLine(List.of(command.getKey(), "--help")).getSubcommands();
            assertEquals(Set.of(command.getKey()), read.keySet());
            assertEquals(help(command.getValue()), help(read.values().iterator().next()));
        }
        assertTrue(Main.commandLine(List.of("--verbose", "nodes")).getSubcommands().size() > 1);
        assertTrue(Main.commandLine(List.of("node")).getSubcommands().size() > 1, "others may be meant");
        assertTrue(Main.commandLine(List.of()).getSubcommands().size() > 1);
    }

    private static String help(CommandLine command) {
        List<CommandLine> all = new ArrayList<>();
        collect(command, all);
        return all.stream().map(CommandLine::getUsageMessage).collect(Collectors.joining());
    }

    @Test
    void withoutACommandTheUsageIsShownAndItIsAnError() {
        assertEquals(2, run(Map.of()));
        assertTrue(err.toString().startsWith("Usage: tierlog"), err.toString());
    }

    @Test
    void theVersionIsFilledIn() {
        assertEquals(0, run(Map.of(), "--version"));
        assertTrue(out.toString().matches("(?s)tierlog \\d+\\.\\d+.*Kafka \\d+.*Java \\d+.*"), out.toString());
    }

    @Test
    void aMisspeltCommandOrFlagIsAnswered() {
        assertEquals(2, run(Map.of(), "brokr"));
        assertTrue(err.toString().contains("error: Unmatched argument at index 0: 'brokr'"), err.toString());
        assertTrue(err.toString().contains("tierlog broker"), err.toString());

        assertEquals(2, run(Map.of(), "probe", "--max-blocks", "many"));
        assertTrue(err.toString().contains("hint: tierlog probe --help"), err.toString());
    }

    @Test
    void aFlagWinsOverTheEnvironmentAndThatOverTheFileAndThatOverTheDefault() throws Exception {
        Map<String, String> environment = Map.of("TIERLOG_PROBE_MAX_BLOCKS", "3", "TIERLOG_MAX_BLOCKS", "2");

        assertEquals(0, run(Map.of(), "probe"));
        assertEquals(-1, probe.maxBlocks);

        Path file = Files.writeString(home.resolve(".tierlog.properties"), "max-blocks=0\n");
        run(Map.of(), "probe");
        assertEquals(0, probe.maxBlocks);
        Files.writeString(file, "max-blocks=0\nprobe.max-blocks=1\n");
        run(Map.of(), "probe");
        assertEquals(1, probe.maxBlocks);

        run(Map.of("TIERLOG_MAX_BLOCKS", "2"), "probe");
        assertEquals(2, probe.maxBlocks);
        run(environment, "probe");
        assertEquals(3, probe.maxBlocks);
        run(environment, "probe", "--max-blocks", "4");
        assertEquals(4, probe.maxBlocks);
    }

    @Test
    void anotherSettingsFileIsNamedByFlagOrEnvironment() throws Exception {
        Path named = Files.writeString(home.resolve("a.properties"), "probe.max-blocks=7\n");
        Path other = Files.writeString(home.resolve("b.properties"), "probe.max-blocks=8\n");

        run(Map.of("TIERLOG_CONFIG", named.toString()), "probe");
        assertEquals(7, probe.maxBlocks);
        run(Map.of("TIERLOG_CONFIG", named.toString()), "probe", "--config", other.toString());
        assertEquals(8, probe.maxBlocks);
        run(Map.of(), "--config=" + named, "probe");
        assertEquals(7, probe.maxBlocks);

        assertEquals(2, run(Map.of(), "probe", "--config", home.resolve("absent").toString()));
        assertTrue(err.toString().contains("error: cannot read the settings file"), err.toString());
    }

    @Test
    void aMisspeltSettingIsAnErrorThatNamesTheFile() throws Exception {
        Files.writeString(home.resolve(".tierlog.properties"), "probe.max-block=1\n");

        assertEquals(2, run(Map.of(), "probe"));
        assertTrue(err.toString().contains("unknown setting 'probe.max-block' in " + home), err.toString());
        assertTrue(err.toString().contains("probe.max-blocks"), err.toString());
    }

    /** A line that has one command alone takes settings of the others. */
    @Test
    void aSettingOfAnotherCommandIsKnown() throws Exception {
        Path file = Files.writeString(home.resolve("all.properties"), "agent.port=7\n");
        List<String> arguments = List.of("acls", "print", "--config", file.toString());
        CommandLine line = Main.commandLine(arguments).setOut(new PrintWriter(out)).setErr(new PrintWriter(err));
        assertEquals(0, Main.run(line, arguments, Map.of(), home), err::toString);

        Files.writeString(file, "agent.prot=7\n");
        assertEquals(2, Main.run(line, arguments, Map.of(), home));
        assertTrue(err.toString().contains("unknown setting 'agent.prot'"), err.toString());
    }

    @Test
    void anErrorIsTwoLinesAndItsTraceIsForVerbose() {
        probe.failure = new CliError("no broker at x", "start one", 2, new IllegalStateException("refused"));

        assertEquals(2, run(Map.of(), "probe"));
        assertEquals(List.of("error: no broker at x", "hint: start one"), err.toString().lines().toList());

        assertEquals(2, run(Map.of(), "probe", "--verbose"));
        assertTrue(err.toString().contains("Caused by: java.lang.IllegalStateException: refused"), err.toString());
    }

    @Test
    void anUnexpectedExceptionIsAFailureWithoutATrace() {
        probe.failure = new IllegalArgumentException("odd");

        assertEquals(1, run(Map.of(), "probe"));
        assertTrue(err.toString().startsWith("error: odd"), err.toString());
        assertTrue(err.toString().contains("hint: run again with --verbose"), err.toString());
        assertFalse(err.toString().contains("\tat "), err.toString());

        run(Map.of("TIERLOG_VERBOSE", "true"), "probe");
        assertTrue(err.toString().contains("\tat "), err.toString());
    }

    private int run(Map<String, String> environment, String... arguments) {
        out.getBuffer().setLength(0);
        err.getBuffer().setLength(0);
        CommandLine line = new CommandLine(new Main());
        line.addSubcommand(probe);
        line.setOut(new PrintWriter(out, true));
        line.setErr(new PrintWriter(err, true));
        return Main.run(line, List.of(arguments), environment, home);
    }

    private static void collect(CommandLine command, List<CommandLine> all) {
        all.add(command);
        command.getSubcommands().values().forEach(child -> collect(child, all));
    }

    /** A command that remembers its flag and fails when told to. */
    @Command(name = "probe", description = "Only for this test.")
    static final class Probe implements Callable<Integer> {
        @Option(names = "--max-blocks", defaultValue = "-1")
        int maxBlocks;

        RuntimeException failure = new IllegalStateException();

        @Override
        public Integer call() {
            if (failure.getMessage() != null) {
                throw failure;
            }
            return 0;
        }
    }
}
