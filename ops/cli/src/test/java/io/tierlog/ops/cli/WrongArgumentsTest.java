/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.ops.cli.command.CliError;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/**
 * Every value of every option and parameter of every command is checked before the command begins: a wrong one ends it with exit code 2 and a
 * message that names the option, the value, and what is allowed.
 */
class WrongArgumentsTest {
    private static final Pattern RANGE = Pattern.compile("(?:a whole number, )?(-?\\d+)(?: to (-?\\d+)| or more)");

    /** A value for what must be given, by its label. */
    private static final Map<String, String> RIGHT = Map.of(
            "KEY", "00112233445566778899aabbccddeeff", "NODE=ADDRESS", "a=127.0.0.1:7070", "TIER", "host");

    /** What each label may not be, beside nothing. */
    private static final Map<String, List<String>> WRONG = Map.ofEntries(
            Map.entry("FILE", List.of("/nowhere/file")),
            Map.entry("KEY", List.of("xyz", "00")),
            Map.entry("HEX", List.of("xyz")),
            Map.entry("TIME", List.of("5", "-1s", "0s", "1 year")),
            Map.entry("MOMENT", List.of("yesterday", "1:x")),
            Map.entry("URL", List.of("ftp://a")),
            Map.entry("HOST:PORT", List.of("nowhere", "a:x", "a:70000", "a:-1")),
            Map.entry("SIZE", List.of("much", "-1GiB", "0B")),
            Map.entry("BYTES", List.of("much", "-1")),
            Map.entry("TIER", List.of("moon")),
            Map.entry("METHOD", List.of("maybe")),
            Map.entry("WHAT", List.of("maybe")),
            Map.entry("HOW", List.of("maybe")),
            Map.entry("DEVICE", List.of("abacus")),
            Map.entry("FORMAT", List.of("papyrus")),
            Map.entry("SHARE", List.of("x", "0", "-1", "2")),
            Map.entry("PERCENT", List.of("x", "-1", "101")),
            Map.entry("NODE=ADDRESS", List.of("a", "a=b:x")),
            Map.entry("PARTITION:OFFSET", List.of("x", "1")),
            Map.entry("FROM-TO", List.of("x")),
            Map.entry("X", List.of("x", "-1")),
            Map.entry("KIND", List.of("maybe")),
            Map.entry("MODE", List.of("maybe")),
            Map.entry("TYPE", List.of("maybe")),
            Map.entry("US", List.of("x")));

    @TempDir
    Path home;

    private final CommandLine line = new CommandLine(new Main());
    private final StringWriter err = new StringWriter();
    private boolean ran;

    @BeforeEach
    void quiet() {
        line.setOut(new PrintWriter(new StringWriter()));
        line.setErr(new PrintWriter(err, true));
    }

    private int run(List<String> arguments) {
        err.getBuffer().setLength(0);
        ran = false;
        line.setExecutionStrategy(parsed -> {
            ran = true;
            return 0;
        });
        return Main.run(line, arguments, Map.of(), home);
    }

    private static List<CommandSpec> commands(CommandSpec command) {
        List<CommandSpec> all = new ArrayList<>(List.of(command));
        command.subcommands().values().forEach(child -> all.addAll(commands(child.getCommandSpec())));
        return all;
    }

    /** The words that run the command with what it must have, and one argument with that value. */
    private List<String> words(CommandSpec command, ArgSpec one, String value) throws IOException {
        List<String> words = new ArrayList<>(List.of(command.qualifiedName().split(" ")));
        words.removeFirst();
        for (OptionSpec option : command.options()) {
            if (option.required() && option != one) {
                words.add(option.longestName() + "=" + right(option));
            }
        }
        for (ArgSpec parameter : command.positionalParameters()) {
            if (parameter == one) {
                words.add(value);
            } else if (parameter.required()) {
                words.add(right(parameter));
            }
        }
        if (one instanceof OptionSpec option && !option.usageHelp()) {
            words.add(option.longestName() + "=" + value);
            if (option.arity().min() > 1) {
                words.add("end");
            }
        }
        return words;
    }

