/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.audit.heads;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.events.KafkaAccess;
import io.tierlog.events.LogSetupException;
import io.tierlog.events.TopicAdmin;
import io.tierlog.ops.audit.AuditException;
import io.tierlog.ops.audit.ClusterLog;
import io.tierlog.ops.audit.DirectoryLog;
import io.tierlog.ops.audit.LogSource;
import io.tierlog.ops.kafka.EmbeddedKafka;
import io.tierlog.ops.kafka.EmbeddedKafkaConfig;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Logs of a real broker whose heads are signed, and what a check says when they are changed: on the cluster, or in a copy of its files, as one who
 * can write there would change them. Tests that write to the cluster have topics of their own.
 */
@SuppressWarnings("NullAway.Init") // JUnit sets the fields.
class SignedHeadsTest {
    private static final int HEAD = 0;
    private static final long NANOS = TimeUnit.SECONDS.toNanos(1);

    @TempDir
    private static Path data;

    @TempDir
    private Path root;

    private static EmbeddedKafka broker;
    private static KafkaAccess access;
    private static LogSource cluster;

    @TempDir
    private static Path sharedKeys;

    private static SignedLog shared;

    /** That of all tests, which must not write to it. */
    private SignedLog log = shared;

    @BeforeAll
    static void start() throws Exception {
        broker = EmbeddedKafka.start(EmbeddedKafkaConfig.of(data).withPort(0));
        access = KafkaAccess.of(broker.bootstrapServers());
        cluster = new ClusterLog(access);
        shared = signed("shared", sharedKeys);
    }

    @AfterAll
    static void stop() {
        cluster.close();
        broker.close();
    }

    /**
     * Three heads. Offsets of decisions-1: 0 d1, 1 d2, 2 commit | 3 aborted, 4 abort, 5 d3, 6 commit | 7 d4, 8 commit; of events-0: 0 to 2 | 3.
     */
    private static SignedLog signed(String prefix, Path keys) throws Exception {
        SignedLog log = new SignedLog(access, prefix, keys);
        log.events(0, "event-1", "event-2", "event-3");
        log.decisions(1, true, "d1", "d2");
        assertEquals(1, log.sign().number());
        log.decisions(1, false, "aborted");
        log.decisions(1, true, "d3");
        assertEquals(2, log.sign().number());
        log.events(0, "event-4");
        log.decisions(1, true, "d4");
        assertEquals(3, log.sign().number());
        return log;
    }

    private DirectoryLog files(Path copy) {
        return new DirectoryLog(copy);
    }

    private Path copy() throws Exception {
        return log.copy(data, root.resolve("copy"));
    }

    private void assertFound(List<String> findings, HeadReport report) {
        assertEquals(findings.stream().map(one -> "HEADS " + log.topics.prefix() + "." + one).toList(), SignedLog.found(report));
        assertEquals(findings.size(), report.found());
    }

    /** By three signers one after the other, with an aborted transaction. */
    @Test
    void anHonestLogIsAsSigned() throws Exception {
        for (LogSource source : List.of(cluster, files(copy()))) {
            HeadReport report = log.check(source);
            assertFound(List.of(), report);
            // Stretches that are not empty: events-0 in heads 1 and 3, decisions-1 in all.
            assertEquals(List.of(3L, 8L, 5L, 0L, 0L, 0L), List.of(report.heads(), report.records(), report.stretches(), report.unchecked(),
                    report.before(), report.after()));
            assertEquals(3, report.last().orElseThrow().number());
        }
    }

    @Test
    void whatIsNotSignedYetIsCounted() throws Exception {
        log = signed("whatIsNotSignedYetIsCounted", root);
        log.events(1, "later", "still later");
        HeadReport report = log.check(cluster);
        assertFound(List.of(), report);
        assertEquals(2, report.after());
        assertTrue(report.afterMs() >= 0 && report.afterMs() < 60_000, report.toString());
        assertEquals(4, log.sign().number());
        assertEquals(0, log.check(cluster).after());
    }

    @Test
    void nothingNewIsNotSigned() throws Exception {
        assertEquals(3, log.sign().number());
        assertEquals(3, log.check(cluster).heads());
    }

