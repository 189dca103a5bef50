/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.audit;

import io.tierlog.events.topic.Topics;
import io.tierlog.schemas.Sha256;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.record.TimestampType;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.MemoryRecordsBuilder;
import org.apache.kafka.common.record.internal.RecordBatch;
import org.apache.kafka.common.utils.Utils;
import org.jspecify.annotations.Nullable;

/**
 * A copy of the committed events, decisions, commands and signed heads of a log, in Kafka's segment files, which {@link DirectoryLog} reads. It
 * grows: each round adds what the log has gained since the one before, in new files, and then counts them in its manifest. Offsets, times, keys,
 * values and headers are kept; aborted records and markers are not, so a gap between offsets may be one of these. Placements are not in it: they
 * are compacted, and decisions say the same.
 */
public final class LogArchive {
    /** Bytes of records in one batch, before compression. */
    private static final int BATCH_BYTES = 1 << 19;

    private static final long FILE_BYTES = 256L << 20;
    private static final String LOCK = "archive.lock";

    private static final String ANOTHER = "archive this log to another directory";

    private final LogSource source;
    private final Topics topics;
    private final int threads;
    private final long fileBytes;

    /**
     * What a round added of one topic.
     *
     * @param bytes of the files that it wrote
     */
    public record Added(String topic, long records, long bytes) {}

    /**
     * An archive of a log.
     *
     * @param threads partitions copied at a time, 1 or more
     */
    public LogArchive(LogSource source, Topics topics, int threads) {
        this(source, topics, threads, FILE_BYTES);
    }

    LogArchive(LogSource source, Topics topics, int threads, long fileBytes) {
        this.source = source;
        this.topics = topics;
        this.threads = threads;
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
     * @throws InterruptedException when the thread is interrupted; nothing is left running
     */
    public List<Added> append(Path directory, String from, long nowMs) throws InterruptedException {
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
            throw failed(directory, e);
        }
    }

    private static AuditException failed(Path path, Exception e) {
        return new AuditException("cannot write the archive " + path + ": " + e, "look at the disk and the directory's rights", e);
    }

    private static AuditException used(Path directory) {
        return new AuditException("another round writes to the archive " + directory, "wait for its end");
    }

    private List<Added> appendAll(Path directory, String from, long nowMs) throws IOException, InterruptedException {
        ArchiveManifest before = begun(directory, from, nowMs);
        before.requireWhole(directory);
        List<Added> added = new ArrayList<>();
        List<ArchiveManifest.Part> parts = new ArrayList<>();
        // A head names records, and a decision its event: what names something is read before that has grown on.
        for (String topic : List.of(topics.heads(), topics.decisions(), topics.events(), topics.commands())) {
            if (topic.equals(topics.heads()) && before.partitions(topic) == 0 && !source.hasTopic(topic)) {
                continue; // Of a log without signed heads.
            }
            List<Growth> grown = grow(directory, topic, before);
            grown.forEach(one -> parts.add(one.part()));
            added.add(new Added(topic, grown.stream().mapToLong(one -> one.records).sum(), grown.stream().mapToLong(one -> one.newBytes).sum()));
        }
        new ArchiveManifest(topics.prefix(), from, nowMs, !source.endsAtOnce(), parts).write(directory);
        return added;
    }

    /** The archive in a directory; an empty one is begun in a directory without files. */
    private ArchiveManifest begun(Path directory, String from, long nowMs) throws IOException {
        Optional<ArchiveManifest> known = ArchiveManifest.in(directory);
        if (known.isPresent()) {
            if (!known.get().prefix().equals(topics.prefix())) {
                throw new AuditException("the archive " + directory + " is of the topics " + known.get().prefix() + ".*, and this log of "
                        + topics.prefix() + ".*", ANOTHER);
            }
            return known.get();
        }
        try (Stream<Path> files = Files.list(directory)) {
            if (files.anyMatch(file -> !file.endsWith(LOCK) && !file.endsWith(ArchiveManifest.UNFINISHED))) {
                throw new AuditException(directory + " has files and is no archive: it has no " + ArchiveManifest.FILE, ANOTHER);
            }
        }
        // From now on files here are of an archive, and a round may delete what another one has not finished.
        ArchiveManifest none = new ArchiveManifest(topics.prefix(), from, nowMs, !source.endsAtOnce(), List.of());
        none.write(directory);
        Utils.flushDir(Objects.requireNonNullElse(directory.toAbsolutePath().getParent(), directory));
        return none;
    }

    private List<Growth> grow(Path directory, String topic, ArchiveManifest before) throws InterruptedException {
        int partitions = source.partitions(topic);
        if (partitions < before.partitions(topic)) {
            throw new AuditException(topic + " has " + partitions + " partitions here, and " + before.partitions(topic) + " in the archive",
                    "read the cluster, or a broker that has all partitions");
        }
        Optional<String> id = source.topicId(topic);
        List<Callable<Growth>> jobs = new ArrayList<>();
        for (int p = 0; p < partitions; p++) {
            Growth growth = new Growth(directory, before.part(topic, p).orElse(ArchiveManifest.Part.none(topic, p)));
            jobs.add(() -> {
                growth.copy(id);
                return growth;
            });
        }
        return PartitionJobs.run(jobs, threads);
    }

