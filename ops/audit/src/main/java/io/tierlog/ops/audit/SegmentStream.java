/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.audit;

import io.tierlog.schemas.Sha256;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.record.internal.ControlRecordType;
import org.apache.kafka.common.record.internal.FileLogInputStream.FileChannelRecordBatch;
import org.apache.kafka.common.record.internal.FileRecords;
import org.apache.kafka.common.record.internal.Record;
import org.apache.kafka.common.utils.Utils;
import org.jspecify.annotations.Nullable;

/**
 * The segment files of one partition. The batch headers are read first, to find aborted transactions and the first one without an end: from there on
 * nothing is committed, as for a consumer with {@code read_committed}.
 */
final class SegmentStream implements LogSource.Stream {
    private final List<Path> segments;
    /** Aborted transactions by producer: first offset, and offset of the marker. */
    private final Map<Long, List<Range>> aborted = new LinkedHashMap<>();
    private final long from;
    private final boolean showsAll;
    private final long endOfFiles;
    private final long begin;
    private final long end;
    private int nextSegment;
    /** Position in the next segment of the first batch that is read, in bytes. */
    private int position;
    private @Nullable FileRecords open;
    private @Nullable Iterator<FileChannelRecordBatch> batches;

    private record Range(long first, long marker) {}

    /**
     * The records from an offset on. Of what is before it only the headers are read.
     *
     * @param from the offset, 0 or more; {@link #begin} is later where the files begin later
     * @param archived the partition in the manifest of an archive; empty for the files of a broker, which have every offset
     * @throws IOException when a file cannot be read
     */
    SegmentStream(List<Path> segments, long from, Optional<ArchiveManifest.Part> archived) throws IOException {
        this.segments = segments;
        this.from = from;
        this.showsAll = archived.isEmpty();
        long first = -1;
        long last = segments.isEmpty() ? 0 : DirectoryLog.firstOffset(segments.getFirst()); // Of an empty file: what was before was deleted.
        Map<Long, Long> unfinished = new LinkedHashMap<>();
        for (int i = 0; i < segments.size(); i++) {
            Path segment = segments.get(i);
            FileRecords records = FileRecords.open(segment.toFile(), false);
            try {
                for (FileChannelRecordBatch batch : records.batches()) {
                    first = first < 0 ? batch.baseOffset() : first;
                    last = batch.nextOffset();
                    position = last <= from ? batch.position() + batch.sizeInBytes() : position;
                    if (batch.isControlBatch()) {
                        control(batch, unfinished);
                    } else if (batch.isTransactional()) {
                        unfinished.putIfAbsent(batch.producerId(), batch.baseOffset());
                    }
                }
            } catch (KafkaException e) {
                throw new IOException(segment + " is damaged after offset " + last + ": " + e.getMessage(), e);
            } finally {
                // Not close(), which would cut the file to the length of its batches.
                records.closeHandlers();
            }
            if (last <= from) {
                nextSegment = i + 1;
                position = 0;
            }
        }
        long read = last;
        endOfFiles = archived.map(ArchiveManifest.Part::end).orElse(read);
        begin = Math.max(from, archived.map(ArchiveManifest.Part::begin).orElse(first < 0 ? read : first));
        end = Math.max(begin, unfinished.values().stream().mapToLong(Long::longValue).min().orElse(endOfFiles));
    }

    /**
     * A checksum over the headers of the batches that begin between two offsets.
     *
     * @throws IOException when a file cannot be read
     */
    static String checksum(List<Path> segments, long from, long to) throws IOException {
        MessageDigest digest = Sha256.digest();
        ByteBuffer header = ByteBuffer.allocate(2 * Long.BYTES + Long.BYTES + Integer.BYTES);
        for (Path segment : segments) {
            FileRecords records = FileRecords.open(segment.toFile(), false);
            try {
                for (FileChannelRecordBatch batch : records.batches()) {
                    if (batch.baseOffset() >= from && batch.baseOffset() < to) {
                        header.clear().putLong(batch.baseOffset()).putLong(batch.lastOffset()).putLong(batch.checksum()).putInt(batch.sizeInBytes());
                        digest.update(header.flip());
                    }
                }
            } catch (KafkaException e) {
                throw new IOException(segment + " is damaged: " + e.getMessage(), e);
            } finally {
                records.closeHandlers();
            }
        }
        return Sha256.hex(digest);
    }

