/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.audit;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** A log in memory, which can fail when it is read. */
public final class MemoryLog implements LogSource {
    private final Map<String, List<List<LogEntry>>> topics = new LinkedHashMap<>();
    private boolean broken;
    private boolean running;

    /** The entries of the one partition of a topic. */
    public MemoryLog with(String topic, List<LogEntry> entries) {
        topics.put(topic, List.of(new ArrayList<>(entries)));
        return this;
    }

    /** The entries of one more partition of a topic. */
    public MemoryLog withPartition(String topic, List<LogEntry> entries) {
        topics.computeIfAbsent(topic, any -> new ArrayList<>()).add(entries);
        return this;
    }

    /** It says that a cluster writes to it. */
    MemoryLog running() {
        running = true;
        return this;
    }

    /** From now on every read fails. */
    MemoryLog broken() {
        broken = true;
        return this;
    }

    @Override
    public int partitions(String topic) {
        if (!topics.containsKey(topic)) {
            throw new AuditException("there is no topic " + topic, "make it");
        }
        return topics.get(topic).size();
    }

    @Override
    public Stream open(String topic, int partition) {
        List<LogEntry> entries = topics.getOrDefault(topic, List.of(List.of())).get(partition);
        return new Stream() {
            private int next;

            @Override
            public List<LogEntry> next() {
                if (broken) {
                    throw new AuditException("the memory of " + topic + " is broken", "mend it");
                }
                List<LogEntry> batch = entries.subList(next, Math.min(entries.size(), next + 2));
                next += batch.size();
                return batch;
            }

            @Override
            public long begin() {
                return entries.isEmpty() ? 0 : entries.getFirst().offset();
            }

            @Override
            public long end() {
                return entries.isEmpty() ? 0 : entries.getLast().lastOffset() + 1;
            }

            @Override
            public boolean showsAll() {
                return true;
            }

            @Override
            public void close() {}
        };
    }

    @Override
    public Stream open(String topic, int partition, long from) {
        Stream all = open(topic, partition);
        if (all.begin() > from) {
            throw TrimmedLog.before(topic, partition, all.begin(), from);
        }
        return new StreamFrom(all, from);
    }

    @Override
    public Stream openAll(String topic) {
        return open(topic, 0);
    }

    @Override
    public boolean isLive() {
        return running;
    }

    @Override
    public boolean hasTopic(String topic) {
        return topics.containsKey(topic);
    }

    @Override
    public void close() {}
}
