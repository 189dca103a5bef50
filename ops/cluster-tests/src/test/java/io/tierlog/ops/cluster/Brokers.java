/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cluster;

import com.github.dockerjava.api.model.ExposedPort;
import com.github.dockerjava.api.model.HostConfig;
import com.github.dockerjava.api.model.PortBinding;
import com.github.dockerjava.api.model.Ports;
import io.tierlog.events.KafkaAccess;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.TopicPartitionInfo;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.containers.Network;
import org.testcontainers.utility.DockerImageName;

/**
 * Three combined brokers and controllers of Kafka. Every topic has three replicas, of which two must have a record before it is acknowledged.
 *
 * <p>A broker tells its clients its address, so the port at this machine must be known before it starts: it is a free one, chosen just before.
 */
final class Brokers {
    static final int COUNT = 3;
    private static final int OUTSIDE = 9092;
    private static final int INSIDE = 19092;
    private static final String QUORUM = "1@kafka-1:9093,2@kafka-2:9093,3@kafka-3:9093";
    private static final String INSIDE_SERVERS = "kafka-1:19092,kafka-2:19092,kafka-3:19092";

    private final List<Part> brokers = new ArrayList<>();
    private final KafkaAccess access;

    /** Three brokers that are not started yet. */
    Brokers(Network network) throws IOException {
        DockerImageName image = Images.kafka();
        List<String> outside = new ArrayList<>();
        for (int id = 1; id <= COUNT; id++) {
            int node = id;
            int port = freePort();
            outside.add("127.0.0.1:" + port);
            brokers.add(new Part("kafka-" + id, image, network, "Kafka Server started", container -> settings(container, node, port)));
        }
        access = KafkaAccess.of(String.join(",", outside));
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    private static void settings(GenericContainer<?> container, int node, int port) {
        container.withExposedPorts(OUTSIDE)
                .withCreateContainerCmdModifier(create -> Objects.requireNonNullElseGet(create.getHostConfig(), HostConfig::newHostConfig)
                        .withPortBindings(new PortBinding(Ports.Binding.bindIpAndPort("127.0.0.1", port), ExposedPort.tcp(OUTSIDE))))
                .withEnv("KAFKA_HEAP_OPTS", "-Xmx384m -XX:+UseSerialGC -XX:TieredStopAtLevel=1")
                .withEnv("KAFKA_NODE_ID", String.valueOf(node))
                .withEnv("KAFKA_PROCESS_ROLES", "broker,controller")
                .withEnv("KAFKA_CONTROLLER_QUORUM_VOTERS", QUORUM)
                .withEnv("KAFKA_LISTENERS", "OUTSIDE://:" + OUTSIDE + ",INSIDE://:" + INSIDE + ",CONTROLLER://:9093")
                .withEnv("KAFKA_ADVERTISED_LISTENERS", "OUTSIDE://127.0.0.1:" + port + ",INSIDE://kafka-" + node + ":" + INSIDE)
                .withEnv("KAFKA_LISTENER_SECURITY_PROTOCOL_MAP", "OUTSIDE:PLAINTEXT,INSIDE:PLAINTEXT,CONTROLLER:PLAINTEXT")
                .withEnv("KAFKA_INTER_BROKER_LISTENER_NAME", "INSIDE")
                .withEnv("KAFKA_CONTROLLER_LISTENER_NAMES", "CONTROLLER")
                .withEnv("KAFKA_LOG_DIRS", "/var/lib/kafka/data")
                .withEnv("KAFKA_DEFAULT_REPLICATION_FACTOR", "3")
                .withEnv("KAFKA_MIN_INSYNC_REPLICAS", "2")
                .withEnv("KAFKA_OFFSETS_TOPIC_REPLICATION_FACTOR", "3")
                .withEnv("KAFKA_OFFSETS_TOPIC_NUM_PARTITIONS", "6")
                .withEnv("KAFKA_TRANSACTION_STATE_LOG_REPLICATION_FACTOR", "3")
                .withEnv("KAFKA_TRANSACTION_STATE_LOG_MIN_ISR", "2")
                .withEnv("KAFKA_TRANSACTION_STATE_LOG_NUM_PARTITIONS", "6")
                .withEnv("KAFKA_GROUP_INITIAL_REBALANCE_DELAY_MS", "0")
                .withEnv("KAFKA_AUTO_CREATE_TOPICS_ENABLE", "false")
                .withEnv("KAFKA_BROKER_SESSION_TIMEOUT_MS", "6000")
                .withEnv("CLUSTER_ID", "5L6g3nShT-eMCtK--X86sw");
    }

    List<Part> parts() {
        return brokers;
    }

    /** How this process reaches the cluster. */
    KafkaAccess access() {
        return access;
    }

    /** How containers reach the cluster. */
    String insideServers() {
        return INSIDE_SERVERS;
    }

    /** The broker that leads {@code partition}. */
    Part leaderOf(TopicPartition partition) throws InterruptedException, ExecutionException {
        try (Admin admin = Admin.create(access.client(Map.of()))) {
            Node leader = info(admin, partition).leader();
            return brokers.get(leader.id() - 1);
        }
    }

    /** Waits until {@code topic} has all replicas of every partition in sync again. */
    void awaitInSync(String topic) {
        try (Admin admin = Admin.create(access.client(Map.of()))) {
            Until.holds("all replicas of " + topic + " are in sync", () -> {
                try {
                    return admin.describeTopics(List.of(topic)).allTopicNames().get().get(topic).partitions().stream()
                            .allMatch(p -> p.leader() != null && p.isr().size() == COUNT);
                } catch (ExecutionException e) {
                    return false;
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            });
        }
    }

    private static TopicPartitionInfo info(Admin admin, TopicPartition partition) throws InterruptedException, ExecutionException {
        return admin.describeTopics(List.of(partition.topic())).allTopicNames().get().get(partition.topic()).partitions().get(partition.partition());
    }
}