    @Test
    void anEndThatWasCutOffIsNamed() throws Exception {
        Path copy = copy();
        SegmentEdit.cut(copy, log.topics.decisions(), 1, 7);
        assertFound(List.of("decisions-1@7: partition 1 of " + log.topics.decisions() + " ends at offset 7, and head 3 of TIME has it up to offset 9:"
                + " the end was cut off or lost"), log.check(files(copy)));
    }

    /** Its CRC is right, and no other record follows it. */
    @Test
    void aLastRecordThatWasAlteredIsNamed() throws Exception {
        Path copy = copy();
        SegmentEdit.alter(copy, log.topics.events(), 0, "event-4", "event-5");
        assertFound(List.of("events-0@3: records 3 to 3 are not those of head 3 of TIME: of 1 at least one was altered"), log.check(files(copy)));
    }

    @Test
    void aCodeThatWasAlteredIsNamed() throws Exception {
        Path copy = copy();
        SegmentEdit.alter(copy, log.topics.decisions(), 1, "code of d3", "code of d0");
        assertFound(List.of("decisions-1@3: records 3 to 6 are not those of head 2 of TIME: of 1 at least one was altered"), log.check(files(copy)));
    }

    @Test
    void aRecordThatWasRemovedIsNamed() throws Exception {
        Path copy = copy();
        SegmentEdit.remove(copy, log.topics.events(), 0, 1);
        assertFound(List.of("events-0@0: records 0 to 2 are not those of head 1 of TIME: it has 3 of them, and there are 2"), log.check(files(copy)));
    }

    /** It is not signed, signed for something else, or the copy of an old head: named, and the heads of the signer go on as before. */
    @Test
    void headsOfOthersAreNamedAndDoNoHarm() throws Exception {
        log = signed("headsOfOthersAreNamedAndDoNoHarm", root);
        ConsumerRecord<byte[], byte[]> first = heads().getFirst();
        try (KafkaProducer<byte[], byte[]> producer = log.producer(Map.of())) {
            producer.send(new ProducerRecord<>(log.topics.heads(), HEAD, null, first.value())).get(60, TimeUnit.SECONDS);
            byte[] changed = first.value().clone();
            changed[changed.length - 1] ^= 1;
            producer.send(new ProducerRecord<>(log.topics.heads(), HEAD, new byte[0], changed, first.headers())).get(60, TimeUnit.SECONDS);
            producer.send(new ProducerRecord<>(log.topics.heads(), HEAD, new byte[0], first.value(), first.headers())).get(60, TimeUnit.SECONDS);
        }
        log.events(0, "event-5");
        assertEquals(4, log.sign().number());
        String id = log.key().id();
        HeadReport report = log.check(cluster);
        assertFound(List.of(
                "heads-0@6: the record at offset 6 is not a head of this log: it has no signature",
                "heads-0@7: the record at offset 7 is not a head of this log: its signature is not that of the key " + id,
                "heads-0@8: head 1 comes again after head 3"), report);
        assertEquals(List.of(4L, 9L), List.of(report.heads(), report.records()));
    }

