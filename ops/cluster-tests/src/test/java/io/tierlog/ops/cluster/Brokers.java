/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cluster;

import com.github.dockerjava.api.model.Bind;
import com.github.dockerjava.api.model.ExposedPort;
import com.github.dockerjava.api.model.HostConfig;
import com.github.dockerjava.api.model.PortBinding;
import com.github.dockerjava.api.model.Ports;
import com.github.dockerjava.api.model.Volume;
import io.tierlog.events.KafkaAccess;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.ScramCredentialInfo;
import org.apache.kafka.clients.admin.ScramMechanism;
import org.apache.kafka.clients.admin.UserScramCredentialAlteration;
import org.apache.kafka.clients.admin.UserScramCredentialUpsertion;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.TopicPartitionInfo;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.containers.Network;
import org.testcontainers.images.builder.Transferable;
import org.testcontainers.utility.DockerImageName;

/**
 * Three combined brokers and controllers of Kafka. Every topic has three replicas, of which two must have a record before it is acknowledged.
 *
 * <p>Everything is TLS: brokers show each other certificates, clients show a certificate or a password, and an authorizer denies what no ACL allows.
 *
 * <p>A broker tells its clients its address, so the port at this machine must be known before it starts: it is a free one, chosen just before.
 */
final class Brokers {
    static final int COUNT = 3;
    private static final int OUTSIDE = 9092;
    private static final int BY_PASSWORD = 19092;
    private static final int BY_CERTIFICATE = 19094;
    private static final String SECRETS = "/etc/kafka/secrets/";
    private static final String QUORUM = "1@kafka-1:9093,2@kafka-2:9093,3@kafka-3:9093";

    private static final int SCRAM_ITERATIONS = 4_096;
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private final List<Part> brokers = new ArrayList<>();
    private static final String DATA = "/var/lib/kafka/data";

    private final String outsideServers;
    private final KafkaAccess admin;

    /** Three brokers that are not started yet; {@code disks} has one for each, or is empty: then each has its files in its container. */
    Brokers(Network network, Access access, List<SmallDisk> disks) throws IOException {
        DockerImageName image = Images.kafka();
        List<String> outside = new ArrayList<>();
        byte[] key = access.brokerKey();
        byte[] authority = Files.readAllBytes(access.authority());
        for (int id = 1; id <= COUNT; id++) {
            int node = id;
            int port = freePort();
            outside.add("127.0.0.1:" + port);
            brokers.add(new Part("kafka-" + id, image, network, "Kafka Server started", container -> {
                settings(container, node, port);
                security(container, key, authority, access.tokenKeys());
                disks.stream().skip(node - 1L).findFirst().ifPresent(disk -> container.withCreateContainerCmdModifier(create ->
                        Objects.requireNonNull(create.getHostConfig()).withBinds(new Bind(disk.directory().toString(), new Volume(DATA)))));
            }));
            disks.stream().skip(node - 1L).findFirst().ifPresent(brokers.getLast()::setDisk);
        }
        outsideServers = String.join(",", outside);
        admin = as(access.certificate(Access.ADMIN));
    }

