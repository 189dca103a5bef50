/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.packaging;

import io.tierlog.ops.cli.Main;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;

/** The directory {@code ops/deploy}, and the command line that its files call. Static and without state. */
final class Deploy {
    static final Path ROOT = Path.of(System.getProperty("tierlog.root"));
    static final Path DIRECTORY = ROOT.resolve("ops/deploy");

    private Deploy() {}

    /** Parses {@code arguments} as the program does, variables of Kubernetes and systemd replaced, and returns what it understood. */
    static ParseResult parsed(List<String> arguments) {
        String[] words = arguments.stream()
                .map(word -> word.replaceAll("\\$\\([A-Z_]+_IP\\)", "10.0.0.1").replaceAll("\\$\\([A-Z_]+\\)|%[a-zA-Z]", "name-0"))
                .toArray(String[]::new);
        try {
            ParseResult result = new CommandLine(new Main()).setCaseInsensitiveEnumValuesAllowed(true).parseArgs(words);
            while (result.hasSubcommand()) {
                result = result.subcommand();
            }
            return result;
        } catch (ParameterException misuse) {
            throw new AssertionError(misuse.getMessage() + ", in " + arguments, misuse);
        }
    }

    /** The keys of a settings file that {@code command}, words with a space between them, does not know. */
    static Set<String> unknownSettings(Path settings, String command) throws IOException {
        Set<String> unknown = new TreeSet<>();
        CommandLine line = new CommandLine(new Main());
        for (String name : command.split(" ", -1)) {
            line = line.getSubcommands().get(name);
        }
        CommandSpec known = line.getCommandSpec();
        try (Stream<String> lines = Files.lines(settings)) {
            lines.map(String::strip)
                    .filter(setting -> !setting.isEmpty() && !setting.startsWith("#"))
                    .map(setting -> setting.split("=", 2)[0].strip())
                    .filter(key -> known.findOption("--" + key) == null)
                    .forEach(unknown::add);
        }
        return unknown;
    }
}
