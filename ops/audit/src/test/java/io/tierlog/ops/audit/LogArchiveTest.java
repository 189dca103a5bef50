/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.audit;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.events.Codec;
import io.tierlog.events.Schemas;
import io.tierlog.events.topic.Topics;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** An archive has the records of its log, round by round, and says when it is not whole. */
class LogArchiveTest {
    private static final Topics TOPICS = Topics.DEFAULT;
    private static final String EVENTS = TOPICS.events();
    private static final String DECISIONS = TOPICS.decisions();
    private static final String COMMANDS = TOPICS.commands();

    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it.
    private Path archive;

    private static LogEntry data(long offset, String value) {
        return new LogEntry.Data(offset, 1_000 + offset, ("k" + offset).getBytes(StandardCharsets.UTF_8), value.getBytes(StandardCharsets.UTF_8));
    }

    /** Two decisions with a marker between them and one behind, of a log whose first three were deleted. */
    private static final List<LogEntry> DECIDED =
            List.of(data(3, "d"), new LogEntry.Passed(4, 4), data(5, "e"), new LogEntry.Passed(6, 6));

    private static MemoryLog log(List<LogEntry> events, List<LogEntry> decisions) {
        return new MemoryLog().with(EVENTS, events).with(DECISIONS, decisions).with(COMMANDS, List.of());
    }

    private List<LogArchive.Added> append(LogSource log) throws InterruptedException {
        return append(log, Long.MAX_VALUE);
    }

    /** With files that end behind the batch that makes them this long. */
    private List<LogArchive.Added> append(LogSource log, long fileBytes) throws InterruptedException {
        return new LogArchive(log, TOPICS, 2, fileBytes).append(archive, "a test", 7);
    }

    private List<LogEntry> read(String topic) {
        List<LogEntry> all = new ArrayList<>();
        try (LogSource log = new DirectoryLog(archive); LogSource.Stream stream = log.open(topic, 0)) {
            for (List<LogEntry> some = stream.next(); !some.isEmpty(); some = stream.next()) {
                all.addAll(some);
            }
        }
        return all;
    }

    private List<String> values(String topic) {
        return read(topic).stream().map(entry -> assertInstanceOf(LogEntry.Data.class, entry)).map(LogArchiveTest::text).toList();
    }

    private static String text(LogEntry.Data data) {
        return data.offset() + " " + data.timestampMs() + " " + text(data.key()) + " " + text(data.value()) + " "
                + Arrays.stream(data.headers().toArray()).map(header -> header.key() + "=" + text(header.value())).toList();
    }

    private static String text(byte[] bytes) {
        return bytes == null ? "null" : new String(bytes, StandardCharsets.UTF_8);
    }

    private List<Path> files(String topic) throws IOException {
        try (Stream<Path> files = Files.list(archive.resolve(topic + "-0"))) {
            return files.filter(file -> file.toString().endsWith(".log")).sorted().toList();
        }
    }

    @Test
    void recordsAreReadAsTheyWere() throws Exception {
        RecordHeaders headers = new RecordHeaders(new RecordHeader[] {new RecordHeader("tierlog.mac", new byte[] {'m'})});
        LogEntry withHeader = new LogEntry.Data(2, 5, new byte[0], new byte[] {'c'}, headers);
        append(log(List.of(data(0, "a"), new LogEntry.Data(1, 9, null, null), withHeader), DECIDED));
        assertEquals(List.of("0 1000 k0 a []", "1 9 null null []", "2 5  c [tierlog.mac=m]"), values(EVENTS));
        assertEquals(List.of("3 1003 k3 d []", "5 1005 k5 e []"), values(DECISIONS));
        assertEquals(List.of(), values(COMMANDS));
        try (LogSource read = new DirectoryLog(archive); LogSource.Stream decisions = read.open(DECISIONS, 0)) {
            assertEquals(3, decisions.begin());
            assertEquals(7, decisions.end(), "behind the marker, which signed heads count");
            assertFalse(decisions.showsAll(), "a gap is a marker");
            assertFalse(read.hasTopic(TOPICS.heads()));
            assertTrue(read.hasTopic(EVENTS) && read.endsAtOnce() && !read.isLive());
            assertEquals(List.of(), read.fileOffsets(EVENTS, 0), "its files are not those of the broker");
            assertEquals(Optional.empty(), read.batchChecksum(EVENTS, 0, 0, 3));
        }
    }

