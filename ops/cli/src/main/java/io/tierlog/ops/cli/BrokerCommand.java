/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli;

import io.tierlog.ops.cli.command.CliError;
import io.tierlog.ops.cli.command.Foreground;
import io.tierlog.ops.cli.command.OutputFormat;
import io.tierlog.ops.cli.command.ReadyLine;
import io.tierlog.ops.kafka.EmbeddedKafka;
import io.tierlog.ops.kafka.EmbeddedKafkaConfig;
import io.tierlog.ops.kafka.EmbeddedKafkaException;
import io.tierlog.ops.kafka.EmbeddedKafkaException.PortInUse;
import io.tierlog.ops.kafka.EmbeddedKafkaException.StartFailed;
import io.tierlog.ops.kafka.EmbeddedKafkaException.UnusableData;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code tierlog broker}: a Kafka broker for a first run, in the foreground. */
@Command(
        name = "broker",
        description = "Run a Kafka broker on this machine, to try Tierlog without a cluster.",
        footer = {"", "It runs until Ctrl-C and keeps its log in the data directory. Not for production: one replica, no passwords."})
final class BrokerCommand implements Callable<Integer> {
    @Spec
    CommandSpec spec;

    @Option(names = "--port", paramLabel = "PORT", description = "Port to listen on, 0 for any free one (default: ${DEFAULT-VALUE}).")
    int port = EmbeddedKafkaConfig.DEFAULT_PORT;

    @Option(names = "--data", paramLabel = "DIR", description = "Where the log is kept (default: ${DEFAULT-VALUE}).")
    Path data = Path.of(System.getProperty("user.home"), ".tierlog", "broker");

    @Option(names = "--format", paramLabel = "FORMAT", description = "${COMPLETION-CANDIDATES} (default: ${DEFAULT-VALUE}).")
    OutputFormat format = OutputFormat.text;

    @Override
    public Integer call() throws Exception {
        try (EmbeddedKafka kafka = start()) {
            printReady(kafka);
            throw Foreground.untilSignalled(kafka, kafka.fatalFault());
        }
    }

    private EmbeddedKafka start() {
        try {
            return EmbeddedKafka.start(EmbeddedKafkaConfig.of(data).withPort(port));
        } catch (EmbeddedKafkaException refused) {
            int exitCode =
                    switch (refused) {
                        case PortInUse _, UnusableData _ -> CliError.BAD_INPUT;
                        case StartFailed _ -> CliError.FAILURE;
                    };
            throw new CliError(refused.getMessage(), refused.hint(), exitCode, refused);
        }
    }

    private void printReady(EmbeddedKafka kafka) throws Exception {
        Path directory = data.toAbsolutePath().normalize();
        String text = "Kafka is up at " + kafka.bootstrapServers() + ", its log in " + directory;
        ReadyLine.print(spec.commandLine().getOut(), format, text, line -> {
            line.put("bootstrapServers", kafka.bootstrapServers());
            line.put("data", directory.toString());
        });
    }
}
