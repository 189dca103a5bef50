/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.audit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.events.Codec;
import io.tierlog.events.KafkaAccess;
import io.tierlog.events.Schemas;
import io.tierlog.events.topic.Topics;
import io.tierlog.ops.kafka.EmbeddedKafka;
import io.tierlog.ops.kafka.EmbeddedKafkaConfig;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.StringSerializer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** All sources return the same records of a partition: what was committed, in order, without aborted and open transactions. */
class LogSourceTest {
    private static final String PLAIN = "x.events";
    private static final String TRANSACTIONS = "x.decisions";
    private static final String LEFT_OPEN = "x.open";

    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it.
    private Path data;

    @Test
    void whatWasCommittedIsReadFromAClusterAndFromItsFiles() throws Exception {
        String id;
        try (EmbeddedKafka broker = EmbeddedKafka.start(EmbeddedKafkaConfig.of(data).withPort(0))) {
            KafkaAccess access = KafkaAccess.of(broker.bootstrapServers());
            write(access);
            try (LogSource cluster = new ClusterLog(access)) {
                assertHolds(cluster);
                assertThrows(AuditException.class, () -> cluster.partitions("absent"));
                id = cluster.topicId(PLAIN).orElseThrow();
                assertEquals(List.of(), cluster.fileOffsets(PLAIN, 0), "a cluster shows no files");
            }
        }
        try (LogSource files = new DirectoryLog(data)) {
            assertHolds(files);
            assertThrows(AuditException.class, () -> files.partitions("absent"));
            assertEquals(Optional.of(id), files.topicId(PLAIN));
            assertEquals(List.of(0L), files.fileOffsets(PLAIN, 0));
            assertNotEquals(files.batchChecksum(PLAIN, 0, 0, 2), files.batchChecksum(PLAIN, 0, 0, 3));
            // Every offset shows, so that a gap is a missing record.
            List<LogEntry> entries = entries(files, TRANSACTIONS);
            long next = 0;
            for (LogEntry entry : entries) {
                assertEquals(next, entry.offset(), entries.toString());
                next = entry.lastOffset() + 1;
            }
            assertTrue(entries.stream().anyMatch(e -> e instanceof LogEntry.Passed), entries.toString());
        }
        assertHolds(new MemoryLog()
                .with(PLAIN, List.of(data(0, "a"), data(1, "b"), data(2, "c")))
                .with(TRANSACTIONS, List.of(data(0, "d"), new LogEntry.Passed(1, 4), data(5, "f"), data(6, "g"), new LogEntry.Passed(7, 7)))
                .with(LEFT_OPEN, List.of(data(0, "h"))));
    }

    private static LogEntry data(long offset, String value) {
        return new LogEntry.Data(offset, 0, null, value.getBytes(StandardCharsets.UTF_8));
    }

    private static void assertHolds(LogSource source) {
        assertEquals(1, source.partitions(PLAIN));
        assertEquals(List.of("0 a", "1 b", "2 c"), values(source, PLAIN));
        assertEquals(List.of("0 d", "5 f", "6 g"), values(source, TRANSACTIONS));
        assertEquals(List.of("0 h"), values(source, LEFT_OPEN));
        try (LogSource.Stream all = source.openAll(PLAIN)) {
            assertEquals(0, all.next().getFirst().offset());
        }
    }

    private static List<String> values(LogSource source, String topic) {
        List<String> values = new ArrayList<>();
        for (LogEntry entry : entries(source, topic)) {
            if (entry instanceof LogEntry.Data d && d.value() != null) {
                values.add(d.offset() + " " + new String(d.value(), StandardCharsets.UTF_8));
            }
        }
        return values;
    }

    private static List<LogEntry> entries(LogSource source, String topic) {
        List<LogEntry> all = new ArrayList<>();
        try (LogSource.Stream stream = source.open(topic, 0)) {
            for (List<LogEntry> some = stream.next(); !some.isEmpty(); some = stream.next()) {
                all.addAll(some);
            }
            assertTrue(all.isEmpty() || all.getLast().lastOffset() < stream.end(), "the end is where it says");
        }
        return all;
    }