    @Test
    void aRoundAddsWhatTheLogHasGained() throws Exception {
        List<LogArchive.Added> first = append(log(List.of(data(0, "a")), List.of(data(0, "d"))));
        assertEquals(List.of(1L, 1L, 0L), first.stream().map(LogArchive.Added::records).toList());
        List<Path> known = files(EVENTS);
        List<LogArchive.Added> none = append(log(List.of(data(0, "a")), List.of(data(0, "d"))));
        assertEquals(List.of(0L, 0L, 0L), none.stream().map(LogArchive.Added::bytes).toList());
        // The log begins later now, not behind the archive's end.
        append(log(List.of(data(1, "b"), data(2, "c")), List.of(data(0, "d"), data(1, "e"))));
        assertEquals(List.of("0 1000 k0 a []", "1 1001 k1 b []", "2 1002 k2 c []"), values(EVENTS));
        assertEquals(List.of("0 1000 k0 d []", "1 1001 k1 e []"), values(DECISIONS));
        assertEquals(known.getFirst(), files(EVENTS).getFirst());
        assertEquals(2, files(EVENTS).size());
    }

    /** Each record is longer than half a batch, and each batch longer than a file. */
    @Test
    void aLongPartitionIsSeveralFiles() throws Exception {
        String large = "x".repeat(400_000);
        append(log(List.of(data(0, large), data(1, large), data(2, large), data(3, "z")), List.of()), 1);
        assertEquals(List.of("00000000000000000000.log", "00000000000000000002.log"),
                files(EVENTS).stream().map(file -> file.getFileName().toString()).toList());
        assertEquals(List.of(0L, 1L, 2L, 3L), read(EVENTS).stream().map(LogEntry::offset).toList());
    }

    @Test
    void aRoundThatWasNotFinishedDoesNotCount() throws Exception {
        append(log(List.of(data(0, "a")), List.of(data(0, "d"))));
        byte[] counted = Files.readAllBytes(archive.resolve(ArchiveManifest.FILE));
        append(log(List.of(data(0, "a"), data(1, "b")), List.of(data(0, "d"))));
        Files.write(archive.resolve(ArchiveManifest.FILE), counted);
        Files.write(files(EVENTS).getLast(), new byte[200]); // As after a power failure.
        assertEquals(List.of("0 1000 k0 a []"), values(EVENTS));
        append(log(List.of(data(0, "a"), data(1, "b"), data(2, "c")), List.of(data(0, "d"))));
        assertEquals(List.of("0 1000 k0 a []", "1 1001 k1 b []", "2 1002 k2 c []"), values(EVENTS));
    }

    /** Killed before it had its first manifest. */
    @Test
    void aFirstRoundThatWasKilledIsBegunAgain() throws Exception {
        Files.createDirectories(archive);
        Files.writeString(archive.resolve(ArchiveManifest.UNFINISHED), "lay");
        append(log(List.of(data(0, "a")), List.of(data(0, "d"))));
        assertEquals(List.of("0 1000 k0 a []"), values(EVENTS));
    }

