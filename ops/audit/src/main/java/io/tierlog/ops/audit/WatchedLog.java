/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.audit;

import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.LongAdder;

/**
 * A log that knows how much of it is read: of the partitions that were opened so far, from where to where. Those that are read as a whole topic do
 * not count. What a reader leaves out at the end counts no more once it closes the partition.
 */
public final class WatchedLog implements LogSource {
    private final LogSource log;
    private final LongAdder read = new LongAdder();
    private final LongAdder total = new LongAdder();

    /** A log, which is closed with this. */
    public WatchedLog(LogSource log) {
        this.log = log;
    }

    /** Offsets read so far, from any thread. */
    public long read() {
        return read.sum();
    }

    /** Offsets from the beginning to the end of what was opened so far, from any thread. */
    public long total() {
        return total.sum();
    }

    @Override
    public int partitions(String topic) {
        return log.partitions(topic);
    }

    @Override
    public Stream open(String topic, int partition) {
        return new Watched(log.open(topic, partition));
    }

    @Override
    public Stream open(String topic, int partition, long from) {
        return new Watched(log.open(topic, partition, from));
    }

    @Override
    public Stream openAll(String topic) {
        return log.openAll(topic);
    }

    @Override
    public Optional<String> topicId(String topic) {
        return log.topicId(topic);
    }

    @Override
    public List<Long> fileOffsets(String topic, int partition) {
        return log.fileOffsets(topic, partition);
    }

    @Override
    public Optional<String> batchChecksum(String topic, int partition, long from, long to) {
        return log.batchChecksum(topic, partition, from, to);
    }

    @Override
    public boolean isLive() {
        return log.isLive();
    }

    @Override
    public boolean endsAtOnce() {
        return log.endsAtOnce();
    }

    @Override
    public boolean hasPlacements() {
        return log.hasPlacements();
    }

    @Override
    public boolean hasTopic(String topic) {
        return log.hasTopic(topic);
    }

    @Override
    public void close() {
        log.close();
    }

    private final class Watched implements Stream {
        private final Stream stream;
        private long position;
        private boolean closed;

        Watched(Stream stream) {
            this.stream = stream;
            position = stream.begin();
            total.add(stream.end() - position);
        }

        @Override
        public List<LogEntry> next() {
            List<LogEntry> entries = stream.next();
            long reached = entries.isEmpty() ? stream.end() : entries.getLast().lastOffset() + 1;
            read.add(Math.max(0, reached - position));
            position = Math.max(position, reached);
            return entries;
        }

        @Override
        public long begin() {
            return stream.begin();
        }

        @Override
        public long end() {
            return stream.end();
        }

        @Override
        public boolean showsAll() {
            return stream.showsAll();
        }

        @Override
        public void close() {
            if (!closed) {
                closed = true;
                total.add(position - stream.end());
            }
            stream.close();
        }
    }
}
