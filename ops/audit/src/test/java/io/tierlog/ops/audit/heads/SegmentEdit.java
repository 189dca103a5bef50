/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.audit.heads;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.CRC32C;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.MutableRecordBatch;

/** Changes the file of a partition as one who can write there does: whole batches, each with a right CRC-32C. Static and without state. */
final class SegmentEdit {
    /** In a batch: where its CRC-32C is, and where the bytes begin that it covers. */
    private static final int CRC = 17;

    private static final int COVERED = 21;

    private SegmentEdit() {}

    private static Path file(Path log, String topic, int partition) {
        return log.resolve(topic + "-" + partition).resolve("00000000000000000000.log");
    }

    private static List<byte[]> batches(Path file) throws IOException {
        List<byte[]> batches = new ArrayList<>();
        for (MutableRecordBatch batch : MemoryRecords.readableRecords(ByteBuffer.wrap(Files.readAllBytes(file))).batches()) {
            ByteBuffer bytes = ByteBuffer.allocate(batch.sizeInBytes());
            batch.writeTo(bytes);
            batches.add(bytes.array());
        }
        return batches;
    }

    private static void write(Path file, List<byte[]> batches) throws IOException {
        ByteBuffer all = ByteBuffer.allocate(batches.stream().mapToInt(batch -> batch.length).sum());
        batches.forEach(all::put);
        Files.write(file, all.array());
    }

    private static long offset(byte[] batch) {
        return ByteBuffer.wrap(batch).getLong();
    }

    /** Leaves out the batches from an offset on. */
    static void cut(Path log, String topic, int partition, long from) throws IOException {
        Path file = file(log, topic, partition);
        write(file, batches(file).stream().filter(batch -> offset(batch) < from).toList());
    }

    /** Leaves out the batch at an offset. */
    static void remove(Path log, String topic, int partition, long at) throws IOException {
        Path file = file(log, topic, partition);
        write(file, batches(file).stream().filter(batch -> offset(batch) != at).toList());
    }

    /** Writes a text of the same length in the place of another one. */
    static void alter(Path log, String topic, int partition, String from, String to) throws IOException {
        Path file = file(log, topic, partition);
        List<byte[]> changed = new ArrayList<>();
        int found = 0;
        for (byte[] batch : batches(file)) {
            String text = new String(batch, StandardCharsets.ISO_8859_1);
            found += text.contains(from) ? 1 : 0;
            byte[] now = text.replace(from, to).getBytes(StandardCharsets.ISO_8859_1);
            CRC32C crc = new CRC32C();
            crc.update(now, COVERED, now.length - COVERED);
            ByteBuffer.wrap(now).putInt(CRC, (int) crc.getValue());
            changed.add(now);
        }
        if (found == 0 || from.length() != to.length()) {
            throw new IllegalArgumentException(from + " is not there, or has another length");
        }
        write(file, changed);
    }
}