    @Test
    void aTruncatedArchiveIsRefused() throws Exception {
        append(log(List.of(data(0, "a"), data(1, "b")), List.of(data(0, "d"))));
        Path file = files(EVENTS).getFirst();
        byte[] whole = Files.readAllBytes(file);
        Files.write(file, Arrays.copyOf(whole, whole.length - 1));
        refused("is truncated or damaged: the files in tierlog.events-0 have " + (whole.length - 1) + " bytes, and its manifest counts "
                + whole.length);
        assertThrows(AuditException.class, () -> append(log(List.of(data(0, "a"), data(1, "b")), List.of())), "nothing is added to it");
        Files.delete(file);
        refused("truncated");
        whole[whole.length - 1] ^= 1;
        Files.write(file, whole);
        assertInstanceOf(LogEntry.Damaged.class, read(EVENTS).getFirst());
        Path manifest = archive.resolve(ArchiveManifest.FILE);
        Files.writeString(manifest, Files.readString(manifest).replace("part.0.end=1", "part.0.end=2"));
        refused("its checksum is wrong");
        Files.delete(manifest);
        refused("there is no Kafka log");
        AuditException unknown = assertThrows(AuditException.class, () -> append(log(List.of(data(0, "a"), data(1, "b")), List.of(data(0, "d")))));
        assertTrue(unknown.getMessage().contains("has files and is no archive"), unknown.getMessage());
        assertArrayEquals(whole, Files.readAllBytes(file), "nothing is deleted");
    }

    private void refused(String why) {
        AuditException refused = assertThrows(AuditException.class, () -> new DirectoryLog(archive));
        assertTrue(refused.getMessage().contains(why), refused.getMessage());
    }

    @Test
    void anotherLogIsNotAdded() throws Exception {
        append(log(List.of(data(0, "a"), data(1, "b")), List.of(data(0, "d"))));
        AuditException trimmed = assertThrows(AuditException.class, () -> append(log(List.of(data(3, "d")), List.of(data(0, "d")))));
        assertTrue(trimmed.getMessage().contains("begins at offset 3, and the archive ends before offset 2"), trimmed.getMessage());
        AuditException shorter = assertThrows(AuditException.class, () -> append(log(List.of(data(0, "a")), List.of(data(0, "d")))));
        assertTrue(shorter.getMessage().contains("ends before offset 1, and the archive before offset 2"), shorter.getMessage());
        AuditException other = assertThrows(AuditException.class, () -> append(log(List.of(data(0, "a"), data(1, "x")), List.of(data(0, "d")))));
        assertTrue(other.getMessage().contains("the record tierlog.events-0@1 is not the one in the archive"), other.getMessage());
        MemoryLog prefixed = new MemoryLog().with("b.events", List.of()).with("b.decisions", List.of()).with("b.commands", List.of());
        AuditException prefix = assertThrows(AuditException.class,
                () -> new LogArchive(prefixed, new Topics("b"), 1).append(archive, "another log", 7));
        assertTrue(prefix.getMessage().contains("is of the topics tierlog.*, and this log of b.*"), prefix.getMessage());
        List<LogEntry> none = List.of();
        append(new MemoryLog().withPartition(EVENTS, List.of(data(0, "a"), data(1, "b"))).withPartition(EVENTS, none)
                .withPartition(DECISIONS, List.of(data(0, "d"))).withPartition(DECISIONS, none).withPartition(COMMANDS, none)
                .withPartition(COMMANDS, none));
        AuditException fewer = assertThrows(AuditException.class,
                () -> append(log(List.of(data(0, "a"), data(1, "b")), List.of(data(0, "d")))));
        assertTrue(fewer.getMessage().contains("has 1 partitions here, and 2 in the archive"), fewer.getMessage());
        assertEquals(2, read(EVENTS).size());
    }

    /** The last record of the archive is found again where the log was trimmed up to it, and not asked for where it was trimmed behind it. */
    @Test
    void anArchiveGoesOnBehindATrim() throws Exception {
        List<LogEntry> markerAtEnd = List.of(data(0, "d"), data(1, "e"), new LogEntry.Passed(2, 2));
        append(log(List.of(data(0, "a")), markerAtEnd));
        append(log(List.of(data(0, "a")), List.of(data(1, "e"), new LogEntry.Passed(2, 2), data(3, "f"))));
        append(log(List.of(data(0, "a")), List.of(data(4, "g"))));
        assertEquals(List.of("0 1000 k0 d []", "1 1001 k1 e []", "3 1003 k3 f []", "4 1004 k4 g []"), values(DECISIONS));
    }