    /** What is added of one partition. Confined to one thread. */
    private final class Growth {
        private final String topic;
        private final int partition;
        private final Path folder;
        private final ArchiveManifest.Part known;
        private final boolean isNew;
        private long begin;
        private long end;
        private LogEntry.@Nullable Data last;
        private long records;
        private long newBytes;
        private @Nullable FileChannel file;
        private long written;

        Growth(Path directory, ArchiveManifest.Part known) {
            this.known = known;
            topic = known.topic();
            partition = known.partition();
            folder = directory.resolve(known.folder());
            isNew = known.begin() < 0;
            begin = known.begin();
            end = known.end();
        }

        ArchiveManifest.Part part() {
            LogEntry.Data latest = last;
            return new ArchiveManifest.Part(topic, partition, begin, end, known.bytes() + newBytes, latest == null ? known.last() : latest.offset(),
                    latest == null ? known.sum() : sum(latest));
        }

        void copy(Optional<String> id) {
            try (RecordCursor cursor = isNew ? new RecordCursor(source, topic, partition) : cursorFromEnd()) {
                if (isNew) {
                    begin = cursor.begin();
                    end = begin;
                }
                Files.createDirectories(folder);
                identify(id);
                deleteUncounted();
                while (cursor.peek() != null) {
                    batch(cursor);
                }
                end = Math.max(end, cursor.end()); // Behind the last record is the marker of its transaction, which heads count.
                closeFile();
                Utils.flushDir(folder);
            } catch (IOException e) {
                throw failed(folder, e);
            } finally {
                abandonFile();
            }
        }

        /** As a broker does it, so that audits compare the topic with the one that heads were signed of. */
        private void identify(Optional<String> id) throws IOException {
            Path metadata = folder.resolve(DirectoryLog.TOPIC_METADATA);
            Optional<String> there = DirectoryLog.topicIdIn(folder);
            if (there.isPresent() && id.isPresent() && !there.equals(id)) {
                throw new AuditException("the archive is of another log: its " + topic + " has the id " + there.get() + ", and this one "
                        + id.get(), ANOTHER);
            }
            if (there.isEmpty() && id.isPresent()) {
                Files.writeString(metadata, "version: 0\n" + DirectoryLog.TOPIC_ID + " " + id.get() + "\n");
                Utils.flushFileIfExists(metadata);
            }
        }

        /** Files that a killed round left. */
        private void deleteUncounted() throws IOException {
            for (Path each : DirectoryLog.segmentsIn(folder)) {
                if (isNew || DirectoryLog.firstOffset(each) >= end) {
                    Files.delete(each);
                }
            }
        }

        /** From the end of the archive on, once the last record of the archive was found in the log. */
        private RecordCursor cursorFromEnd() {
            long from;
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
                from = all.begin() <= known.last() ? known.last() : end;
            }
            RecordCursor cursor = new RecordCursor(source, topic, partition, from);
            try {
                LogEntry.Data same = from == known.last() ? cursor.next() : null;
                if (from == known.last() && (same == null || same.offset() != from || !sum(same).equals(known.sum()))) {
                    throw new AuditException("the record " + topic + "-" + partition + "@" + from + " is not the one in the archive: it is of another"
                            + " log, or the end of the log was lost and written again", ANOTHER);
                }
                return cursor;
            } catch (AuditException e) {
                cursor.close();
                throw e;
            }
        }

        private void batch(RecordCursor cursor) throws IOException {
            LogEntry.Data data = cursor.peek();
            long base = data == null ? end : data.offset();
            try (MemoryRecordsBuilder batch = MemoryRecords.builder(ByteBuffer.allocate(BATCH_BYTES), RecordBatch.CURRENT_MAGIC_VALUE,
                    Compression.lz4().build(), TimestampType.CREATE_TIME, base)) {
                for (int bytes = 0; data != null && bytes < BATCH_BYTES && data.offset() - base < Integer.MAX_VALUE; data = cursor.peek()) {
                    batch.appendWithOffset(data.offset(), data.timestampMs(), data.key(), data.value(), data.headers().toArray());
                    bytes += length(data.key()) + length(data.value());
                    end = data.offset() + 1;
                    last = data;
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
            FileChannel closing = file;
            if (closing != null) {
                closing.force(true);
                closing.close();
                file = null;
            }
        }

        /** Of a round that failed. */
        private void abandonFile() {
            Utils.closeQuietly(file, "a file of the archive");
        }
    }

    private static int length(byte @Nullable [] bytes) {
        return bytes == null ? 0 : bytes.length;
    }

    private static String sum(LogEntry.Data record) {
        MessageDigest digest = Sha256.digest();
        for (byte[] part : new byte[][] {record.key(), record.value()}) {
            digest.update(ByteBuffer.allocate(Integer.BYTES).putInt(part == null ? -1 : part.length).flip());
            digest.update(part == null ? new byte[0] : part);
        }
        digest.update(ByteBuffer.allocate(2 * Long.BYTES).putLong(record.offset()).putLong(record.timestampMs()).flip());
        return Sha256.hex(digest);
    }
}
