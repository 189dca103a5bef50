/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli;

import io.tierlog.ops.cli.command.CliError;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.Objects;
import java.util.Properties;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.IVersionProvider;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ScopeType;
import picocli.CommandLine.Spec;

/** {@code tierlog} itself. Its options are understood after every command too. */
@Command(
        name = "tierlog",
        description = "A Kafka-driven, event-sourced controller for the KV cache tiers of LLM inference.",
        versionProvider = Root.Version.class,
        synopsisSubcommandLabel = "COMMAND")
class Root implements Callable<Integer> {
    static final String VERBOSE_FLAG = "--verbose";

    @Spec
    CommandSpec spec;

    @Option(names = {"-h", "--help"}, usageHelp = true, scope = ScopeType.INHERIT, description = "Show this help and exit.")
    boolean help;

    @Option(names = {"-V", "--version"}, versionHelp = true, scope = ScopeType.INHERIT, description = "Show the version and exit.")
    boolean version;

    @Option(names = VERBOSE_FLAG, scope = ScopeType.INHERIT, description = "Log more, and show stack traces.")
    boolean verbose;

    @Option(
            names = Settings.CONFIG_FLAG,
            paramLabel = "FILE",
            scope = ScopeType.INHERIT,
            description = "Settings file (default: ~/" + Settings.FILE_NAME + ", or TIERLOG_CONFIG).")
    Path config = Path.of(Settings.FILE_NAME);

    /** Prints the help: a command is needed. */
    @Override
    public Integer call() {
        spec.commandLine().usage(spec.commandLine().getErr());
        return CliError.BAD_INPUT;
    }

    /** Versions of Tierlog, Kafka and Java. */
    static final class Version implements IVersionProvider {
        @Override
        public String[] getVersion() throws IOException {
            Properties versions = new Properties();
            try (InputStream in = Root.class.getResourceAsStream("/io.tierlog.version.properties")) {
                versions.load(Objects.requireNonNull(in));
            }
            return new String[] {
                "tierlog " + versions.getProperty("version"),
                "Kafka " + versions.getProperty("kafka"),
                "Java " + Runtime.version()
            };
        }
    }
}
