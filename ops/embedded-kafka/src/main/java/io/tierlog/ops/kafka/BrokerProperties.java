/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.kafka;

import java.nio.file.Path;
import java.util.Map;
import java.util.Properties;
import java.util.Set;

/**
 * The server.properties of the embedded broker: one combined broker and controller, sized for a laptop.
 *
 * <p>Price paid: one replica everywhere, so a lost disk is lost data, and a log cleaner that needs more passes over a large
 * compacted topic than one with Kafka's usual 128 MiB of heap would.
 */
final class BrokerProperties {
    static final int NODE_ID = 1;
    static final String CLIENT_LISTENER = "PLAINTEXT";
    static final String CONTROLLER_LISTENER = "CONTROLLER";

    /** Names that {@link EmbeddedKafkaConfig#properties()} may not hold, since the configuration's own fields decide them. */
    static final Set<String> RESERVED = Set.of(
            "process.roles",
            "node.id",
            "listeners",
            "advertised.listeners",
            "controller.listener.names",
            "controller.quorum.voters",
            "controller.quorum.bootstrap.servers",
            "listener.security.protocol.map",
            "inter.broker.listener.name",
            "log.dir",
            "log.dirs",
            "metadata.log.dir");

    private static final Map<String, String> DEFAULTS = Map.ofEntries(
            // A misspelt topic shall fail, not appear.
            Map.entry("auto.create.topics.enable", "false"),
            Map.entry("default.replication.factor", "1"),
            Map.entry("min.insync.replicas", "1"),
            // Few partitions: the first commit and the first transaction wait until all of these exist.
            Map.entry("offsets.topic.num.partitions", "4"),
            Map.entry("offsets.topic.replication.factor", "1"),
            Map.entry("transaction.state.log.num.partitions", "4"),
            Map.entry("transaction.state.log.replication.factor", "1"),
            Map.entry("transaction.state.log.min.isr", "1"),
            Map.entry("share.coordinator.state.topic.num.partitions", "1"),
            Map.entry("share.coordinator.state.topic.replication.factor", "1"),
            Map.entry("share.coordinator.state.topic.min.isr", "1"),
            Map.entry("group.initial.rebalance.delay.ms", "0"),
            // A broker that was killed is let in again only when its earlier session has ended: 3 s instead of 9 s.
            Map.entry("broker.session.timeout.ms", "3000"),
            Map.entry("broker.heartbeat.interval.ms", "500"),
            Map.entry("num.network.threads", "2"),
            Map.entry("num.io.threads", "4"),
            Map.entry("background.threads", "2"),
            Map.entry("num.recovery.threads.per.data.dir", "2"),
            // 16 MiB instead of 128 MiB of heap, taken at start: the broker often shares a small heap with the controller.
            Map.entry("log.cleaner.dedupe.buffer.size", String.valueOf(16 << 20)));

    private BrokerProperties() {}

    static Properties of(EmbeddedKafkaConfig config, Path logDirectory, int port, int controllerPort) {
        Properties properties = new Properties();
        DEFAULTS.forEach(properties::setProperty);
        config.properties().forEach(properties::setProperty);
        String client = CLIENT_LISTENER + "://" + config.host() + ":" + port;
        properties.setProperty("process.roles", "broker,controller");
        properties.setProperty("node.id", String.valueOf(NODE_ID));
        properties.setProperty("listeners", client + "," + CONTROLLER_LISTENER + "://" + config.host() + ":" + controllerPort);
        properties.setProperty("advertised.listeners", client);
        properties.setProperty("controller.listener.names", CONTROLLER_LISTENER);
        properties.setProperty("controller.quorum.voters", NODE_ID + "@" + config.host() + ":" + controllerPort);
        properties.setProperty(
                "listener.security.protocol.map", CLIENT_LISTENER + ":PLAINTEXT," + CONTROLLER_LISTENER + ":PLAINTEXT");
        properties.setProperty("inter.broker.listener.name", CLIENT_LISTENER);
        properties.setProperty("log.dirs", logDirectory.toString());
        return properties;
    }
}
