/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.audit;

import io.tierlog.events.topic.Topics;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.record.TimestampType;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.MemoryRecordsBuilder;
import org.apache.kafka.common.record.internal.RecordBatch;
import org.jspecify.annotations.Nullable;

/**
 * A copy of the committed records that audits read, in Kafka's segment files, which {@link DirectoryLog} reads. It grows: each round adds what the
 * log has gained since the one before, in new files, and then counts them in its manifest. Offsets, times, keys, values and headers are kept;
 * aborted records and markers are not, so a gap between offsets may be one of these.
 */
public final class LogArchive {
    /** Bytes of records in one batch, before compression. */
    private static final int BATCH_BYTES = 1 << 19;

    private static final long FILE_BYTES = 256L << 20;
    private static final String LOCK = "archive.lock";

    private final LogSource source;
    private final Topics topics;
    private final long fileBytes;

    /**
     * What a round added of one topic.
     *
     * @param bytes of the files that it wrote
     */
    public record Added(String topic, long records, long bytes) {}

    /** An archive of a log. */
    public LogArchive(LogSource source, Topics topics) {
        this(source, topics, FILE_BYTES);
    }

    LogArchive(LogSource source, Topics topics, long fileBytes) {
        this.source = source;
        this.topics = topics;
        this.fileBytes = fileBytes;
    }

