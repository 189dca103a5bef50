/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.events;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.events.LogReader.Isolation;
import io.tierlog.events.LogSetupException.BrokerUnreachable;
import io.tierlog.events.LogSetupException.PartitionsDiffer;
import io.tierlog.events.LogSetupException.Refused;
import io.tierlog.events.LogSetupException.TopicsMissing;
import io.tierlog.events.topic.Topics;
import io.tierlog.ops.kafka.EmbeddedKafka;
import io.tierlog.ops.kafka.EmbeddedKafkaConfig;
import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.event.Event;
import io.tierlog.schemas.event.Tick;
import java.io.IOException;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewPartitions;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Topics and reading on a real broker. */
class TopicAdminTest {
    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it.
    private static Path directory;

    @SuppressWarnings("NullAway.Init") // JUnit calls start() first.
    private static EmbeddedKafka broker;

    @BeforeAll
    static void start() {
        broker = EmbeddedKafka.start(EmbeddedKafkaConfig.of(directory.resolve("kafka")));
    }

    @AfterAll
    static void stop() {
        broker.close();
    }

    @Test
    void makesTheTopicsOnceAndAsDesigned() throws Exception {
        Topics topics = new Topics("once");
        try (TopicAdmin admin = new TopicAdmin(access())) {
            assertEquals(7, admin.create(topics, 3, 1).made().size());
            assertEquals(List.of(), admin.create(topics, 3, 1).made());
            assertEquals(3, admin.check(topics));
            admin.checkHeads(topics);
        }
        assertEquals("-1", setting(topics.events(), "retention.ms"));
        assertEquals("-1", setting(topics.decisions(), "retention.ms"));
        assertEquals(String.valueOf(TimeUnit.DAYS.toMillis(1)), setting(topics.commands(), "retention.ms"));
        assertEquals(String.valueOf(TimeUnit.DAYS.toMillis(1)), setting(topics.messages(), "retention.ms"));
        assertEquals("compact", setting(topics.placements(), "cleanup.policy"));
        assertEquals("delete", setting(topics.deadLetters(), "cleanup.policy"));
    }

    @Test
    void theTopicThatDiffersFromTheOthersIsNamed() throws Exception {
        for (String odd : List.of("events", "commands")) {
            Topics topics = new Topics("odd-" + odd);
            String wrong = topics.prefix() + "." + odd;
            try (TopicAdmin admin = new TopicAdmin(access());
                    Admin kafka = Admin.create(access().client(Map.of()))) {
                kafka.createTopics(List.of(new NewTopic(wrong, 5, (short) 1))).all().get();
                for (Topics.Spec spec : topics.specs()) {
                    if (!spec.name().equals(wrong)) {
                        kafka.createTopics(List.of(new NewTopic(spec.name(), 3, (short) 1))).all().get();
                    }
                }
                long deadlineNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
                String message = "";
                while (!message.contains(wrong + " has 5 partitions, and the other topics of the log have 3")) {
                    assertTrue(System.nanoTime() < deadlineNs, message); // a new topic is not seen at once
                    message = String.valueOf(assertThrows(LogSetupException.class, () -> admin.check(topics)).getMessage());
                }
            }
        }
    }

    /** It runs as before, and gets the topic when an operator asks for it. */
    @Test
    void aLogThatWasMadeBeforeThereWereHeadsIsWhole() throws Exception {
        Topics topics = new Topics("old");
        try (TopicAdmin admin = new TopicAdmin(access());
                Admin kafka = Admin.create(access().client(Map.of()))) {
            kafka.createTopics(topics.specs().stream().filter(Topics.Spec::ofEachLog).map(spec -> new NewTopic(spec.name(), 2, (short) 1)).toList())
                    .all().get(30, TimeUnit.SECONDS);
            long seenNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
            while (admin.allowed(topics).size() < 6) {
                assertTrue(System.nanoTime() < seenNs); // a new topic is not seen at once
            }
            assertEquals(2, admin.check(topics));
            TopicsMissing missing = assertThrows(TopicsMissing.class, () -> admin.checkHeads(topics));
            assertTrue(String.valueOf(missing.getMessage()).contains("old.heads"), missing.getMessage());
            assertEquals(List.of(topics.heads()), admin.create(topics, 2, 1).made());
            kafka.createPartitions(Map.of(topics.heads(), NewPartitions.increaseTo(2))).all().get(30, TimeUnit.SECONDS);
            assertThrows(PartitionsDiffer.class, () -> {
                long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
                while (System.nanoTime() < deadline) { // the broker learns of it a little later
                    admin.checkHeads(topics);
                }
            });
        }
    }

    @Test
    void refusesAnotherNumberOfPartitions() {
        Topics topics = new Topics("two");
        try (TopicAdmin admin = new TopicAdmin(access())) {
            admin.create(topics, 2, 1);
            PartitionsDiffer e = assertThrows(PartitionsDiffer.class, () -> admin.create(topics, 4, 1));
            assertTrue(String.valueOf(e.getMessage()).contains("has 2 partitions, not 4"), e.getMessage());
        }
    }

