/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.tierlog.events.TopicAdmin;
import io.tierlog.ops.cli.command.ClusterOptions;
import io.tierlog.ops.cli.command.CommandGroup;
import io.tierlog.ops.cli.command.OutputFormat;
import java.io.PrintWriter;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code tierlog topics}: the topics of a log. */
@Command(name = "topics", description = "Create the topics of a log.", subcommands = TopicsCommand.Create.class)
final class TopicsCommand extends CommandGroup {
    /** {@code tierlog topics create}. */
    @Command(
            name = "create",
            description = "Create the topics of a log that do not exist yet.",
            footer = {"", "The number of partitions is fixed for the life of the log: an aggregate stays in its partition."})
    static final class Create implements Callable<Integer> {
        @Spec
        CommandSpec spec;

        @Mixin
        ClusterOptions cluster;

        @Option(
                names = "--partitions",
                paramLabel = "N",
                description = "Partitions of every topic, 1 to 1024 (default: ${DEFAULT-VALUE}); the topic of heads has one.")
        int partitions = 4;

        @Option(
                names = "--replication-factor",
                paramLabel = "N",
                description = "Replicas of every record (default: ${DEFAULT-VALUE}; 3 in production).")
        int replicationFactor = 1;

        @Option(names = "--format", paramLabel = "FORMAT", description = "${COMPLETION-CANDIDATES} (default: ${DEFAULT-VALUE}).")
        OutputFormat format = OutputFormat.text;

        @Override
        public Integer call() throws Exception {
            TopicAdmin.Created created = ClusterOptions.checked(() -> {
                try (TopicAdmin admin = new TopicAdmin(cluster.kafka())) {
                    return admin.create(cluster.topics(), partitions, replicationFactor);
                }
            });
            PrintWriter out = spec.commandLine().getOut();
            switch (format) {
                case text -> {
                    String heads = cluster.topics().heads();
                    created.made().forEach(topic -> out.println("made   " + topic + ", "
                            + (topic.equals(heads) ? "1 partition" : partitions + " partitions")));
                    created.found().forEach(topic -> out.println("found  " + topic));
                }
                case json -> out.println(new ObjectMapper()
                        .writeValueAsString(Map.of("made", created.made(), "found", created.found(), "partitions", partitions)));
            }
            out.flush();
            return 0;
        }
    }
}
