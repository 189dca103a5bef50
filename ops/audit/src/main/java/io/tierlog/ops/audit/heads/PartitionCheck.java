/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.audit.heads;

import io.tierlog.ops.audit.LogEntry;
import io.tierlog.ops.audit.LogSource;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.head.Stretch;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.function.Consumer;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;

/** Compares the records of one partition with what heads say of it. One thread at a time. Memory: one read of the log. */
final class PartitionCheck {
    private final LogSource source;
    private final TopicPartition place;
    private final HeadFindings findings;
    private boolean isOpened;
    /** First offset of the log. */
    private long begin;
    /** The offset after the last committed record. */
    private long end;
    /** First offset that a head covers, -1 before the first head. */
    private long first = -1;
    /** Where the stretch of the last head ends, -1 when that is not known. */
    private long next = -1;
    private boolean isCut;
    private long records;
    private long stretches;
    private long unchecked;
    private long after;
    private long lastMs;

    PartitionCheck(LogSource source, TopicPartition place, HeadFindings findings) {
        this.source = source;
        this.place = place;
        this.findings = findings;
    }

    /** What a head says of this partition. */
    record Part(Stretch stretch, HeadChain.Link link) {}

    /** Begin and end of the partition are fixed after those of the heads: a head that was read has its records. */
    private void open() {
        if (isOpened) {
            return;
        }
        isOpened = true;
        try (LogSource.Stream all = source.open(place.topic(), place.partition())) {
            begin = all.begin();
            end = all.end();
        }
        // A file without records is called by the offset that its first one will have.
        List<Long> files = source.fileOffsets(place.topic(), place.partition());
        if (!files.isEmpty()) {
            begin = Math.max(begin, files.getFirst());
            end = Math.max(end, files.getLast());
        }
    }

    /** Compares what further heads say, in their order. */
    void check(List<Part> parts) {
        open();
        try (Records read = new Records()) {
            parts.forEach(part -> check(part, read));
        }
    }

    private void check(Part part, Records read) {
        Stretch stretch = part.stretch();
        if (part.link().isKnown()) {
            first = stretch.end();
            next = stretch.end();
            return;
        }
        follow(part);
        if (stretch.end() == stretch.begin()) {
            return;
        }
        if (stretch.begin() < begin) {
            unchecked++;
        } else if (stretch.end() > end) {
            cut(part);
        } else {
            compare(part, read);
        }
    }

    /** A stretch begins where the one before ends, or where the log began when its beginning was trimmed before it was signed. */
    private void follow(Part part) {
        Stretch stretch = part.stretch();
        boolean isGap = stretch.begin() > next && begin < stretch.begin();
        if (part.link().follows() && next >= 0 && (isGap || stretch.begin() < next)) {
            say(part, Math.min(next, stretch.begin()), part.link().name() + " begins at offset " + stretch.begin()
                    + ", and the head before ends at offset " + next);
        }
        first = first < 0 ? stretch.begin() : first;
        next = stretch.end();
    }

    private void cut(Part part) {
        if (!isCut) {
            isCut = true;
            say(part, end, "partition " + place.partition() + " of " + place.topic() + " ends at offset " + end + ", and " + part.link().name()
                    + " has it up to offset " + part.stretch().end() + ": the end was cut off or lost");
        }
    }

    private void compare(Part part, Records read) {
        Stretch stretch = part.stretch();
        StretchDigest digest = new StretchDigest();
        String damage = read.take(stretch.begin(), stretch.end(), digest::add);
        long found = digest.records();
        Bytes sum = digest.take();
        String those = "records " + stretch.begin() + " to " + (stretch.end() - 1);
        if (!damage.isEmpty()) {
            say(part, stretch.begin(), those + " cannot be compared with " + part.link().name() + ": " + damage);
        } else if (found != stretch.records()) {
            say(part, stretch.begin(), those + " are not those of " + part.link().name() + ": it has " + stretch.records()
                    + " of them, and there are " + found);
        } else if (!sum.equals(stretch.digest())) {
            say(part, stretch.begin(), those + " are not those of " + part.link().name() + ": of " + found + " at least one was altered");
        } else {
            stretches++;
            records += found;
        }
    }

    private void say(Part part, long offset, String detail) {
        findings.add(place.topic(), place.partition(), offset, part.link().head().timeMs(), detail);
    }

    /** What is behind the last head. {@code read}: also look at its records. */
    void tail(boolean read) {
        open();
        long from = Math.max(next, begin);
        after = Math.max(0, end - from);
        if (read && after > 0) {
            try (Records tail = new Records()) {
                tail.take(from, end, record -> lastMs = Math.max(lastMs, record.timestampMs()));
            }
        }
    }

    /** Records that are as signed. */
    long records() {
        return records;
    }

    /** Stretches that are as signed. */
    long stretches() {
        return stretches;
    }

    /** Stretches that are trimmed, all or some of their records. */
    long unchecked() {
        return unchecked;
    }

    /** Offsets before the first head. */
    long before() {
        return first < 0 ? 0 : Math.max(0, first - begin);
    }

    /** Offsets after the last head. */
    long after() {
        return after;
    }

    /** When the last record after the last head was appended, milliseconds since 1970; 0 when there is none. */
    long lastMs() {
        return lastMs;
    }

    /** The records from a stretch on; opened by the first one. */
    private final class Records implements AutoCloseable {
        private LogSource.@Nullable Stream stream;
        private final Deque<LogEntry> ahead = new ArrayDeque<>();

        /** Takes the records between two offsets; the next call begins there or later. Returns what is damaged, empty for nothing. */
        String take(long from, long to, Consumer<LogEntry.Data> sink) {
            LogSource.Stream open = stream;
            if (open == null) {
                open = source.open(place.topic(), place.partition(), from);
                stream = open;
            }
            String damage = "";
            while (true) {
                if (ahead.isEmpty()) {
                    ahead.addAll(open.next());
                }
                LogEntry entry = ahead.peekFirst();
                if (entry == null || entry.offset() >= to) {
                    return damage;
                }
                ahead.removeFirst();
                switch (entry) {
                    case LogEntry.Data data -> {
                        if (data.offset() >= from) {
                            sink.accept(data);
                        }
                    }
                    case LogEntry.Passed _ -> {}
                    case LogEntry.Damaged damaged -> damage = "records " + damaged.offset() + " to " + damaged.lastOffset() + ": " + damaged.detail();
                }
            }
        }

        @Override
        public void close() {
            if (stream != null) {
                stream.close();
            }
        }
    }
}