    /**
     * One round. A round that fails or is killed adds nothing, and the next one does what it left.
     *
     * @param directory of the archive, made if there is none
     * @param from where the log is, for people
     * @param nowMs milliseconds since 1970
     * @throws AuditException when the log or the directory cannot be used, the archive is of another log, or records between the archive and the
     *     beginning of the log are gone
     */
    public List<Added> append(Path directory, String from, long nowMs) {
        try {
            Files.createDirectories(directory);
            try (FileChannel channel = FileChannel.open(directory.resolve(LOCK), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
                    FileLock lock = channel.tryLock()) {
                if (lock == null) {
                    throw used(directory);
                }
                return appendAll(directory, from, nowMs);
            }
        } catch (OverlappingFileLockException e) {
            throw used(directory);
        } catch (IOException e) {
            throw new AuditException("cannot write the archive " + directory + ": " + e, "look at the disk and the directory's rights", e);
        }
    }

    private static AuditException used(Path directory) {
        return new AuditException("another round writes to the archive " + directory, "wait for its end");
    }

    private List<Added> appendAll(Path directory, String from, long nowMs) throws IOException {
        Optional<ArchiveManifest> before = ArchiveManifest.in(directory);
        before.ifPresent(known -> known.requireWhole(directory));
        List<Added> added = new ArrayList<>();
        List<ArchiveManifest.Part> parts = new ArrayList<>();
        // A head names records, and a decision its event: what names something is read before that has grown on.
        for (String topic : List.of(topics.heads(), topics.decisions(), topics.events(), topics.placements(), topics.commands())) {
            if (topic.equals(topics.heads()) && !source.hasTopic(topic)) {
                continue; // Of a log without signed heads.
            }
            Added sum = new Added(topic, 0, 0);
            for (int p = 0; p < source.partitions(topic); p++) {
                int partition = p;
                Optional<ArchiveManifest.Part> known = before.flatMap(all -> all.part(topic, partition));
                Growth growth = new Growth(directory, topic, partition, known.orElse(null));
                growth.copy();
                sum = new Added(topic, sum.records + growth.records, sum.bytes + growth.newBytes);
                parts.add(growth.part());
            }
            added.add(sum);
        }
        new ArchiveManifest(from, nowMs, source.isLive(), parts).write(directory);
        return added;
    }

    /** What is added of one partition. */
    private final class Growth {
        private final String topic;
        private final int partition;
        private final Path folder;
        private final long knownBytes;
        private final boolean isNew;
        private long end;
        private long records;
        private long newBytes;
        private @Nullable FileChannel file;
        private long written;

        Growth(Path directory, String topic, int partition, ArchiveManifest.@Nullable Part known) {
            this.topic = topic;
            this.partition = partition;
            folder = directory.resolve(topic + "-" + partition);
            isNew = known == null;
            end = known == null ? 0 : known.end();
            knownBytes = known == null ? 0 : known.bytes();
        }

        ArchiveManifest.Part part() {
            return new ArchiveManifest.Part(topic, partition, end, knownBytes + newBytes);
        }

        void copy() throws IOException {
            Files.createDirectories(folder);
            identify();
            deleteUncounted();
            try (RecordCursor cursor = isNew ? new RecordCursor(source, topic, partition) : cursorFromEnd()) {
                if (isNew) {
                    end = cursor.begin();
                }
                while (cursor.peek() != null) {
                    batch(cursor);
                }
                end = Math.max(end, cursor.end()); // Behind the last record is the marker of its transaction, which heads count.
            } finally {
                closeFile();
            }
            ArchiveManifest.force(folder, StandardOpenOption.READ);
        }

        /** As a broker does it, so that audits compare the topic with the one that heads were signed of. */
        private void identify() throws IOException {
            Optional<String> id = source.topicId(topic);
            Path metadata = folder.resolve(DirectoryLog.TOPIC_METADATA);
            Optional<String> known = DirectoryLog.topicIdIn(folder);
            if (known.isPresent() && id.isPresent() && !known.equals(id)) {
                throw new AuditException("the archive is of another log: its " + topic + " has the id " + known.get() + ", and this one "
                        + id.get(), "archive this log to another directory");
            }
            if (known.isEmpty() && id.isPresent()) {
                Files.writeString(metadata, "version: 0\n" + DirectoryLog.TOPIC_ID + " " + id.get() + "\n");
                ArchiveManifest.force(metadata, StandardOpenOption.WRITE);
            }
        }

        /** Files that a killed round left. */
        private void deleteUncounted() throws IOException {
            try (DirectoryStream<Path> files = Files.newDirectoryStream(folder, "*" + DirectoryLog.SEGMENT)) {
                for (Path each : files) {
                    if (isNew || DirectoryLog.firstOffset(each) >= end) {
                        Files.delete(each);
                    }
                }
            }
        }

        private RecordCursor cursorFromEnd() {
            try (LogSource.Stream all = source.open(topic, partition)) {
                if (all.begin() > end && topic.equals(topics.commands())) {
                    return new RecordCursor(source, topic, partition); // Brokers keep commands for a day.
                }
                if (all.begin() > end) {
                    throw new AuditException("partition " + partition + " of " + topic + " begins at offset " + all.begin()
                            + ", and the archive ends before offset " + end + ": records between them were trimmed",
                            "begin another archive; run a round before each trim");
                }
                if (all.end() < end) {
                    throw new AuditException("partition " + partition + " of " + topic + " ends before offset " + all.end()
                            + ", and the archive before offset " + end + ": it is of another log, or the end of the log was lost",
                            "audit verify of both says what they have");
                }
            }
            return new RecordCursor(source, topic, partition, end);
        }

        private void batch(RecordCursor cursor) throws IOException {
            long base = end;
            try (MemoryRecordsBuilder batch = MemoryRecords.builder(ByteBuffer.allocate(BATCH_BYTES), RecordBatch.CURRENT_MAGIC_VALUE,
                    Compression.lz4().build(), TimestampType.CREATE_TIME, base)) {
                int bytes = 0;
                for (LogEntry.Data data = cursor.peek();
                        data != null && bytes < BATCH_BYTES && data.offset() - base < Integer.MAX_VALUE;
                        data = cursor.peek()) {
                    batch.appendWithOffset(data.offset(), data.timestampMs(), data.key(), data.value(), data.headers().toArray());
                    bytes += length(data.key()) + length(data.value());
                    end = data.offset() + 1;
                    records++;
                    cursor.next();
                }
                write(batch.build().buffer(), base);
            }
        }

        private void write(ByteBuffer batch, long base) throws IOException {
            FileChannel to = file;
            if (to == null || written >= fileBytes) {
                closeFile();
                Path next = folder.resolve(String.format(Locale.ROOT, "%020d%s", base, DirectoryLog.SEGMENT));
                to = FileChannel.open(next, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
                file = to;
                written = 0;
            }
            written += batch.remaining();
            newBytes += batch.remaining();
            while (batch.hasRemaining()) {
                to.write(batch);
            }
        }

        private void closeFile() throws IOException {
            try (FileChannel closing = file) {
                file = null;
                if (closing != null) {
                    closing.force(true);
                }
            }
        }
    }

    private static int length(byte @Nullable [] bytes) {
        return bytes == null ? 0 : bytes.length;
    }
}
