/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.audit.snapshot;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.events.KafkaAccess;
import io.tierlog.events.topic.Topics;
import io.tierlog.ops.audit.AuditException;
import io.tierlog.ops.audit.ClusterLog;
import io.tierlog.ops.audit.LogEntry;
import io.tierlog.ops.audit.LogSource;
import io.tierlog.ops.audit.MemoryLog;
import io.tierlog.ops.audit.PartitionStart;
import io.tierlog.ops.kafka.EmbeddedKafka;
import io.tierlog.ops.kafka.EmbeddedKafkaConfig;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What is deleted before a snapshot, and what is not, on a broker with logs of one partition: each test has topics of its own. */
@SuppressWarnings("NullAway.Init") // JUnit sets the fields.
class LogTrimTest {
    @TempDir
    private static Path data;

    @TempDir
    private Path root;

    private static EmbeddedKafka broker;
    private static KafkaAccess access;
    private static LogSource source;

    private final TickLog log = new TickLog().ticks(40);

    @BeforeAll
    static void start() {
        broker = EmbeddedKafka.start(EmbeddedKafkaConfig.of(data).withPort(0));
        access = KafkaAccess.of(broker.bootstrapServers());
        source = new ClusterLog(access);
    }

    @AfterAll
    static void stop() {
        source.close();
        broker.close();
    }

    private static void write(Topics topics, List<LogEntry> events, List<LogEntry> decisions) throws Exception {
        try (Admin admin = Admin.create(access.client(Map.of()));
                KafkaProducer<byte[], byte[]> producer =
                        new KafkaProducer<>(access.producer(Map.of()), new ByteArraySerializer(), new ByteArraySerializer())) {
            admin.createTopics(List.of(new NewTopic(topics.events(), 1, (short) 1), new NewTopic(topics.decisions(), 1, (short) 1)))
                    .all().get(60, TimeUnit.SECONDS);
            for (Map.Entry<String, List<LogEntry>> topic : Map.of(topics.events(), events, topics.decisions(), decisions).entrySet()) {
                for (LogEntry entry : topic.getValue()) {
                    LogEntry.Data record = (LogEntry.Data) entry;
                    producer.send(new ProducerRecord<>(topic.getKey(), record.key(), record.value())).get(60, TimeUnit.SECONDS);
                }
            }
        }
    }

    /** A snapshot of this log, as topics of these names would have it. */
    private Snapshot snapshot(Topics topics, boolean verified) throws InterruptedException {
        MemoryLog memory = new MemoryLog().with(topics.events(), log.events()).with(topics.decisions(), log.facts());
        SnapshotDirectory directory = new SnapshotDirectory(root);
        Snapshot made = new Snapshotter(directory, memory, topics, log.codec, 1).create(5_000).snapshot().orElseThrow();
        if (verified) {
            assertEquals(Optional.empty(), new Snapshotter(directory, memory, topics, log.codec, 1).verify(made));
        }
        return made;
    }

    /** Trims all that the snapshot allows. */
    private LogTrim.Plan trim(Topics topics, Snapshot snapshot) {
        return trim(topics, snapshot, 0);
    }

    private LogTrim.Plan trim(Topics topics, Snapshot snapshot, long keepBytes) {
        LogTrim trim = new LogTrim(access, source, topics, log.codec);
        LogTrim.Plan plan = trim.plan(snapshot, new LogTrim.Retention(System.currentTimeMillis() + TimeUnit.HOURS.toMillis(1), keepBytes));
        trim.delete(plan);
        return plan;
    }

    private static long begin(String topic) {
        try (LogSource.Stream records = source.open(topic, 0)) {
            return records.begin();
        }
    }

    private void refused(Topics topics, Snapshot snapshot, String why) {
        AuditException error = assertThrows(AuditException.class, () -> trim(topics, snapshot));
        assertTrue(String.valueOf(error.getMessage()).contains(why), error.getMessage());
        assertEquals(List.of(0L, 0L), List.of(begin(topics.events()), begin(topics.decisions())), "nothing is deleted");
    }

    @Test
    void theSecondTrimDeletesNothing() throws Exception {
        Topics topics = new Topics("twice");
        write(topics, log.events(), log.facts());
        Snapshot snapshot = snapshot(topics, true);
        PartitionStart.At at = snapshot.places().getFirst();
        assertEquals(at.lastEvent() + at.lastDecision(), trim(topics, snapshot).cuts().stream().mapToLong(LogTrim.Cut::records).sum());
        assertEquals(List.of(at.lastEvent(), at.lastDecision()), List.of(begin(topics.events()), begin(topics.decisions())));
        assertEquals(0, trim(topics, snapshot).cuts().stream().mapToLong(LogTrim.Cut::records).sum());
        assertEquals(List.of(at.lastEvent(), at.lastDecision()), List.of(begin(topics.events()), begin(topics.decisions())));
    }