    /** A broker has deleted all records of a partition: an empty file has the offset of the next one as its name. */
    @Test
    void anEmptyFileHasAnOffset() throws Exception {
        Path log = Files.createDirectories(archive.resolve("log/tierlog.commands-0"));
        Files.createFile(archive.resolve("log/meta.properties"));
        Files.createFile(log.resolve("00000000000000000007.log"));
        Files.createFile(log.resolve("._00000000000000000000.log"));
        try (LogSource files = new DirectoryLog(archive); LogSource.Stream commands = files.open(COMMANDS, 0)) {
            assertEquals(7, commands.begin());
            assertEquals(7, commands.end());
            AuditException behind = assertThrows(AuditException.class, () -> files.open(COMMANDS, 0, 8));
            assertTrue(behind.getMessage().contains("ends at offset 7, and the snapshot at offset 8"), behind.getMessage());
        }
    }

    /** A first record far behind the beginning is a batch of its own. */
    @Test
    void offsetsMayBeFarApart() throws Exception {
        long far = 1L << 33;
        LogEntry before = new LogEntry.Passed(0, far - 1);
        LogEntry between = new LogEntry.Passed(far + 1, 2 * far - 1);
        append(log(List.of(before, data(far, "a"), between, data(2 * far, "b")), List.of()));
        assertEquals(List.of(far, 2 * far), read(EVENTS).stream().map(LogEntry::offset).toList());
        try (LogSource read = new DirectoryLog(archive); LogSource.Stream events = read.open(EVENTS, 0)) {
            assertEquals(0, events.begin());
        }
    }

    /** Of a running cluster the topics end at different moments, also in the archive of an archive. */
    @Test
    void anArchiveRemembersThatItsLogWasLive(@TempDir Path second) throws Exception {
        MemoryLog running = log(List.of(data(0, "a")), List.of(data(0, "d"))).running();
        append(running);
        try (LogSource read = new DirectoryLog(archive)) {
            assertFalse(read.endsAtOnce());
            assertFalse(read.hasPlacements());
            new LogArchive(read, TOPICS, 1).append(second, archive.toString(), 8);
            Verifier verifier = new Verifier(read, TOPICS, new Codec(Schemas.bundled()), new Verifier.Options(1, true, true, true));
            AuditException refused = assertThrows(AuditException.class, verifier::verify);
            assertTrue(refused.getMessage().contains("whether it was at rest does not show in an archive"), refused.getMessage());
        }
        try (LogSource read = new DirectoryLog(second)) {
            assertFalse(read.endsAtOnce());
        }
    }

    /** A broker deletes commands after a day: an archive that is continued later has those that are there. */
    @Test
    void commandsMayBeMissing() throws Exception {
        List<LogEntry> none = List.of();
        append(new MemoryLog().with(EVENTS, none).with(DECISIONS, none).with(COMMANDS, List.of(data(0, "a"))));
        append(new MemoryLog().with(EVENTS, none).with(DECISIONS, none).with(COMMANDS, List.of(data(7, "h"))));
        assertEquals(List.of("0 1000 k0 a []", "7 1007 k7 h []"), values(COMMANDS));
    }

    @Test
    void twoRoundsDoNotWriteAtATime() throws Exception {
        try (FileChannel channel = FileChannel.open(archive.resolve("archive.lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
                FileLock lock = channel.lock()) {
            assertTrue(lock.isValid());
            AuditException used = assertThrows(AuditException.class, () -> append(log(List.of(), List.of())));
            assertTrue(used.getMessage().contains("another round writes"), used.getMessage());
        }
    }
}