    private void control(FileChannelRecordBatch batch, Map<Long, Long> unfinished) {
        Long began = unfinished.remove(batch.producerId());
        for (Record marker : batch) {
            if (began != null && ControlRecordType.parse(marker.key()) == ControlRecordType.ABORT) {
                aborted.computeIfAbsent(batch.producerId(), p -> new ArrayList<>()).add(new Range(began, marker.offset()));
            }
        }
    }

    /** The offset after the last one in the files, of a transaction that goes on too. */
    long endOfFiles() {
        return endOfFiles;
    }

    @Override
    public long begin() {
        return begin;
    }

    @Override
    public long end() {
        return end;
    }

    @Override
    public boolean showsAll() {
        return showsAll;
    }

    @Override
    public List<LogEntry> next() {
        try {
            for (FileChannelRecordBatch batch = nextBatch(); batch != null; batch = nextBatch()) {
                List<LogEntry> entries = entries(batch);
                if (!entries.isEmpty()) {
                    return entries; // The cleaner of a compacted topic leaves batches with gaps, and some without records.
                }
            }
            return List.of();
        } catch (IOException | KafkaException e) {
            throw new AuditException("cannot read " + segments.get(nextSegment - 1) + ": " + e.getMessage(),
                    "copy the directory to a disk that can be read", e);
        }
    }

    private @Nullable FileChannelRecordBatch nextBatch() throws IOException {
        while (true) {
            Iterator<FileChannelRecordBatch> here = batches;
            if (here != null && here.hasNext()) {
                FileChannelRecordBatch batch = here.next();
                return batch.baseOffset() >= end ? null : batch;
            }
            closeOpen();
            if (nextSegment >= segments.size()) {
                return null;
            }
            FileRecords records = FileRecords.open(segments.get(nextSegment++).toFile(), false);
            open = records;
            batches = records.batchesFrom(position).iterator();
            position = 0;
        }
    }

    private List<LogEntry> entries(FileChannelRecordBatch batch) {
        if (!batch.isValid()) {
            return List.of(new LogEntry.Damaged(batch.baseOffset(), batch.lastOffset(), "the checksum of its batch is wrong"));
        }
        if (batch.isControlBatch() || isAborted(batch)) {
            return List.of(new LogEntry.Passed(batch.baseOffset(), batch.lastOffset()));
        }
        List<LogEntry> entries = new ArrayList<>();
        for (Record record : batch) {
            if (record.offset() >= from) {
                entries.add(new LogEntry.Data(record.offset(), record.timestamp(), bytes(record.key()), bytes(record.value()), record.headers()));
            }
        }
        return entries;
    }

    private boolean isAborted(FileChannelRecordBatch batch) {
        List<Range> ranges = batch.isTransactional() ? aborted.get(batch.producerId()) : null;
        if (ranges == null) {
            return false;
        }
        // Transactions of a producer end in the order in which they began.
        ranges.removeIf(range -> range.marker < batch.baseOffset());
        return !ranges.isEmpty() && ranges.getFirst().first <= batch.baseOffset();
    }

    private static byte @Nullable [] bytes(@Nullable ByteBuffer buffer) {
        return buffer == null ? null : Utils.toArray(buffer);
    }

    private void closeOpen() throws IOException {
        FileRecords records = open;
        open = null;
        batches = null;
        if (records != null) {
            records.closeHandlers();
        }
    }

    @Override
    public void close() {
        try {
            closeOpen();
        } catch (IOException e) {
            throw new AuditException("cannot close a segment: " + e.getMessage(), "look at the disk", e);
        }
    }
}
