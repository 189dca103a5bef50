/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.audit.state;

import io.tierlog.controller.core.api.DecideResult;
import io.tierlog.controller.core.invariant.LogInvariants;
import io.tierlog.controller.core.table.HeapTables;
import io.tierlog.controller.core.table.RowKey;
import io.tierlog.controller.core.table.Table;
import io.tierlog.events.Codec;
import io.tierlog.events.Schemas;
import io.tierlog.events.topic.Topics;
import io.tierlog.ops.audit.LogEntry;
import io.tierlog.ops.audit.MemoryLog;
import io.tierlog.ops.simulation.swarm.RandomLog;
import io.tierlog.ops.simulation.world.UndoTables;
import io.tierlog.ops.simulation.world.World;
import io.tierlog.schemas.WireRecord;
import io.tierlog.schemas.decision.Fact;
import io.tierlog.schemas.event.Event;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** The log of a random history, and what each of its events wrote into the tables of the simulated controller. */
final class SimulatedLog implements World.Watcher {
    static final Topics TOPICS = Topics.DEFAULT;

    final Codec codec = new Codec(Schemas.bundled());
    private final Map<Integer, List<LogEntry>> events = new TreeMap<>();
    private final Map<Integer, List<LogEntry>> decisions = new TreeMap<>();
    private final Map<Integer, List<Long>> causes = new TreeMap<>();
    /** By partition and offset of the event; one that is decided again after an abort replaces what it wrote first. */
    private final Map<Integer, TreeMap<Long, List<Written<?, ?>>>> written = new TreeMap<>();
    private long deciding;

    /** A row after an event. */
    record Written<K extends RowKey<K>, V extends WireRecord>(Table<K, V> table, K key, @Nullable V row) {
        static <K extends RowKey<K>, V extends WireRecord> Written<K, V> of(UndoTables.Touched<K, V> touched, HeapTables state) {
            return new Written<>(touched.table(), touched.key(), state.get(touched.table(), touched.key()));
        }

        void write(HeapTables tables) {
            if (row == null) {
                tables.delete(table, key);
            } else {
                tables.put(table, key, row);
            }
        }

        @Nullable V in(HeapTables tables) {
            return tables.get(table, key);
        }
    }

    static SimulatedLog of(long seed) {
        SimulatedLog log = new SimulatedLog();
        RandomLog.run(seed, log);
        return log;
    }

    @Override
    public void appended(int partition, long offset, Event event) {
        events.computeIfAbsent(partition, p -> new ArrayList<>())
                .add(new LogEntry.Data(offset, 1_000 + offset, null, codec.encode(TOPICS.events(), event)));
    }

    @Override
    public void decided(int partition, long offset, Event event, DecideResult decided) {
        deciding = offset;
    }

    @Override
    public void touched(int partition, HeapTables state, List<UndoTables.Touched<?, ?>> rows) {
        List<Written<?, ?>> after = new ArrayList<>();
        for (UndoTables.Touched<?, ?> row : rows) {
            after.add(Written.of(row, state));
        }
        written.computeIfAbsent(partition, p -> new TreeMap<>()).put(deciding, after);
    }

    @Override
    public void committed(int partition, long offset, Fact fact) {
        decisions.computeIfAbsent(partition, p -> new ArrayList<>())
                .add(new LogEntry.Data(offset, 1_000 + offset, null, codec.encode(TOPICS.decisions(), fact)));
        causes.computeIfAbsent(partition, p -> new ArrayList<>()).add(LogInvariants.causeOffset(fact));
    }

    /** The log, as the audit reads it. */
    MemoryLog log() {
        MemoryLog log = new MemoryLog();
        decisions.forEach((partition, entries) -> {
            log.withPartition(TOPICS.decisions(), entries);
            log.withPartition(TOPICS.events(), events.getOrDefault(partition, List.of()));
        });
        return log;
    }

    int partitions() {
        return decisions.size();
    }

    /** Committed decisions of a partition. */
    int decisions(int partition) {
        return decisions.getOrDefault(partition, List.of()).size();
    }

    /** Offset of the event that a decision answers. */
    long cause(int partition, int offset) {
        return causes.getOrDefault(partition, List.of()).get(offset);
    }

    /** Whether a decision is the last one that answers its event. */
    boolean isLast(int partition, int offset) {
        return offset + 1 == decisions(partition) || cause(partition, offset + 1) != cause(partition, offset);
    }

    /** What the event at an offset wrote, the last value of each row. */
    List<Written<?, ?>> written(int partition, long event) {
        Map<Object, Written<?, ?>> last = new LinkedHashMap<>();
        written.getOrDefault(partition, new TreeMap<>()).getOrDefault(event, List.of())
                .forEach(row -> last.put(List.of(row.table(), row.key()), row));
        return List.copyOf(last.values());
    }
}
