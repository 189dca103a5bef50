/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench.control;

import io.tierlog.events.Codec;
import io.tierlog.events.KafkaAccess;
import io.tierlog.events.LogSetupException;
import io.tierlog.events.Schemas;
import io.tierlog.events.TopicAdmin;
import io.tierlog.events.sign.RecordKeys;
import io.tierlog.events.sign.RecordSigning;
import io.tierlog.events.topic.Topics;
import io.tierlog.ops.bench.broker.BrokerProcess;
import io.tierlog.ops.bench.broker.TemporaryDirectory;
import io.tierlog.ops.bench.report.BenchException;
import io.tierlog.ops.bench.report.Cleanup;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.common.errors.TopicExistsException;

/**
 * The cluster of a benchmark, and what all its parts share. Everything that it creates begins with the name of the run, and is removed at the end:
 * with the broker's process and the directory, or topic by topic on a cluster of the user. Safe for use by several threads.
 */
final class Environment implements AutoCloseable {
    private static final Duration REACH = Duration.ofSeconds(5);

    private final ControlBenchConfig config;
    private final TemporaryDirectory directory;
    private final Optional<BrokerProcess> broker;
    private final Cleanup cleanup;
    private final String run = "tierlog-bench-" + HexFormat.of().toHexDigits(ThreadLocalRandom.current().nextInt());
    private final Codec codec = new Codec(Schemas.bundled());
    private final List<String> nodes;
    private final Workload workload;
    private final KafkaAccess access;
    private final Admin admin;
    private final Outbox outbox;

    private Environment(ControlBenchConfig config, TemporaryDirectory directory, Optional<BrokerProcess> broker) {
        this.config = config;
        this.directory = directory;
        this.broker = broker;
        this.nodes = Workload.nodes(config.shape().nodes(), config.shape().partitions());
        this.workload = new Workload(config.shape().blocks());
        this.access = KafkaAccess.of(broker.map(BrokerProcess::bootstrapServers).or(config::bootstrapServers).orElseThrow());
        this.admin = Admin.create(access.client(Map.of()));
        this.outbox = new Outbox(access, codec);
        this.cleanup = Cleanup.of(this::abandon);
    }

    /** @throws BenchException when there is no cluster */
    static Environment open(ControlBenchConfig config) throws InterruptedException {
        TemporaryDirectory directory = TemporaryDirectory.create();
        Optional<BrokerProcess> broker = Optional.empty();
        try {
            if (config.bootstrapServers().isEmpty()) {
                broker = Optional.of(BrokerProcess.start(directory.path()));
            } else {
                reach(config.bootstrapServers().get());
            }
            return new Environment(config, directory, broker);
        } catch (RuntimeException | InterruptedException failure) {
            broker.ifPresent(BrokerProcess::close);
            directory.close();
            throw failure;
        }
    }

    /** Called first: clients only log their failures, for a long time. */
    private static void reach(String bootstrapServers) {
        try {
            new TopicAdmin(new KafkaAccess(bootstrapServers, Map.of(), REACH)).close();
        } catch (LogSetupException absent) {
            throw BenchException.badInput(
                            String.valueOf(absent.getMessage()), "leave --bootstrap-servers out to start a broker for the benchmark")
                    .causedBy(absent);
        }
    }

    ControlBenchConfig config() {
        return config;
    }

    KafkaAccess access() {
        return access;
    }

    Codec codec() {
        return codec;
    }

    Admin admin() {
        return admin;
    }

    Outbox outbox() {
        return outbox;
    }

    /** Codes on the records of a log, under a master key of this run. */
    RecordSigning signing(Topics topics) {
        Path file = directory("record-keys");
        try {
            if (!Files.exists(file)) {
                Files.createFile(file, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
                byte[] key = new byte[RecordKeys.KEY_BYTES];
                new SecureRandom().nextBytes(key);
                Files.writeString(file, "bench " + HexFormat.of().formatHex(key) + "\n");
            }
        } catch (IOException e) {
            throw new UncheckedIOException("the record keys cannot be written", e);
        }
        return new RecordSigning(RecordKeys.read(file), topics, RecordSigning.Mode.REQUIRE);
    }

    List<String> nodes() {
        return nodes;
    }

    Workload workload() {
        return workload;
    }

    /** Processor time of the broker's process so far, in nanoseconds; 0 for a cluster of the user. */
    long brokerCpuNanos() {
        return broker.map(BrokerProcess::cpuNanos).orElse(0L);
    }

    /** A name of this run: for topics, applications and groups. */
    String named(String name) {
        return run + "." + name;
    }

    /** A directory of this run. */
    Path directory(String name) {
        return directory.resolve(name);
    }

    /** Creates a topic with the partitions of the run, and waits until it can be written to. */
    String topic(String name) {
        return topic(name, config.shape().partitions());
    }

    /** The same with another number of partitions. */
    String topic(String name, int partitions) {
        String topic = named(name);
        NewTopic wanted = new NewTopic(topic, Optional.of(partitions), Optional.empty());
        try {
            admin.createTopics(List.of(wanted)).all().get();
        } catch (ExecutionException failure) {
            if (!(failure.getCause() instanceof TopicExistsException)) {
                throw BenchException.failed("cannot create the topic " + topic + ": " + failure.getCause(), "look at the broker")
                        .causedBy(failure);
            }
        } catch (InterruptedException interrupted) {
            throw interrupted(interrupted);
        }
        outbox.prepare(topic);
        return topic;
    }

    /** Creates the topics of a log. */
    Topics log(String name, int partitions) {
        Topics topics = new Topics(named(name));
        try (TopicAdmin topicAdmin = new TopicAdmin(access)) {
            topicAdmin.create(topics, partitions, 1);
        }
        outbox.prepare(topics.events());
        return topics;
    }

    /** The exception for an interrupt during the benchmark; the thread stays interrupted. */
    static BenchException interrupted(InterruptedException interrupted) {
        Thread.currentThread().interrupt();
        return BenchException.failed("the benchmark was interrupted", "run it again").causedBy(interrupted);
    }

    @Override
    public void close() {
        if (!cleanup.signalled()) {
            outbox.close();
            abandon();
        }
    }

    /** After a signal: without the parts, whose threads may wait for anything. */
    private void abandon() {
        if (broker.isEmpty()) {
            removeTopics();
        }
        admin.close(Duration.ofSeconds(1));
        broker.ifPresent(BrokerProcess::close);
        directory.close();
    }

    private void removeTopics() {
        try {
            List<String> topics = mine(admin.listTopics().names().get());
            admin.deleteTopics(topics).all().get();
            List<String> groups = mine(admin.listGroups().all().get().stream().map(group -> group.groupId()).toList());
            admin.deleteConsumerGroups(groups).all().get();
        } catch (ExecutionException failure) {
            throw BenchException.failed("topics of the benchmark stay on the cluster: " + failure.getCause(), "delete " + run + ".*")
                    .causedBy(failure);
        } catch (InterruptedException interrupted) {
            throw interrupted(interrupted);
        }
    }

    private List<String> mine(Collection<String> names) {
        List<String> mine = new ArrayList<>(names);
        mine.removeIf(name -> !name.startsWith(run + "."));
        return mine;
    }
}