    /** Offsets of the second topic: 0 d, 1 commit, 2 and 3 aborted, 4 abort, 5 f, 6 g, 7 commit. */
    private static void write(KafkaAccess access) throws Exception {
        try (Admin admin = Admin.create(access.client(Map.of()))) {
            admin.createTopics(List.of(new NewTopic(PLAIN, 1, (short) 1), new NewTopic(TRANSACTIONS, 1, (short) 1),
                    new NewTopic(LEFT_OPEN, 1, (short) 1))).all().get();
        }
        try (KafkaProducer<String, String> plain = new KafkaProducer<>(access.client(Map.of()), new StringSerializer(), new StringSerializer());
                KafkaProducer<String, String> tx = new KafkaProducer<>(
                        access.client(Map.of("transactional.id", "t")), new StringSerializer(), new StringSerializer());
                KafkaProducer<String, String> open = new KafkaProducer<>(
                        access.client(Map.of("transactional.id", "o")), new StringSerializer(), new StringSerializer())) {
            for (String value : List.of("a", "b", "c")) {
                plain.send(new ProducerRecord<>(PLAIN, value)).get();
            }
            plain.send(new ProducerRecord<>(LEFT_OPEN, "h")).get();
            tx.initTransactions();
            tx.beginTransaction();
            tx.send(new ProducerRecord<>(TRANSACTIONS, "d")).get();
            tx.commitTransaction();
            tx.beginTransaction();
            tx.send(new ProducerRecord<>(TRANSACTIONS, "e1")).get();
            tx.send(new ProducerRecord<>(TRANSACTIONS, "e2")).get();
            tx.abortTransaction();
            tx.beginTransaction();
            tx.send(new ProducerRecord<>(TRANSACTIONS, "f")).get();
            tx.send(new ProducerRecord<>(TRANSACTIONS, "g")).get();
            tx.commitTransaction();
            open.initTransactions();
            open.beginTransaction();
            open.send(new ProducerRecord<>(LEFT_OPEN, "i")).get();
            plain.send(new ProducerRecord<>(LEFT_OPEN, "j")).get();
            // Records after an open transaction are not committed.
            open.close(java.time.Duration.ZERO);
        }
    }

    @Test
    void aDirectoryInUseByABrokerIsRefused() throws Exception {
        Path log = Files.createDirectories(data.resolve("log"));
        Files.writeString(log.resolve("meta.properties"), "");
        Path marker = Files.writeString(data.resolve("tierlog-broker"), "format=1\n");
        new DirectoryLog(data).close();
        try (FileChannel channel = FileChannel.open(marker, StandardOpenOption.WRITE);
                FileLock lock = channel.lock()) {
            assertTrue(lock.isValid());
            AuditException used = assertThrows(AuditException.class, () -> new DirectoryLog(data));
            assertTrue(used.getMessage().contains("a running broker uses") && used.hint().contains("--bootstrap-servers"), used.getMessage());
        }
        assertThrows(AuditException.class, () -> new DirectoryLog(data.resolve("nowhere")));
    }

    /** A source that fails is not a finding: the audit ends with an error. */
    @Test
    void aFailingSourceIsAnError() {
        MemoryLog log = new MemoryLog().with(Topics.DEFAULT.events(), List.of(data(0, "a"))).with(Topics.DEFAULT.decisions(), List.of()).broken();
        Verifier verifier =
                new Verifier(log, Topics.DEFAULT, new Codec(Schemas.bundled()), new Verifier.Options(1, false, true, false));
        AuditException failed = assertThrows(AuditException.class, verifier::verify);
        assertTrue(failed.getMessage().contains("is broken"), failed.getMessage());
    }

    /** The controller skips what is not an event, and the audit does not report it; a gap in the offsets is a missing record. */
    @Test
    void aGapInTheEventsIsReported() throws Exception {
        MemoryLog log = new MemoryLog()
                .with(Topics.DEFAULT.events(), List.of(data(0, "no event"), data(2, "none either"), new LogEntry.Damaged(3, 5, "torn")))
                .with(Topics.DEFAULT.decisions(), List.of());
        VerifyReport report = new Verifier(log, Topics.DEFAULT, new Codec(Schemas.bundled()), new Verifier.Options(1, false, true, false)).verify();

        Finding first = report.first().orElseThrow();
        assertEquals("NUMBERING tierlog.events-0@1", first.toString().substring(0, 28));
        assertEquals(Map.of("NUMBERING", 1L, "BYTES", 1L), report.findings());
        assertEquals(2, report.records());
    }
}