    private String right(ArgSpec argument) throws IOException {
        if (argument.paramLabel().equals("FILE")) {
            Path file = home.resolve("a.file");
            return (Files.exists(file) ? file : Files.createFile(file)).toString();
        }
        return RIGHT.getOrDefault(argument.paramLabel(), "a");
    }

    private static List<String> wrong(ArgSpec argument) {
        List<String> wrong = new ArrayList<>(WRONG.getOrDefault(argument.paramLabel(), List.of()));
        wrong.add("");
        Class<?> type = argument.typeInfo().isMultiValue() ? argument.auxiliaryTypes()[argument.auxiliaryTypes().length - 1] : argument.type();
        if (type.isEnum()) {
            wrong.add("maybe");
        }
        if (Number.class.isAssignableFrom(type) || List.of(int.class, long.class, double.class).contains(type)) {
            wrong.addAll(List.of("x", "1e", "0x10"));
        }
        Matcher range = RANGE.matcher(ArgumentRules.allowed(argument).orElse(""));
        if (range.matches()) {
            long least = Long.parseLong(range.group(1));
            wrong.addAll(List.of("x", "1.5", String.valueOf(least - 1), "99999999999999999999"));
            if (range.group(2) != null) {
                wrong.add(String.valueOf(Long.parseLong(range.group(2)) + 1));
            }
        }
        return wrong;
    }

    @Test
    void everyWrongValueIsNamedBeforeTheCommandBegins() throws IOException {
        List<String> unanswered = new ArrayList<>();
        int arguments = 0;
        for (CommandSpec command : commands(line.getCommandSpec())) {
            for (ArgSpec argument : command.args()) {
                boolean help = argument instanceof OptionSpec option && (option.usageHelp() || option.versionHelp() || option.inherited());
                if (help || command.parent() == null || argument.type() == boolean.class || argument.type() == Boolean.class) {
                    continue;
                }
                arguments++;
                for (String value : wrong(argument)) {
                    List<String> words = words(command, argument, value);
                    int exit = run(words);
                    String said = err.toString();
                    String name = ArgumentRules.name(argument);
                    boolean names = said.contains(name)
                            && said.contains(value.substring(value.lastIndexOf(':') + 1))
                            && said.matches("(?s).*(is not|is no|are not|, not |expected|is out|wrong).*");
                    if (exit != CliError.BAD_INPUT || ran || !names) {
                        unanswered.add(String.join(" ", words) + " -> " + exit + (ran ? " (runs)" : "") + " " + said.lines().findFirst().orElse(""));
                    }
                }
            }
        }
        assertTrue(arguments > 350, "arguments: " + arguments);
        assertEquals("", String.join("\n", unanswered), () -> unanswered.size() + " wrong values are not answered");
    }

    /** What must be given is enough, and every default is a value that is allowed. */
    @Test
    void everyDefaultIsAllowed() throws IOException {
        for (CommandSpec command : commands(line.getCommandSpec())) {
            if (command.subcommands().isEmpty()) {
                List<String> words = words(command, command.optionsMap().get("--help"), "");
                assertEquals(0, run(words), () -> words + ": " + err);
                assertTrue(ran);
            }
        }
    }

    @Test
    void allThatIsWrongIsNamedAtOnce() {
        assertEquals(CliError.BAD_INPUT, run(List.of("demo", "--nodes=0", "--flood=101", "--trace=/nowhere/file")));
        String said = err.toString();
        for (String part : List.of("--nodes: '0' is not a whole number, 1 to 64", "--flood: '101' is not a whole number, 0 to 100",
                "--trace: '/nowhere/file' is not a file that can be read", "hint: tierlog demo --help")) {
            assertTrue(said.contains(part), said);
        }
    }
}
