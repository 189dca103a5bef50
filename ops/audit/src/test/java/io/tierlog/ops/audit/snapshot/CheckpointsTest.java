/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.audit.snapshot;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.ops.audit.AuditException;
import io.tierlog.ops.audit.DirectoryLog;
import io.tierlog.ops.audit.Finding;
import io.tierlog.ops.audit.LogEntry;
import io.tierlog.ops.audit.LogSource;
import io.tierlog.ops.audit.PartitionStart;
import io.tierlog.ops.audit.Verifier;
import io.tierlog.ops.audit.VerifyReport;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.SimpleRecord;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Audits that go on from each other read what is new, find what an audit of everything finds there, and refuse what is not their log. */
class CheckpointsTest {
    private static final long HOUR_MS = 3_600_000;

    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it.
    private Path root;

    private final TickLog log = new TickLog().ticks(40);
    private long nowMs = 1_000_000;

    private VerifyReport verify(LogSource source) throws InterruptedException {
        nowMs += HOUR_MS;
        return new Checkpoints(root.resolve("row"), source, TickLog.TOPICS, log.codec)
                .verify(new Verifier.Options(2, false, true, true), nowMs);
    }

    private LogSource whole() {
        return log.log().with(TickLog.TOPICS.placements(), List.of());
    }

    private Snapshot newest() {
        return new SnapshotDirectory(root.resolve("row"), SnapshotFiles.DISK, Checkpoints.KIND).newest().orElseThrow();
    }

    private List<String> names() throws IOException {
        try (Stream<Path> all = Files.list(root.resolve("row"))) {
            return all.map(path -> path.getFileName().toString()).sorted().toList();
        }
    }

    @Test
    void itReadsWhatIsNewAndEndsAsIfItHadReadEverything() throws Exception {
        VerifyReport first = verify(whole());
        assertTrue(first.holds(), first.toString());
        assertEquals(40 + log.decisions(), first.records());
        for (int hour = 2; hour <= 4; hour++) {
            long before = log.decisions();
            log.ticks(30);
            VerifyReport next = verify(whole());
            assertTrue(next.holds(), next.toString());
            assertEquals(30 + log.decisions() - before, next.records(), "only what is new");
            assertTrue(next.notes().getFirst().contains("checkpoint-00000" + (hour - 1)), next.notes().toString());
        }
        assertEquals(List.of("checkpoint-000003", "checkpoint-000004"), names());
        Snapshot all = new Snapshotter(new SnapshotDirectory(root.resolve("whole")), whole(), TickLog.TOPICS, log.codec, 1)
                .create(1).snapshot().orElseThrow();
        assertArrayEquals(
                Files.readAllBytes(all.directory().resolve("partition-0")), Files.readAllBytes(newest().directory().resolve("partition-0")));
        assertEquals(0, verify(whole()).records(), "nothing was written since");
    }

    @Test
    void whatIsWrongSinceIsFoundAndStays() throws Exception {
        verify(whole());
        log.ticks(10);
        int lost = (int) log.decisions() - 5;
        for (int again = 0; again < 2; again++) {
            VerifyReport report = verify(log.without(lost).with(TickLog.TOPICS.placements(), List.of()));
            assertFalse(report.holds());
            assertEquals(Finding.NUMBERING, report.first().orElseThrow().check());
            assertEquals(List.of("checkpoint-000001"), names());
        }
    }

    @Test
    void anotherLogIsRefused() throws Exception {
        verify(whole());
        TickLog other = new TickLog(500_000).ticks(60);
        AuditException refused = assertThrows(AuditException.class, () -> verify(other.log().with(TickLog.TOPICS.placements(), List.of())));
        assertTrue(refused.getMessage().contains("the checkpoint is of another log, or the log was altered since"), refused.getMessage());
        TickLog shorter = new TickLog().ticks(20);
        AuditException lost = assertThrows(AuditException.class, () -> verify(shorter.log().with(TickLog.TOPICS.placements(), List.of())));
        assertTrue(lost.getMessage().contains("holds no committed record, and the checkpoint ends with one there"), lost.getMessage());
    }

    @Test
    void aTrimmedLogGoesOnWhereTheCheckpointIsStillThere() throws Exception {
        verify(whole());
        PartitionStart.At at = newest().places().getFirst();
        log.ticks(10);
        LogSource before = log.trimmed(at.nextEvent() - 1, at.nextDecision() - 1).with(TickLog.TOPICS.placements(), List.of());
        assertTrue(verify(before).holds());
        log.ticks(30);
        LogSource after = log.trimmed(70, 75).with(TickLog.TOPICS.placements(), List.of());
        AuditException gap = assertThrows(AuditException.class, () -> verify(after));
        assertTrue(gap.getMessage().contains("were trimmed"), gap.getMessage());
    }

    @Test
    void aDamagedCheckpointIsRefused() throws Exception {
        verify(whole());
        for (String name : List.of("partition-0", "snapshot.properties")) {
            Path file = newest().directory().resolve(name);
            byte[] bytes = Files.readAllBytes(file);
            byte[] damaged = bytes.clone();
            damaged[bytes.length / 2] ^= 1;
            Files.write(file, damaged);
            AuditException refused = assertThrows(AuditException.class, () -> verify(whole()));
            assertTrue(refused.getMessage().contains("cannot be used") && refused.getMessage().contains("checksum is wrong"), refused.getMessage());
            assertTrue(refused.hint().contains("delete it"), refused.hint());
            Files.write(file, bytes);
        }
        assertTrue(verify(whole()).holds());
    }

