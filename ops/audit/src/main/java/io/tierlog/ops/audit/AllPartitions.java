/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.audit;

import java.util.List;

/** The partitions of a topic, one after the other. Each partition has its own offsets. */
final class AllPartitions implements LogSource.Stream {
    private final LogSource source;
    private final String topic;
    private final int partitions;
    private int partition;
    private LogSource.Stream open;

    AllPartitions(LogSource source, String topic, int partitions) {
        this.source = source;
        this.topic = topic;
        this.partitions = partitions;
        this.open = source.open(topic, 0);
    }

    @Override
    public List<LogEntry> next() {
        List<LogEntry> entries = open.next();
        while (entries.isEmpty() && partition + 1 < partitions) {
            open.close();
            open = source.open(topic, ++partition);
            entries = open.next();
        }
        return entries;
    }

    @Override
    public long begin() {
        return open.begin();
    }

    @Override
    public long end() {
        return open.end();
    }

    @Override
    public boolean showsAll() {
        return open.showsAll();
    }

    @Override
    public void close() {
        open.close();
    }
}
