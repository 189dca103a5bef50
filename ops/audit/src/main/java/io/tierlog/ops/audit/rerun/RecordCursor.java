/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.audit.rerun;

import io.tierlog.ops.audit.AuditException;
import io.tierlog.ops.audit.LogEntry;
import io.tierlog.ops.audit.LogSource;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The committed records of one partition of a topic, with a look at the next one. Confined to one thread. */
final class RecordCursor implements AutoCloseable {
    private final String topic;
    private final int partition;
    private final LogSource.Stream stream;
    private final Deque<LogEntry> ahead = new ArrayDeque<>();

    /**
     * The records of a partition from its first on.
     *
     * @throws AuditException when it cannot be read, or does not begin at offset 0
     */
    RecordCursor(LogSource source, String topic, int partition) {
        this.topic = topic;
        this.partition = partition;
        this.stream = source.open(topic, partition);
        if (stream.begin() > 0) {
            long begin = stream.begin();
            stream.close();
            throw new AuditException(topic + ", partition " + partition + " begins at offset " + begin + ", and a rerun needs all records",
                    "rerun a log that nothing was deleted from; audit verify reads any log");
        }
    }

    /**
     * The next record without taking it; null at the end.
     *
     * @throws AuditException when it cannot be read, or is damaged
     */
    LogEntry.@Nullable Data peek() {
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
    LogEntry.@Nullable Data next() {
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
