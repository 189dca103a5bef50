/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.streams;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.controller.core.policy.Policies;
import io.tierlog.events.KafkaAccess;
import io.tierlog.events.LogReader;
import io.tierlog.events.LogReader.Isolation;
import io.tierlog.events.Partitions;
import io.tierlog.events.sign.KeyNames;
import io.tierlog.events.sign.RecordKeys;
import io.tierlog.events.sign.RecordSigner;
import io.tierlog.events.sign.RecordSigning;
import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.SkipReason;
import io.tierlog.schemas.decision.AgentAccepted;
import io.tierlog.schemas.decision.Fact;
import io.tierlog.schemas.decision.InputSkipped;
import io.tierlog.schemas.decision.PolicyVersioned;
import io.tierlog.schemas.decision.TimeAdvanced;
import io.tierlog.schemas.event.Event;
import io.tierlog.schemas.event.MigrationCancelRequested;
import io.tierlog.schemas.event.PolicyChangeRequested;
import io.tierlog.schemas.event.Tick;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** A controller that requires codes, on a real broker: what each kind of forged record does. */
class ForgedRecordsTest {
    @RegisterExtension
    private static final TestBroker BROKER = new TestBroker();

    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it.
    private Path directory;

    private RecordKeys keys(List<String> lines) throws Exception {
        Path file = Files.createTempFile(directory, "keys", "", PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        return RecordKeys.read(Files.write(file, lines));
    }

    private static KafkaProducer<byte[], byte[]> producer(KafkaAccess access, RecordSigner.Writer writer) {
        return new KafkaProducer<>(access.signed(writer, access.client(Map.of("acks", "all"))), new ByteArraySerializer(), new ByteArraySerializer());
    }

    private static long send(KafkaProducer<byte[], byte[]> producer, TestLog log, Event event) throws Exception {
        String aggregate = event.envelope().aggregate();
        return producer.send(new ProducerRecord<>(log.topics.events(), Partitions.of(aggregate, log.partitions), Partitions.key(aggregate),
                log.codec.encode(log.topics.events(), event))).get().offset();
    }

    private static Envelope from(String sender, String aggregate) {
        return new Envelope(aggregate, sender, 0, 1, 0, 1_000, null, null, null);
    }

    @Test
    void forgedEventsAreSkippedAndForgedDecisionsPassedOver() throws Exception {
        try (TestLog log = new TestLog(BROKER.kafka(), 1)) {
            RecordKeys master = keys(List.of("k1 " + "01".repeat(32)));
            RecordSigning all = new RecordSigning(master, log.topics, RecordSigning.Mode.REQUIRE);
            RecordSigning ofA = new RecordSigning(keys(master.derivedLines(KeyNames.ofNode("a"))), log.topics, RecordSigning.Mode.REQUIRE);
            ControllerConfig config = log.controller(directory.resolve("state")).kafka(log.access.withSigning(all)).tickMs(200).build();
            FakeAgent a = new FakeAgent("a", "p");
            try (LogReader<Fact> reader = log.reader(log.topics.decisions(), Fact.class, Isolation.COMMITTED);
                    KafkaProducer<byte[], byte[]> agent = producer(log.access.withSigning(ofA), RecordSigner.Writer.of(KeyNames.agent("a")));
                    KafkaProducer<byte[], byte[]> plain = producer(log.access, RecordSigner.Writer.CONTROLLER)) {
                Decisions decisions = new Decisions(reader);
                try (ControllerApp app = ControllerApp.start(config)) {
                    assertTrue(app.awaitRunning(TestLog.PATIENCE));
                    Set<Long> forged = new HashSet<>();
                    // Right code of another node, and records of the clock, of policy and of an operator by one who has no keys or those of a node.
                    forged.add(send(agent, log, new FakeAgent("b", "p").registering()));
                    forged.add(send(plain, log, new FakeAgent("c", "p").registering()));
                    forged.add(send(plain, log, new Tick(from("clock/0/x", "clock/0"), Long.MAX_VALUE / 2, 1)));
                    forged.add(send(agent, log, new PolicyChangeRequested(from("operator/x/1", "policy"), 0,
                            Policies.INITIAL)));
                    forged.add(send(plain, log, new MigrationCancelRequested(from("operator/x/2", "node/a"))));
                    send(agent, log, a.registering());
                    TestLog.await("the agent and a tick", () -> !decisions.of(AgentAccepted.class).isEmpty()
                            && !decisions.of(TimeAdvanced.class).isEmpty() && decisions.of(InputSkipped.class).size() == forged.size());
                    assertEquals(forged, new HashSet<>(decisions.of(InputSkipped.class).stream().map(InputSkipped::offset).toList()));
                    assertTrue(decisions.of(InputSkipped.class).stream().allMatch(skip -> skip.reason() == SkipReason.FORGED));
                    assertEquals(List.of("node/a"),
                            decisions.of(AgentAccepted.class).stream().map(one -> one.envelope().aggregate()).toList());
                    assertEquals(List.of(), decisions.of(PolicyVersioned.class));
                    assertTrue(decisions.of(TimeAdvanced.class).stream().allMatch(one -> one.envelope().timeMs() < Long.MAX_VALUE / 4));
                }
                // A decision that no controller wrote, at the end: the next start passes it over and goes on.
                Fact copied = decisions.of(AgentAccepted.class).getFirst();
                log.append(log.topics.decisions(), copied);
                int before = decisions.of(TimeAdvanced.class).size();
                try (ControllerApp app = ControllerApp.start(config)) {
                    assertTrue(app.awaitRunning(TestLog.PATIENCE));
                    TestLog.await("ticks again", () -> decisions.of(TimeAdvanced.class).size() > before);
                }
                allSigned(log, all, copied);
            }
        }
    }

    /** A file of another log under the same id would put every honest event aside; one that has a further id in front is a rotation. */
    @Test
    void aControllerWithOtherKeysThanItsLogStops() throws Exception {
        try (TestLog log = new TestLog(BROKER.kafka(), 1);
                LogReader<Fact> reader = log.reader(log.topics.decisions(), Fact.class, Isolation.COMMITTED)) {
            Decisions decisions = new Decisions(reader);
            decideTicks(log, decisions, "k1 " + "01".repeat(32));
            int before = decisions.of(TimeAdvanced.class).size();
            RecordSigning other = new RecordSigning(keys(List.of("k1 " + "02".repeat(32))), log.topics, RecordSigning.Mode.REQUIRE);
            try (ControllerApp app = ControllerApp.start(log.controller(directory.resolve("state")).kafka(log.access.withSigning(other))
                    .tickMs(200).build())) {
                Throwable end = app.ended().get(60, TimeUnit.SECONDS).orElseThrow();
                assertTrue(String.valueOf(assertInstanceOf(ControllerException.OtherKeys.class, end).getMessage()).contains("--record-keys"));
            }
            assertEquals(before, decisions.of(TimeAdvanced.class).size());
            decideTicks(log, decisions, "k2 " + "02".repeat(32), "k1 " + "01".repeat(32));
        }
    }

    private void decideTicks(TestLog log, Decisions decisions, String... lines) throws Exception {
        RecordSigning signing = new RecordSigning(keys(List.of(lines)), log.topics, RecordSigning.Mode.REQUIRE);
        int before = decisions.of(TimeAdvanced.class).size();
        try (ControllerApp app = ControllerApp.start(log.controller(directory.resolve("state")).kafka(log.access.withSigning(signing)).tickMs(200)
                .build())) {
            assertTrue(app.awaitRunning(TestLog.PATIENCE));
            TestLog.await("ticks", () -> decisions.of(TimeAdvanced.class).size() > before);
        }
    }

    /** Everything that the controller wrote has a right code, but not the copy of a decision that came without one. */
    private static void allSigned(TestLog log, RecordSigning all, Fact copied) {
        byte[] forged = log.codec.encode(log.topics.decisions(), copied);
        int wrong = 0;
        int read = 0;
        try (KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(log.access.client(Map.of("isolation.level", "read_committed")),
                new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            for (String topic : List.of(log.topics.decisions(), log.topics.placements())) {
                TopicPartition place = new TopicPartition(topic, 0);
                consumer.assign(List.of(place));
                consumer.seekToBeginning(List.of(place));
                long end = consumer.endOffsets(List.of(place)).getOrDefault(place, 0L);
                while (consumer.position(place) < end) {
                    for (ConsumerRecord<byte[], byte[]> record : consumer.poll(Duration.ofMillis(100))) {
                        read++;
                        String why = all.check(topic, 0, record.key(), record.value(), record.headers());
                        if (Arrays.equals(record.value(), forged) && record.headers().lastHeader("tierlog.mac") == null) {
                            assertTrue(String.valueOf(why).contains("no code"), why);
                            wrong++;
                        } else {
                            assertNull(why);
                        }
                    }
                }
            }
        }
        assertEquals(1, wrong);
        assertTrue(read > 5, "records of both topics: " + read);
    }
}
