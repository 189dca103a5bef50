/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli;

import io.tierlog.events.Causes;
import io.tierlog.ops.cli.command.CliError;
import java.io.IOException;
import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.IDefaultValueProvider;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/**
 * Values for flags that were not given: the environment first, then the settings file, then the flag's own default.
 *
 * <pre>
 * flag                  environment                          file
 * broker --port 9092    TIERLOG_BROKER_PORT, TIERLOG_PORT    broker.port=9092, port=9092
 * </pre>
 *
 * <p>The name with the command wins over the one without. A name in the file that fits no flag is an error, so that a misspelt
 * setting does not go unnoticed. Immutable.
 */
final class Settings implements IDefaultValueProvider {
    static final String FILE_NAME = ".tierlog.properties";
    static final String CONFIG_FLAG = "--config";

    private final Map<String, String> environment;
    private final Properties file;
    private final String source;

    private Settings(Map<String, String> environment, Properties file, String source) {
        this.environment = environment;
        this.file = file;
        this.source = source;
    }

    /**
     * Reads the file that {@code --config}, {@code TIERLOG_CONFIG} or the home directory names.
     *
     * @throws CliError when a named file cannot be read; a missing file in the home directory is not an error
     */
    static Settings load(List<String> arguments, Map<String, String> environment, Path home) {
        String named = namedFile(arguments, environment);
        Path path = named == null ? home.resolve(FILE_NAME) : Path.of(named);
        Properties file = new Properties();
        if (named == null && !Files.exists(path)) {
            return new Settings(environment, file, "");
        }
        try (Reader reader = Files.newBufferedReader(path)) {
            file.load(reader);
        } catch (IOException | IllegalArgumentException failure) {
            throw new CliError(
                    "cannot read the settings file " + path + ": " + Causes.of(failure),
                    "name a readable file of NAME=VALUE lines with --config FILE or TIERLOG_CONFIG",
                    CliError.BAD_INPUT,
                    failure);
        }
        return new Settings(environment, file, path.toString());
    }

    private static @Nullable String namedFile(List<String> arguments, Map<String, String> environment) {
        String named = environment.get("TIERLOG_CONFIG");
        for (int i = 0; i < arguments.size(); i++) {
            String argument = arguments.get(i);
            if (argument.equals(CONFIG_FLAG) && i + 1 < arguments.size()) {
                named = arguments.get(i + 1);
            } else if (argument.startsWith(CONFIG_FLAG + "=")) {
                named = argument.substring(CONFIG_FLAG.length() + 1);
            }
        }
        return named == null || named.isEmpty() ? null : named;
    }

    /** @throws CliError when the file sets something that no command has */
    void check(CommandLine root) {
        if (file.isEmpty()) {
            return;
        }
        Set<String> known = new TreeSet<>();
        collect(root.getCommandSpec(), known);
        if (!known.containsAll(file.stringPropertyNames()) && !(root.getCommand() instanceof Main)) {
            // The file is for all commands, also where only one of them was read.
            collect(new CommandLine(new Main()).getCommandSpec(), known);
        }
        for (String name : new TreeSet<>(file.stringPropertyNames())) {
            if (!known.contains(name)) {
                throw new CliError(
                        "unknown setting '" + name + "' in " + source,
                        "known are: " + String.join(", ", known),
                        CliError.BAD_INPUT);
            }
        }
    }

    private static void collect(CommandSpec command, Set<String> names) {
        for (OptionSpec option : command.options()) {
            if (settable(option)) {
                names.add(flag(option));
                names.add(path(command) + flag(option));
            }
        }
        command.subcommands().values().forEach(sub -> collect(sub.getCommandSpec(), names));
    }

    @Override
    public @Nullable String defaultValue(ArgSpec argument) {
        if (!(argument instanceof OptionSpec option) || !settable(option)) {
            return null;
        }
        String flag = flag(option);
        String full = path(option.command()) + flag;
        for (String name : List.of(full, flag)) {
            String value = environment.get(variable(name));
            if (value != null && !value.isEmpty()) {
                return value;
            }
        }
        String value = file.getProperty(full);
        return value != null ? value : file.getProperty(flag);
    }

    private static boolean settable(OptionSpec option) {
        return !option.usageHelp() && !option.versionHelp() && !option.longestName().equals(CONFIG_FLAG);
    }

    private static String flag(OptionSpec option) {
        return option.longestName().replaceFirst("^-+", "");
    }

    /** The subcommands from the root down, each with a dot after it; nothing for the root. */
    private static String path(CommandSpec command) {
        CommandSpec parent = command.parent();
        return parent == null ? "" : path(parent) + command.name() + ".";
    }

    private static String variable(String name) {
        return "TIERLOG_" + name.toUpperCase(Locale.ROOT).replace('-', '_').replace('.', '_');
    }
}