    /** A log that is not larger than what is kept loses nothing; of a larger one the last bytes stay, by the mean record. */
    @Test
    void theLastBytesAreKept() throws Exception {
        Topics topics = new Topics("bytes");
        write(topics, log.events(), log.facts());
        Snapshot snapshot = snapshot(topics, true);
        long stored = 0;
        try (Admin admin = Admin.create(access.client(Map.of()))) {
            for (var directories : admin.describeLogDirs(List.of(1)).allDescriptions().get(60, TimeUnit.SECONDS).values()) {
                stored = directories.values().stream().flatMap(directory -> directory.replicaInfos().entrySet().stream())
                        .filter(one -> one.getKey().topic().startsWith("bytes.")).mapToLong(one -> one.getValue().size()).sum();
            }
        }
        assertTrue(stored > 1_000, stored + " bytes");
        LogTrim.Plan all = trim(topics, snapshot, stored);
        assertEquals(List.of("size", "size"), all.cuts().stream().map(LogTrim.Cut::limit).toList());
        assertEquals(List.of(0L, 0L), List.of(begin(topics.events()), begin(topics.decisions())));
        trim(topics, snapshot, stored * 3 / 4);
        assertEquals(log.events().size() / 4, begin(topics.events()), 1);
        assertEquals(log.facts().size() / 4, begin(topics.decisions()), 1);
        long left = begin(topics.events());
        assertEquals(0, trim(topics, snapshot, stored * 3 / 4).cuts().stream().mapToLong(LogTrim.Cut::records).sum(), "the same again");
        assertEquals(left, begin(topics.events()));
    }

    @Test
    void whatAGroupHasNotReadIsKept() throws Exception {
        Topics topics = new Topics("group");
        write(topics, log.events(), log.facts());
        try (Admin admin = Admin.create(access.client(Map.of()))) {
            admin.alterConsumerGroupOffsets("slow", Map.of(new TopicPartition(topics.events(), 0), new OffsetAndMetadata(7)))
                    .all().get(60, TimeUnit.SECONDS);
        }
        Snapshot snapshot = snapshot(topics, true);
        LogTrim.Plan plan = trim(topics, snapshot);
        assertTrue(plan.groups().contains("slow"), plan.toString());
        assertEquals(List.of("snapshot " + snapshot.name(), "group slow"), plan.cuts().stream().map(LogTrim.Cut::limit).toList());
        assertEquals(7, begin(topics.events()));
        assertEquals(snapshot.places().getFirst().lastDecision(), begin(topics.decisions()));
    }

    /** A share group, which has no offsets of this kind, is neither asked nor named. */
    @Test
    void aShareGroupIsNotAsked() throws Exception {
        Topics topics = new Topics("share");
        write(topics, log.events(), log.facts());
        try (Admin admin = Admin.create(access.client(Map.of()))) {
            admin.alterShareGroupOffsets("sharing", Map.of(new TopicPartition(topics.events(), 0), 0L)).all().get(60, TimeUnit.SECONDS);
            assertTrue(admin.listGroups().all().get(60, TimeUnit.SECONDS).stream().anyMatch(group -> group.groupId().equals("sharing")));
        }
        assertFalse(trim(topics, snapshot(topics, true)).groups().contains("sharing"));
    }

    /** Topics of the same names that hold other records: of another cluster, or made again; also where only one of the two was. */
    @Test
    void aSnapshotOfAnotherLogIsRefused() throws Exception {
        TickLog other = new TickLog(500_000).ticks(60);
        Topics both = new Topics("other-both");
        write(both, other.events(), other.facts());
        refused(both, snapshot(both, true), "holds another record than the snapshot's last decision");
        Topics events = new Topics("other-events");
        write(events, other.events(), log.facts());
        Path here = root;
        root = here.resolve("events");
        refused(events, snapshot(events, true), "holds another record than the snapshot's last event");
        Topics shorter = new Topics("shorter");
        write(shorter, log.events().subList(0, 10), log.facts().subList(0, 10));
        root = here.resolve("shorter");
        refused(shorter, snapshot(shorter, true), "the snapshot is of another log");
    }

    @Test
    void anUnverifiedSnapshotIsRefused() throws Exception {
        Topics topics = new Topics("unverified");
        write(topics, log.events(), log.facts());
        refused(topics, snapshot(topics, false), "is not verified");
    }
}
