/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.simulation;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.tierlog.ops.simulation.scenario.Mode;
import io.tierlog.ops.simulation.scenario.Scenario;
import io.tierlog.ops.simulation.scenario.ScenarioError;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code ops/tierlog scenario}. Without state of its own. */
@Command(
        name = "scenario",
        description = "Runs scenario files, JSON lines of steps and expectations, in a simulated world of the shipped cores.",
        subcommands = {ScenarioCommand.Defaults.class, ScenarioCommand.RunFiles.class})
public final class ScenarioCommand implements Callable<Integer> {
    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() {
        throw new CommandLine.ParameterException(spec.commandLine(), "say what to do: scenario run FILE..., or scenario defaults");
    }

    /** Runs files. */
    @Command(
            name = "run",
            description = {
                "Runs scenario files one after the other and prints a JSON line for each \"show\", for each expectation that did not hold,"
                        + " and at the end of each file.",
                "Shown and expected: requests, free, placements, operations, leases, pins, store, outcomes, counters; of migration: marks,"
                        + " migrations, moves, and log, the types of decisions in order.",
                "Exit code 0: every expectation and every invariant held. 1: one did not. 2: a file is wrong or cannot be read."
            })
    static final class RunFiles implements Callable<Integer> {
        @Spec
        private CommandSpec spec;

        @Parameters(arity = "1..*", paramLabel = "FILE", description = "Scenario files.")
        private List<Path> files = List.of();

        @Option(
                names = "--mode",
                paramLabel = "MODE",
                split = ",",
                converter = ModeConverter.class,
                description = "straight (default); replay: the log is decided again at every expectation; duplicates: every event and command"
                        + " comes twice; restart-everywhere: the controller restarts between any two records."
                        + " Several, divided by commas, run in turn.")
        private List<Mode> modes = List.of(Mode.STRAIGHT);

        @Override
        public Integer call() {
            PrintWriter out = spec.commandLine().getOut();
            int worst = 0;
            for (Path file : files) {
                for (Mode mode : modes) {
                    worst = Math.max(worst, run(file, mode, out));
                }
            }
            return worst;
        }

        private int run(Path file, Mode mode, PrintWriter out) {
            boolean many = files.size() > 1 || modes.size() > 1;
            try {
                boolean passed = Scenario.run(file, mode, line -> {
                    ObjectNode named = JsonNodeFactory.instance.objectNode();
                    named.setAll(line);
                    if (many && line.has("result")) {
                        named.put("file", String.valueOf(file.getFileName()));
                        named.put("mode", name(mode));
                    }
                    out.println(named);
                    out.flush();
                });
                return passed ? 0 : 1;
            } catch (ScenarioError e) {
                error("error: " + file + (e.line() > 0 ? ":" + e.line() : "") + ": " + e.getMessage());
            } catch (IOException e) {
                error(Files.exists(file) ? "error: " + file + " cannot be read: " + e.getMessage() : "error: " + file + " is not there");
            }
            return 2;
        }

        private void error(String message) {
            spec.commandLine().getErr().println(message);
            spec.commandLine().getErr().flush();
        }
    }

    /** Prints the first line with all defaults. */
    @Command(name = "defaults", description = "Prints a first line with every field of the world and its default.")
    static final class Defaults implements Callable<Integer> {
        @Spec
        private CommandSpec spec;

        @Override
        public Integer call() {
            spec.commandLine().getOut().println(Scenario.defaults());
            spec.commandLine().getOut().flush();
            return 0;
        }
    }

    private static String name(Mode mode) {
        return mode.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /** One mode by its name, or all of them. */
    static final class ModeConverter implements ITypeConverter<Mode> {
        @Override
        public Mode convert(String value) {
            return Arrays.stream(Mode.values())
                    .filter(mode -> name(mode).equals(value))
                    .findFirst()
                    .orElseThrow(() -> new CommandLine.TypeConversionException(
                            "'" + value + "' is none of " + Arrays.stream(Mode.values()).map(ScenarioCommand::name).toList()));
        }
    }
}
