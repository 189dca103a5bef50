/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.audit;

import java.util.List;

/** The entries of a stream from an offset on. Confined to one thread. */
record StreamFrom(LogSource.Stream all, long from) implements LogSource.Stream {
    @Override
    public List<LogEntry> next() {
        List<LogEntry> entries = all.next();
        while (!entries.isEmpty() && entries.getLast().lastOffset() < from) {
            entries = all.next();
        }
        return entries.isEmpty() || entries.getFirst().offset() >= from
                ? entries
                : entries.stream().filter(entry -> entry.lastOffset() >= from).toList();
    }

    @Override
    public long begin() {
        return from;
    }

    @Override
    public long end() {
        return Math.max(from, all.end());
    }

    @Override
    public boolean showsAll() {
        return all.showsAll();
    }

    @Override
    public void close() {
        all.close();
    }
}