    static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    private static void settings(GenericContainer<?> container, int node, int port) {
        container.withExposedPorts(OUTSIDE, BY_PASSWORD)
                .withCreateContainerCmdModifier(create -> Objects.requireNonNullElseGet(create.getHostConfig(), HostConfig::newHostConfig)
                        .withPortBindings(new PortBinding(Ports.Binding.bindIpAndPort("127.0.0.1", port), ExposedPort.tcp(OUTSIDE)),
                                new PortBinding(Ports.Binding.bindIp("127.0.0.1"), ExposedPort.tcp(BY_PASSWORD))))
                .withEnv("KAFKA_HEAP_OPTS", "-Xmx384m -XX:+UseSerialGC -XX:TieredStopAtLevel=1")
                .withEnv("KAFKA_NODE_ID", String.valueOf(node))
                .withEnv("KAFKA_PROCESS_ROLES", "broker,controller")
                .withEnv("KAFKA_CONTROLLER_QUORUM_VOTERS", QUORUM)
                .withEnv("KAFKA_LISTENERS", "OUTSIDE://:" + OUTSIDE + ",PASSWORD://:" + BY_PASSWORD + ",CERTIFICATE://:" + BY_CERTIFICATE
                        + ",CONTROLLER://:9093")
                .withEnv("KAFKA_ADVERTISED_LISTENERS", "OUTSIDE://127.0.0.1:" + port + ",PASSWORD://kafka-" + node + ":" + BY_PASSWORD
                        + ",CERTIFICATE://kafka-" + node + ":" + BY_CERTIFICATE)
                .withEnv("KAFKA_LISTENER_SECURITY_PROTOCOL_MAP", "OUTSIDE:SSL,PASSWORD:SASL_SSL,CERTIFICATE:SSL,CONTROLLER:SSL")
                .withEnv("KAFKA_INTER_BROKER_LISTENER_NAME", "CERTIFICATE")
                .withEnv("KAFKA_CONTROLLER_LISTENER_NAMES", "CONTROLLER")
                .withEnv("KAFKA_LOG_DIRS", DATA)
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

    private static void security(GenericContainer<?> container, byte[] key, byte[] authority, byte[] tokenKeys) {
        String keysUrl = "file://" + SECRETS + "jwks.json";
        container.withCopyToContainer(Transferable.of(tokenKeys, 0644), SECRETS + "jwks.json")
                .withEnv("KAFKA_OPTS", "-Dorg.apache.kafka.sasl.oauthbearer.allowed.urls=" + keysUrl)
                .withEnv("KAFKA_LISTENER_NAME_PASSWORD_OAUTHBEARER_SASL_JAAS_CONFIG",
                        "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required;")
                .withEnv("KAFKA_LISTENER_NAME_PASSWORD_OAUTHBEARER_SASL_SERVER_CALLBACK_HANDLER_CLASS",
                        "org.apache.kafka.common.security.oauthbearer.OAuthBearerValidatorCallbackHandler")
                .withEnv("KAFKA_LISTENER_NAME_PASSWORD_OAUTHBEARER_SASL_OAUTHBEARER_JWKS_ENDPOINT_URL", keysUrl)
                .withEnv("KAFKA_LISTENER_NAME_PASSWORD_OAUTHBEARER_SASL_OAUTHBEARER_EXPECTED_AUDIENCE", Tokens.AUDIENCE)
                .withEnv("KAFKA_LISTENER_NAME_PASSWORD_OAUTHBEARER_SASL_OAUTHBEARER_EXPECTED_ISSUER", Tokens.ISSUER);
        container.withCopyToContainer(Transferable.of(key, 0644), SECRETS + "broker.pem")
                .withCopyToContainer(Transferable.of(authority, 0644), SECRETS + "ca.pem")
                .withEnv("KAFKA_SSL_KEYSTORE_TYPE", "PEM")
                .withEnv("KAFKA_SSL_KEYSTORE_LOCATION", SECRETS + "broker.pem")
                .withEnv("KAFKA_SSL_TRUSTSTORE_TYPE", "PEM")
                .withEnv("KAFKA_SSL_TRUSTSTORE_LOCATION", SECRETS + "ca.pem")
                .withEnv("KAFKA_SSL_CLIENT_AUTH", "required")
                .withEnv("KAFKA_SSL_PRINCIPAL_MAPPING_RULES", "RULE:^CN=(.*)$/$1/")
                .withEnv("KAFKA_LISTENER_NAME_PASSWORD_SSL_CLIENT_AUTH", "none")
                .withEnv("KAFKA_SASL_ENABLED_MECHANISMS", "SCRAM-SHA-512,OAUTHBEARER")
                .withEnv("KAFKA_LISTENER_NAME_PASSWORD_SCRAM___SHA___512_SASL_JAAS_CONFIG",
                        "org.apache.kafka.common.security.scram.ScramLoginModule required;")
                .withEnv("KAFKA_AUTHORIZER_CLASS_NAME", "org.apache.kafka.metadata.authorizer.StandardAuthorizer")
                .withEnv("KAFKA_ALLOW_EVERYONE_IF_NO_ACL_FOUND", "false")
                .withEnv("KAFKA_SUPER_USERS", "User:" + Access.BROKER + ";User:" + Access.ADMIN)
                .withEnv("KAFKA_LOG4J_LOGGERS", "kafka.authorizer.logger=INFO");
    }

    /** Makes users with the passwords of {@link Access#password(String)}. */
    void makeUsers(List<String> users) throws InterruptedException, ExecutionException {
        List<UserScramCredentialAlteration> all = users.stream().<UserScramCredentialAlteration>map(user -> new UserScramCredentialUpsertion(user,
                new ScramCredentialInfo(ScramMechanism.SCRAM_SHA_512, SCRAM_ITERATIONS), Access.password(user))).toList();
        try (Admin client = Admin.create(admin.client(Map.of()))) {
            client.alterUserScramCredentials(all).all().get();
        }
    }

    /** What the authorizers of all brokers have refused since their first start. */
    List<String> denials() {
        return brokers.stream().flatMap(broker -> broker.denials().stream()).toList();
    }

    List<Part> parts() {
        return brokers;
    }

    /** How this process reaches the cluster with {@code properties}, which show a certificate. */
    KafkaAccess as(Map<String, String> properties) {
        return new KafkaAccess(outsideServers, properties, PATIENCE);
    }

    /** Where clients of this machine show a certificate. */
    String outsideServers() {
        return outsideServers;
    }

    /** The port of this machine where a broker asks for a password; it tells its clients addresses that only containers know. */
    int passwordPort() {
        return brokers.getFirst().port(BY_PASSWORD);
    }

    /** How containers reach the cluster with a password, or with a certificate. */
    static String insideServers(boolean byPassword) {
        int port = byPassword ? BY_PASSWORD : BY_CERTIFICATE;
        return "kafka-1:" + port + ",kafka-2:" + port + ",kafka-3:" + port;
    }

    /** The broker that leads {@code partition}. */
    Part leaderOf(TopicPartition partition) throws InterruptedException, ExecutionException {
        try (Admin client = Admin.create(admin.client(Map.of()))) {
            Node leader = info(client, partition).leader();
            return brokers.get(leader.id() - 1);
        }
    }

    /** The broker that coordinates {@code group}. */
    Part coordinatorOf(String group) throws InterruptedException, ExecutionException {
        try (Admin client = Admin.create(admin.client(Map.of()))) {
            return brokers.get(client.describeConsumerGroups(List.of(group)).all().get().get(group).coordinator().id() - 1);
        }
    }

    /** Waits until {@code topic} has all replicas of every partition in sync again. */
    void awaitInSync(String topic) {
        try (Admin client = Admin.create(admin.client(Map.of()))) {
            Until.holds("all replicas of " + topic + " are in sync", () -> {
                try {
                    return client.describeTopics(List.of(topic)).allTopicNames().get().get(topic).partitions().stream()
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