    /** The manifest of the newest checkpoint with one binding changed, its checksum right. */
    private void bind(String name, String value) throws IOException {
        Manifest manifest = newest().manifest();
        SortedMap<String, String> bindings = new TreeMap<>(manifest.bindings());
        bindings.put(name, value);
        Files.writeString(newest().directory().resolve(Manifest.FILE), new Manifest(manifest.layout(), manifest.coreVersion(), manifest.events(),
                manifest.decisions(), manifest.previous(), manifest.createdMs(), manifest.parts(), bindings).text());
    }

    @Test
    void aCheckpointOfAnotherBuildIsRefused() throws Exception {
        verify(whole());
        bind("code", "0".repeat(64));
        AuditException refused = assertThrows(AuditException.class, () -> verify(whole()));
        assertTrue(refused.getMessage().contains("another build"), refused.getMessage());
    }

    /** A checkpoint is no snapshot, and a snapshot is no checkpoint. */
    @Test
    void snapshotsInTheSameDirectoryDoNotShow() throws Exception {
        new Snapshotter(new SnapshotDirectory(root.resolve("row")), whole(), TickLog.TOPICS, log.codec, 1).create(1);
        verify(whole());
        assertEquals(List.of("checkpoint-000001", "snapshot-000001"), names());
        assertEquals(1, new SnapshotDirectory(root.resolve("row")).list().size());
    }

    // ------------------------------------------------------------------ files of a broker

    private Path files(String id) throws IOException {
        Path directory = Files.createDirectories(root.resolve("files"));
        Files.writeString(directory.resolve("meta.properties"), "");
        write(directory, TickLog.TOPICS.events(), log.events(), id);
        write(directory, TickLog.TOPICS.decisions(), log.facts(), id);
        write(directory, TickLog.TOPICS.placements(), List.of(), id);
        return directory;
    }

    /** A batch for each record; a new file begins after 40 records. */
    private static void write(Path directory, String topic, List<LogEntry> entries, String id) throws IOException {
        Path folder = Files.createDirectories(directory.resolve(topic + "-0"));
        Files.writeString(folder.resolve("partition.metadata"), "version: 0\ntopic_id: " + id + topic + "\n");
        List<List<LogEntry>> segments = new ArrayList<>();
        for (int from = 0; from < Math.max(1, entries.size()); from += 40) {
            segments.add(entries.subList(from, Math.min(entries.size(), from + 40)));
        }
        for (int i = 0; i < segments.size(); i++) {
            Path file = folder.resolve(String.format(Locale.ROOT, "%020d.log", i * 40));
            Files.deleteIfExists(file);
            try (FileChannel out = FileChannel.open(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
                List<LogEntry> segment = segments.get(i);
                for (LogEntry entry : segment) {
                    LogEntry.Data data = (LogEntry.Data) entry;
                    SimpleRecord one = new SimpleRecord(data.timestampMs(), data.key(), data.value());
                    ByteBuffer batch = MemoryRecords.withRecords(data.offset(), Compression.NONE, one).buffer();
                    out.write(batch);
                }
            }
        }
    }

    @Test
    void aRecordThatWasAlteredBeforeTheCheckpointIsNamed() throws Exception {
        assertTrue(verify(new DirectoryLog(files("a"))).holds());
        log.ticks(50);
        assertTrue(verify(new DirectoryLog(files("a"))).holds(), "what was appended since is no change");
        LogEntry.Data data = (LogEntry.Data) log.events().get(7);
        List<LogEntry> altered = new ArrayList<>(log.events());
        altered.set(7, new LogEntry.Data(7, data.timestampMs() + 1, data.key(), data.value()));
        write(root.resolve("files"), TickLog.TOPICS.events(), altered, "a");
        VerifyReport report = verify(new DirectoryLog(root.resolve("files")));
        Finding first = report.first().orElseThrow();
        assertEquals("BYTES tierlog.events-0@0: records 0 to 39 are not those that were verified", first.toString().substring(0, 74));
        assertEquals(1, report.findings().get(Finding.BYTES));
    }

    @Test
    void aTopicThatWasMadeAgainIsAnotherOne() throws Exception {
        verify(new DirectoryLog(files("a")));
        AuditException refused = assertThrows(AuditException.class, () -> verify(new DirectoryLog(files("b"))));
        assertTrue(refused.getMessage().contains("is of another log: its topic tierlog.events has the id atierlog.events"), refused.getMessage());
    }

    @Test
    void filesThatWereTrimmedAreNotCompared() throws Exception {
        log.ticks(60);
        verify(new DirectoryLog(files("a")));
        for (String topic : List.of(TickLog.TOPICS.events(), TickLog.TOPICS.decisions())) {
            Files.delete(root.resolve("files").resolve(topic + "-0").resolve("00000000000000000000.log"));
        }
        assertTrue(verify(new DirectoryLog(root.resolve("files"))).holds());
    }
}
