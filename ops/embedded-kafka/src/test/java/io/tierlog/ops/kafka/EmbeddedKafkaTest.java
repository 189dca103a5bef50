/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.kafka;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.ops.kafka.EmbeddedKafkaException.PortInUse;
import io.tierlog.ops.kafka.EmbeddedKafkaException.StartFailed;
import io.tierlog.ops.kafka.EmbeddedKafkaException.UnusableData;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a user of the embedded broker may rely on, shown with ordinary clients. */
class EmbeddedKafkaTest {
    @TempDir
    Path directory;

    @Test
    void whatIsProducedIsConsumed() throws Exception {
        try (EmbeddedKafka kafka = EmbeddedKafka.start(EmbeddedKafkaConfig.of(directory))) {
            Clients clients = new Clients(kafka.bootstrapServers());
            clients.createTopic("t");
            clients.send("t", "a", "b");

            assertEquals(List.of("a", "b"), clients.read("t", "group", 2));
            assertFalse(kafka.fatalFault().toCompletableFuture().isDone());
        }
    }

    @Test
    void anAbortedTransactionIsNotReadAndTheProtocolIsTheSecond() throws Exception {
        try (EmbeddedKafka kafka = EmbeddedKafka.start(EmbeddedKafkaConfig.of(directory))) {
            Clients clients = new Clients(kafka.bootstrapServers());
            clients.createTopic("t");
            try (Producer<String, String> producer = clients.producer(Map.of("transactional.id", "tx"))) {
                producer.initTransactions();
                producer.beginTransaction();
                producer.send(new ProducerRecord<>("t", "aborted")).get(30, TimeUnit.SECONDS);
                producer.abortTransaction();
                producer.beginTransaction();
                producer.send(new ProducerRecord<>("t", "committed")).get(30, TimeUnit.SECONDS);
                producer.commitTransaction();
            }

            assertEquals(List.of("committed"), clients.read("t", "group", 1));
            try (Admin admin = clients.admin()) {
                var features = admin.describeFeatures().featureMetadata().get(30, TimeUnit.SECONDS).finalizedFeatures();
                assertEquals(2, Objects.requireNonNull(features.get("transaction.version")).maxVersionLevel());
            }
        }
    }

    @Test
    void aRestartOnTheSamePortKeepsTheLogAndTheGroups() throws Exception {
        int port;
        try (EmbeddedKafka kafka = EmbeddedKafka.start(EmbeddedKafkaConfig.of(directory))) {
            port = kafka.port();
            Clients clients = new Clients(kafka.bootstrapServers());
            clients.createTopic("t");
            clients.send("t", "before");
            assertEquals(List.of("before"), clients.read("t", "group", 1));
        }
        try (EmbeddedKafka kafka = EmbeddedKafka.start(EmbeddedKafkaConfig.of(directory).withPort(port))) {
            Clients clients = new Clients(kafka.bootstrapServers());
            clients.send("t", "after");

            assertEquals(port, kafka.port());
            assertEquals(List.of("after"), clients.read("t", "group", 1));
            assertEquals(List.of("before", "after"), clients.read("t", "another group", 2));
        }
    }

    @Test
    void aPortInUseIsNamedAndNothingOfTheSecondBrokerStays() throws Exception {
        try (ServerSocket other = new ServerSocket(0, 1, InetAddress.ofLiteral(EmbeddedKafkaConfig.DEFAULT_HOST))) {
            int port = other.getLocalPort();
            EmbeddedKafkaConfig config = EmbeddedKafkaConfig.of(directory).withPort(port);

            PortInUse refused = assertThrows(PortInUse.class, () -> EmbeddedKafka.start(config).close());

            assertEquals(port, refused.port());
            assertTrue(refused.getMessage().contains("port " + port + " on 127.0.0.1"), refused.getMessage());
            assertTrue(refused.hint().contains("choose another port"), refused.hint());
            try (var files = Files.list(directory)) {
                assertEquals(0, files.count());
            }
        }
    }