    private List<ConsumerRecord<byte[], byte[]>> heads() {
        try (KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(
                access.client(Map.of("isolation.level", "read_committed")), new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            TopicPartition place = new TopicPartition(log.topics.heads(), HEAD);
            consumer.assign(List.of(place));
            consumer.seekToBeginning(List.of(place));
            return consumer.poll(Duration.ofSeconds(30)).records(place);
        }
    }

    @Test
    void anotherKeyProvesNothing() throws Exception {
        SignedLog other = new SignedLog(access, "other", root);
        String id = log.key().id();
        HeadReport report = log.check(cluster, other.keys(), Optional.empty());
        assertEquals(4, report.found());
        assertTrue(SignedLog.found(report).stream().anyMatch(one -> one.contains("there is no signed head")), report.toString());
        assertTrue(SignedLog.found(report).getLast().endsWith("it names the key " + id + ", which is not among those of --head-keys"),
                report.toString());
        assertEquals(0, report.records());
    }

    /** A head of another log under the same key is none of this one. */
    @Test
    void aHeadOfAnotherLogIsRefused() throws Exception {
        HeadRecords records = new HeadRecords(new SignedLog(access, "another", root).topics, log.codec, log.keys());
        ConsumerRecord<byte[], byte[]> head = heads().getFirst();
        assertEquals(new HeadRecords.Read.Refused("it is a head of the log " + log.topics.prefix() + ", and this is the log another"),
                records.read(head.value(), head.headers()));
    }

    @Test
    void aHeadThatIsMissingIsNamed() throws Exception {
        Path copy = copy();
        SegmentEdit.remove(copy, log.topics.heads(), HEAD, 2); // 0 head 1, 1 commit, 2 head 2
        assertFound(List.of("heads-0@4: head 2 is missing"), log.check(files(copy)));
        SegmentEdit.remove(copy, log.topics.heads(), HEAD, 0);
        SegmentEdit.remove(copy, log.topics.heads(), HEAD, 1);
        SegmentEdit.remove(copy, log.topics.heads(), HEAD, 3);
        // As after a retention: the files begin later.
        HeadReport rest = log.check(files(copy));
        assertFound(List.of(), rest);
        assertEquals(3 + 7, rest.before());
    }

    /** The end of the log is cut off together with the head that proves it: only who has seen that head notices. */
    @Test
    void aCutOfLogAndHeadsIsSeenByWhoHasSeenTheHead() throws Exception {
        HeadReport.Seen seen = log.check(cluster).last().orElseThrow();
        Path copy = copy();
        SegmentEdit.cut(copy, log.topics.events(), 0, 3);
        SegmentEdit.cut(copy, log.topics.decisions(), 1, 7);
        SegmentEdit.cut(copy, log.topics.heads(), HEAD, 4);
        assertFound(List.of(), log.check(files(copy)));
        assertFound(List.of("heads-0@0: head 3, which an earlier audit has checked, is not there: heads were cut off"),
                log.check(files(copy), log.keys(), Optional.of(seen)));
        HeadReport old = new HeadCheck(files(copy), log.topics, log.codec, log.keys(), 2, -1).check(Optional.empty());
        assertTrue(SignedLog.found(old).getFirst().contains("s ago: tierlog log sign does not run, or later heads were cut off"), old.toString());
    }

    @Test
    void aCheckGoesOnFromAHead() throws Exception {
        log = signed("aCheckGoesOnFromAHead", root);
        HeadReport.Seen seen = log.check(cluster).last().orElseThrow();
        HeadReport nothing = log.check(cluster, log.keys(), Optional.of(seen));
        assertEquals(List.of(0L, 0L, 0L, 0L), List.of(nothing.heads(), nothing.records(), nothing.after(), nothing.found()));
        log.events(0, "event-5");
        log.sign();
        HeadReport rest = log.check(cluster, log.keys(), Optional.of(seen));
        assertEquals(List.of(1L, 1L, 0L, 0L), List.of(rest.heads(), rest.records(), rest.before(), rest.found()));
        HeadReport.Seen other = new HeadReport.Seen(seen.number(), "00".repeat(32), seen.offset(), seen.timeMs());
        assertTrue(SignedLog.found(log.check(cluster, log.keys(), Optional.of(other))).getFirst().contains("heads were cut off or replaced"));
    }

    @Test
    void whatWasTrimmedIsNotChecked() throws Exception {
        log = signed("whatWasTrimmedIsNotChecked", root);
        try (Admin admin = Admin.create(access.client(Map.of()))) {
            admin.deleteRecords(Map.of(new TopicPartition(log.topics.events(), 0), RecordsToDelete.beforeOffset(2),
                    new TopicPartition(log.topics.decisions(), 1), RecordsToDelete.beforeOffset(3))).all().get(60, TimeUnit.SECONDS);
        }
        HeadReport report = log.check(cluster);
        assertFound(List.of(), report);
        // Events 0 to 2 are trimmed in part, decisions 0 to 2 all.
        assertEquals(List.of(3L, 3L, 2L), List.of(report.records(), report.stretches(), report.unchecked()));
    }

    /** What was trimmed before a signer has read it is signed by no head, and is no gap. */
    @Test
    void aSignerGoesOnBehindATrim() throws Exception {
        log = signed("aSignerGoesOnBehindATrim", root);
        log.events(0, "event-5", "event-6");
        try (Admin admin = Admin.create(access.client(Map.of()))) {
            admin.deleteRecords(Map.of(new TopicPartition(log.topics.events(), 0), RecordsToDelete.beforeOffset(5))).all().get(60, TimeUnit.SECONDS);
        }
        log.sign();
        HeadReport report = log.check(cluster);
        assertFound(List.of(), report);
        assertEquals(4, report.heads());
    }

    /** The older key was replaced, and so perhaps stolen: it must not go on. */
    @Test
    void keysSignInTheirOrder() throws Exception {
        log = signed("keysSignInTheirOrder", root);
        log.rotated();
        log.events(0, "event-5");
        assertEquals(4, log.sign().number());
        assertFound(List.of(), log.check(cluster));
        log.rotatedBack();
        log.events(0, "event-6");
        log.sign();
        assertFound(List.of("heads-0@8: head 5 is signed with the key " + log.key().id() + ", and heads before it with a later one of --head-keys"),
                log.check(cluster));
    }

    /** Of two signers the later one signs on, and the other ends. */
    @Test
    void theLaterOfTwoSignersSignsOn() throws Exception {
        log = signed("theLaterOfTwoSignersSignsOn", root);
        try (HeadSigner one = HeadSigner.start(log.config(Duration.ofMillis(100)))) {
            log.events(0, "event-5");
            await(() -> one.last().number() == 4);
            try (HeadSigner two = HeadSigner.start(log.config(Duration.ofMillis(100)))) {
                await(() -> two.last().number() == 4);
                for (int i = 6; !one.ended().isDone() || two.last().number() < 6; i++) {
                    log.events(0, "event-" + i);
                    assertTrue(i < 1_000, "the first signer goes on");
                }
                assertTrue(String.valueOf(one.ended().join().getMessage()).contains("another signer of this log has begun"), one.ended()::toString);
                assertEquals(false, two.ended().isDone());
            }
        }
        assertFound(List.of(), log.check(cluster));
    }

    private static void await(BooleanSupplier condition) {
        long deadlineNs = System.nanoTime() + 60 * NANOS;
        while (!condition.getAsBoolean()) {
            assertTrue(System.nanoTime() < deadlineNs, "it does not come");
            LockSupport.parkNanos(NANOS / 50);
        }
    }

    /** A signer that went on would hide what is gone. */
    @Test
    void aSignerDoesNotSignOverALostEnd() throws Exception {
        log = signed("aSignerDoesNotSignOverALostEnd", root);
        try (Admin admin = Admin.create(access.client(Map.of()))) {
            admin.deleteTopics(List.of(log.topics.events())).all().get(60, TimeUnit.SECONDS);
            await(() -> made(log));
        }
        log.events(0, "event-1");
        assertEquals("partition 0 of " + log.topics.events() + " ends at offset 1, and head 3 has it up to offset 4: the end of the log was lost",
                log.refused());
        assertEquals(3, heads().size());
    }

    private static boolean made(SignedLog log) {
        try (TopicAdmin admin = new TopicAdmin(log.access)) {
            return !admin.create(log.topics, 2, 1).made().isEmpty();
        } catch (LogSetupException e) {
            return false; // the old topic is being deleted
        }
    }

    /** A new chain beside one whose key is not known would look like an attack. */
    @Test
    void aSignerDoesNotBeginBesideHeadsThatItCannotCheck() throws Exception {
        log = signed("aSignerDoesNotBeginBesideHeadsThatItCannotCheck", root);
        SignedLog other = new SignedLog(access, log.topics.prefix(), Files.createDirectories(root.resolve("elsewhere")));
        String refused = other.refused();
        assertTrue(refused.startsWith("no record of " + log.topics.heads() + " is a head that was signed with a key of --head-keys"), refused);
    }

    @Test
    void aLogWithoutHeadsIsNotProven() throws Exception {
        SignedLog none = new SignedLog(access, "none", root);
        none.events(0, "event-1");
        HeadReport report = none.check(cluster);
        assertEquals(List.of("HEADS none.heads-0@0: there is no signed head: nothing proves the end of the log. Is tierlog log sign running?"),
                SignedLog.found(report));
        try (Admin admin = Admin.create(access.client(Map.of()))) {
            admin.deleteTopics(List.of(none.topics.heads())).all().get(60, TimeUnit.SECONDS);
        }
        AuditException missing = assertThrows(AuditException.class, () -> {
            while (true) { // the brokers learn of it a little later
                none.check(cluster);
            }
        });
        assertTrue(missing.hint().contains("tierlog topics create"), missing.hint());
    }
}