    @Test
    void refusesALogWhoseTopicsDoNotFitTogether() throws Exception {
        Topics topics = new Topics("torn");
        try (TopicAdmin admin = new TopicAdmin(access());
                Admin raw = Admin.create(Map.of("bootstrap.servers", broker.bootstrapServers()))) {
            admin.create(topics, 2, 1);
            raw.createPartitions(Map.of(topics.commands(), NewPartitions.increaseTo(3))).all().get(30, TimeUnit.SECONDS);
            // The broker learns of it a little later.
            long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
            while (fits(admin, topics)) {
                assertTrue(System.nanoTime() < deadline, "the third partition of one topic was not noticed");
            }
        }
    }

    @Test
    void theMessageNamesTheMissingTopicsAndTheRemedy() {
        try (TopicAdmin admin = new TopicAdmin(access())) {
            TopicsMissing e = assertThrows(TopicsMissing.class, () -> admin.check(new Topics("nowhere")));
            assertTrue(String.valueOf(e.getMessage()).contains("nowhere.events"), e.getMessage());
            assertTrue(String.valueOf(e.getMessage()).contains("topics create"), e.getMessage());
        }
    }

    @Test
    void moreReplicasThanBrokersAreRefusedInTheClustersWords() {
        try (TopicAdmin admin = new TopicAdmin(access())) {
            assertThrows(Refused.class, () -> admin.create(new Topics("wide"), 1, 3));
        }
    }

    @Test
    void aMissingBrokerIsReportedInTime() throws IOException {
        int unusedPort;
        try (ServerSocket socket = new ServerSocket(0)) {
            unusedPort = socket.getLocalPort();
        }
        KafkaAccess access = new KafkaAccess("127.0.0.1:" + unusedPort, Map.of(), Duration.ofMillis(700));
        long start = System.nanoTime();
        BrokerUnreachable e = assertThrows(BrokerUnreachable.class, () -> new TopicAdmin(access).close());
        assertTrue(System.nanoTime() - start < TimeUnit.SECONDS.toNanos(10), "took too long");
        assertTrue(String.valueOf(e.getMessage()).contains("127.0.0.1:" + unusedPort), e.getMessage());
    }

    @Test
    void readsToTheEndAndOnFromThere() throws Exception {
        Topics topics = new Topics("read");
        Codec codec = new Codec(Schemas.bundled());
        try (TopicAdmin admin = new TopicAdmin(access())) {
            admin.create(topics, 2, 1);
        }
        try (Producer<byte[], byte[]> producer = new KafkaProducer<>(
                        access().client(Map.of()), new ByteArraySerializer(), new ByteArraySerializer());
                LogReader<Event> reader =
                        new LogReader<>(access(), codec, new LogReader.Source<>(topics.events(), Event.class, Isolation.COMMITTED))) {
            List<Reading<Event>> read = new ArrayList<>();
            assertEquals(0, reader.readToEnd(entry -> read.add(entry.reading())));
            Tick tick = new Tick(new Envelope("clock/1", "clock/1", 0, 1, 0, 5, null, null, null), 5);
            for (int i = 0; i < 3; i++) {
                producer.send(new ProducerRecord<>(topics.events(), 1, Partitions.key("clock/1"), codec.encode(topics.events(), tick)))
                        .get(30, TimeUnit.SECONDS);
            }
            producer.send(new ProducerRecord<>(topics.events(), 0, new byte[] {1}, new byte[] {9})).get(30, TimeUnit.SECONDS);
            assertEquals(4, reader.readToEnd(entry -> read.add(entry.reading())));
            assertEquals(0, reader.readToEnd(entry -> read.add(entry.reading())));
            assertEquals(3, read.stream().filter(r -> r.equals(new Reading.Decoded<Event>(tick))).count());
            assertEquals(Map.of(0, 1L, 1, 3L), reader.positions());
            reader.seek(1, 2);
            assertEquals(1, reader.readToEnd(entry -> assertEquals(2, entry.offset())));
        }
    }

    private static boolean fits(TopicAdmin admin, Topics topics) {
        try {
            return admin.check(topics) == 2;
        } catch (PartitionsDiffer expected) {
            return false;
        }
    }

    private static KafkaAccess access() {
        return KafkaAccess.of(broker.bootstrapServers());
    }

    private static String setting(String topic, String name) throws Exception {
        try (Admin raw = Admin.create(Map.of("bootstrap.servers", broker.bootstrapServers()))) {
            ConfigResource resource = new ConfigResource(ConfigResource.Type.TOPIC, topic);
            return raw.describeConfigs(List.of(resource)).all().get(30, TimeUnit.SECONDS).values().iterator().next().get(name).value();
        }
    }
}