    @Test
    void aDirectoryBelongsToOneBrokerAtATime() {
        EmbeddedKafkaConfig config = EmbeddedKafkaConfig.of(directory);
        try (EmbeddedKafka kafka = EmbeddedKafka.start(config)) {
            UnusableData refused = assertThrows(UnusableData.class, () -> EmbeddedKafka.start(config).close());

            assertTrue(refused.getMessage().contains("another broker uses it now"), refused.getMessage());
            assertFalse(kafka.fatalFault().toCompletableFuture().isDone());
        }
    }

    @Test
    void aForeignDirectoryIsLeftAlone() throws Exception {
        Path foreign = Files.writeString(directory.resolve("meta.properties"), "version=1\ncluster.id=other\n");

        UnusableData refused = assertThrows(
                UnusableData.class, () -> EmbeddedKafka.start(EmbeddedKafkaConfig.of(directory)).close());

        assertTrue(refused.getMessage().contains("formatted by another Kafka"), refused.getMessage());
        try (var files = Files.list(directory)) {
            assertEquals(List.of(foreign), files.toList());
        }
    }

    @Test
    void aDirectoryOfALaterFormatIsRefused() throws Exception {
        Files.writeString(directory.resolve("tierlog-broker"), "format=2\n");

        UnusableData refused = assertThrows(
                UnusableData.class, () -> EmbeddedKafka.start(EmbeddedKafkaConfig.of(directory)).close());

        assertTrue(refused.getMessage().contains("format=2"), refused.getMessage());
    }

    @Test
    void closingIsQuickAndLeavesNoThread() throws Exception {
        Set<Thread> before = threads();
        EmbeddedKafka kafka = EmbeddedKafka.start(EmbeddedKafkaConfig.of(directory));
        Clients clients = new Clients(kafka.bootstrapServers());
        clients.createTopic("t");
        clients.send("t", "a");

        long start = System.nanoTime();
        kafka.close();
        kafka.close();
        Duration took = Duration.ofNanos(System.nanoTime() - start);

        assertTrue(took.compareTo(Duration.ofSeconds(5)) < 0, "took " + took);
        assertEquals(Set.of(), threadsBeyond(before));
    }

    /** The cleaner's buffer is checked late: the controller runs by then and the broker is half way up. */
    @Test
    void aStartThatFailsHalfWayGivesEverythingBack() throws Exception {
        Set<Thread> before = threads();
        EmbeddedKafkaConfig config = EmbeddedKafkaConfig.of(directory);

        StartFailed refused = assertThrows(
                StartFailed.class,
                () -> EmbeddedKafka.start(config.withProperty("log.cleaner.dedupe.buffer.size", "1")).close());

        assertTrue(refused.getMessage().contains("log.cleaner.dedupe.buffer.size"), refused.getMessage());
        assertEquals(Set.of(), threadsBeyond(before));
        EmbeddedKafka.start(config).close();
    }

    @Test
    void whatTheConfigurationDecidesIsNotAProperty() {
        EmbeddedKafkaConfig config = EmbeddedKafkaConfig.of(directory);

        assertThrows(IllegalArgumentException.class, () -> config.withProperty("log.dirs", "elsewhere"));
        assertThrows(IllegalArgumentException.class, () -> config.withPort(65_536));
    }

    /** Waits for threads on their way out; the meter thread belongs to a registry that all brokers of a JVM share. */
    private static Set<String> threadsBeyond(Set<Thread> before) throws InterruptedException {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(5);
        Predicate<Thread> isNew = thread -> !before.contains(thread) && !thread.getName().startsWith("metrics-meter-tick-thread");
        for (Thread thread : threads().stream().filter(isNew).toList()) {
            thread.join(Duration.ofNanos(Math.max(1, deadline - System.nanoTime())));
        }
        return threads().stream().filter(isNew).map(Thread::getName).collect(Collectors.toSet());
    }

    private static Set<Thread> threads() {
        return Set.copyOf(Thread.getAllStackTraces().keySet());
    }
}
