/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.audit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import java.util.zip.CRC32C;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.record.TimestampType;
import org.apache.kafka.common.record.internal.ControlRecordType;
import org.apache.kafka.common.record.internal.DefaultRecordBatch;
import org.apache.kafka.common.record.internal.EndTransactionMarker;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.RecordBatch;
import org.apache.kafka.common.record.internal.SimpleRecord;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Segment files that a test wrote, batch by batch, read from each of their offsets. */
class SegmentStreamTest {
    private static final String TOPIC = "t";
    private static final int END = 14;
    /** In a batch: where its CRC-32C is, and where the bytes begin that it covers. */
    private static final int CRC = 17;
    private static final int COVERED = 21;
    private static final int RECORDS = 61;

    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it.
    private Path directory;

    @SuppressWarnings("NullAway.Init") // write() sets it.
    private Path first;

    @SuppressWarnings("NullAway.Init") // write() sets it.
    private Path second;

    /**
     * Producer 1 aborts 2 and 3 and commits 6 to 8; then producer 2 aborts 10 while producer 1 commits 11.
     *
     * <pre>
     *   first file:   0 1 | 2 3 | 4 | 5 abort of 1
     *   second file:  6 7 8 | 9 commit of 1 | 10 | 11 | 12 abort of 2 | 13 commit of 1
     * </pre>
     */
    @BeforeEach
    void write() throws IOException {
        Files.writeString(directory.resolve("meta.properties"), "");
        Path folder = Files.createDirectories(directory.resolve(TOPIC + "-0"));
        first = folder.resolve("00000000000000000000.log");
        second = folder.resolve("00000000000000000006.log");
        append(first, plain(0, "a", "b"), transactional(2, 1, 0, "c1", "c2"), plain(4, "d"), marker(5, 1, ControlRecordType.ABORT));
        append(second, transactional(6, 1, 2, "e", "f", "g"), marker(9, 1, ControlRecordType.COMMIT), transactional(10, 2, 0, "h"),
                transactional(11, 1, 5, "i"), marker(12, 2, ControlRecordType.ABORT), marker(13, 1, ControlRecordType.COMMIT));
    }

