/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.audit;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The committed records of one partition of a topic, with a look at the next one. Confined to one thread. */
public final class RecordCursor implements AutoCloseable {
    private final String topic;
    private final int partition;
    private final LogSource.Stream stream;
    private final Deque<LogEntry> ahead = new ArrayDeque<>();

    /**
     * The records of a partition from its first on.
     *
     * @throws AuditException when it cannot be read
     */
    public RecordCursor(LogSource source, String topic, int partition) {
        this(topic, partition, source.open(topic, partition));
    }

    /**
     * The records of a partition from an offset on.
     *
     * @throws AuditException when it cannot be read, or begins after that offset
     */
    public RecordCursor(LogSource source, String topic, int partition, long from) {
        this(topic, partition, source.open(topic, partition, from));
    }

    private RecordCursor(String topic, int partition, LogSource.Stream stream) {
        this.topic = topic;
        this.partition = partition;
        this.stream = stream;
    }

    /** Offset at which the partition begins, 0 unless records were deleted. */
    public long begin() {
        return stream.begin();
    }

    /** The offset after the last one that is read: the end when it was opened. */
    public long end() {
        return stream.end();
    }

    /**
     * The next record without taking it; null at the end.
     *
     * @throws AuditException when it cannot be read, or is damaged
     */
    public LogEntry.@Nullable Data peek() {
        while (true) {
            if (ahead.isEmpty()) {
                List<LogEntry> entries = stream.next();
                if (entries.isEmpty()) {
                    return null;
                }
                ahead.addAll(entries);
            }
            switch (ahead.getFirst()) {
                case LogEntry.Data data -> {
                    return data;
                }
                case LogEntry.Passed _ -> ahead.removeFirst();
                case LogEntry.Damaged damaged -> throw new AuditException(
                        topic + ", partition " + partition + ", offsets " + damaged.offset() + " to " + damaged.lastOffset() + ": "
                                + damaged.detail(),
                        "audit verify says what else is damaged");
            }
        }
    }

    /** The next record; null at the end. */
    public LogEntry.@Nullable Data next() {
        LogEntry.Data data = peek();
        if (data != null) {
            ahead.removeFirst();
        }
        return data;
    }

    @Override
    public void close() {
        stream.close();
    }
}