    private static void append(Path file, ByteBuffer... batches) throws IOException {
        for (ByteBuffer batch : batches) {
            byte[] bytes = new byte[batch.remaining()];
            batch.duplicate().get(bytes);
            Files.write(file, bytes, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        }
    }

    private static SimpleRecord[] records(String... values) {
        return Arrays.stream(values).map(value -> new SimpleRecord(5, null, value.getBytes(StandardCharsets.UTF_8))).toArray(SimpleRecord[]::new);
    }

    private static ByteBuffer plain(long offset, String... values) {
        return MemoryRecords.withRecords(offset, Compression.gzip().build(), records(values)).buffer();
    }

    private static ByteBuffer transactional(long offset, long producer, int sequence, String... values) {
        return MemoryRecords.withTransactionalRecords(offset, Compression.gzip().build(), producer, (short) 0, sequence, 0, records(values)).buffer();
    }

    private static ByteBuffer marker(long offset, long producer, ControlRecordType type) {
        return MemoryRecords.withEndTransactionMarker(offset, 5, 0, producer, (short) 0, new EndTransactionMarker(type, 0)).buffer();
    }

    private List<String> whole() {
        return texts(new DirectoryLog(directory).open(TOPIC, 0));
    }

    private List<String> from(long offset) {
        return texts(new DirectoryLog(directory).open(TOPIC, 0, offset));
    }

    /** An entry as its last offset and what it is. */
    private static List<String> texts(LogSource.Stream opened) {
        List<String> texts = new ArrayList<>();
        try (LogSource.Stream stream = opened) {
            for (List<LogEntry> some = stream.next(); !some.isEmpty(); some = stream.next()) {
                some.forEach(entry -> texts.add(entry.lastOffset() + " " + switch (entry) {
                    case LogEntry.Data data -> new String(data.value() == null ? new byte[0] : data.value(), StandardCharsets.UTF_8);
                    case LogEntry.Passed passed -> "passed from " + passed.offset();
                    case LogEntry.Damaged damaged -> "damaged from " + damaged.offset();
                }));
            }
        }
        return texts;
    }

    private static List<String> since(List<String> texts, long offset) {
        return texts.stream().filter(text -> Long.parseLong(text.substring(0, text.indexOf(' '))) >= offset).toList();
    }

    @Test
    void fromEachOffsetItIsTheRestOfTheWhole() {
        List<String> all = whole();
        assertEquals(List.of("0 a", "1 b", "3 passed from 2", "4 d", "5 passed from 5", "6 e", "7 f", "8 g", "9 passed from 9", "10 passed from 10",
                "11 i", "12 passed from 12", "13 passed from 13"), all);
        for (int offset = 0; offset <= END; offset++) {
            assertEquals(since(all, offset), from(offset), "from " + offset);
            try (LogSource.Stream stream = new DirectoryLog(directory).open(TOPIC, 0, offset)) {
                assertEquals(offset, stream.begin());
                assertEquals(END, stream.end());
            }
        }
        AuditException behind = assertThrows(AuditException.class, () -> from(END + 1));
        assertTrue(behind.getMessage().contains("ends at offset " + END + ", and the snapshot at offset " + (END + 1)), behind.getMessage());
    }

    @Test
    void whatWasDeletedIsRefused() throws IOException {
        Files.delete(first);
        AuditException refused = assertThrows(AuditException.class, () -> from(5));
        assertTrue(refused.getMessage().contains("begins at offset 6"), refused.getMessage());
        assertEquals("6 e", from(6).getFirst());
    }

    /** One byte of the records of 6 to 8 is flipped, as a disk does. */
    @Test
    void aFlippedByteBeforeItDoesNotMatter() throws IOException {
        List<String> good = whole();
        byte[] bytes = Files.readAllBytes(second);
        bytes[RECORDS + 12] ^= 1;
        Files.write(second, bytes);
        for (int offset = 0; offset <= END; offset++) {
            List<String> rest = from(offset);
            assertEquals(offset <= 8, rest.contains("8 damaged from 6"), rest.toString());
            assertEquals(since(good, Math.max(9, offset)), since(rest, 9), "from " + offset);
        }
    }

    /** The checksum of 6 to 8 holds, and their records cannot be decompressed. */
    @Test
    void whatIsBeforeItIsNotDecompressed() throws IOException {
        List<String> good = whole();
        byte[] bytes = Files.readAllBytes(second);
        int length = Integer.BYTES + Long.BYTES + ByteBuffer.wrap(bytes).getInt(Long.BYTES);
        Arrays.fill(bytes, RECORDS, length, (byte) 7);
        CRC32C crc = new CRC32C();
        crc.update(bytes, COVERED, length - COVERED);
        ByteBuffer.wrap(bytes).putInt(CRC, (int) crc.getValue());
        Files.write(second, bytes);

        assertThrows(AuditException.class, this::whole);
        assertThrows(AuditException.class, () -> from(8));
        assertEquals(since(good, 9), from(9));
    }

    @Test
    void aFileBeforeItIsNotOpenedAgain() throws IOException {
        List<String> good = whole();
        LogSource.Stream rest = new DirectoryLog(directory).open(TOPIC, 0, 6);
        Files.delete(first);
        assertEquals(since(good, 6), texts(rest));
    }

    /** The cleaner of a compacted topic keeps the last batch of a producer without its records. */
    @Test
    void aBatchWithoutRecordsIsNotTheEnd() throws IOException {
        ByteBuffer empty = ByteBuffer.allocate(RECORDS);
        DefaultRecordBatch.writeEmptyHeader(empty, RecordBatch.CURRENT_MAGIC_VALUE, 3, (short) 0, 0, END, END + 1, 0, TimestampType.CREATE_TIME, 5,
                false, false);
        append(second, empty.flip(), plain(END + 2, "j", "k"));
        for (List<String> texts : Stream.of(whole(), from(9), from(END + 1)).toList()) {
            assertEquals(List.of("16 j", "17 k"), since(texts, END));
        }
    }
}
