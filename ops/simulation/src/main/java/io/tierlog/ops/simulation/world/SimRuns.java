/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.simulation.world;

import io.tierlog.controller.core.table.HeapTables;
import io.tierlog.controller.core.table.OrderedBytes;
import io.tierlog.controller.core.table.RowKey;
import io.tierlog.controller.core.table.Rows;
import io.tierlog.controller.core.table.StoredRows;
import io.tierlog.controller.core.table.Tables;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.state.PlacementRow;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The stored runs of placements, bytes with one transaction; it outlives the instances of the controller. Each write is decoded, and shown row by row
 * to what checks placements. For one thread.
 */
final class SimRuns implements OrderedBytes {
    private final TreeMap<Bytes, byte[]> rows = new TreeMap<>();
    private final List<Written> undo = new ArrayList<>();
    private final Map<Bytes, byte[]> before = new LinkedHashMap<>();
    private Tables shown = new HeapTables();

    /** A write since the last commit, and what was there before. */
    @SuppressWarnings("ArrayRecordComponent") // Never compared.
    private record Written(Bytes key, byte @Nullable [] before) {}

    /** Empty. */
    SimRuns() {}

    /** A copy: the same rows from here on on their own, all of them committed. */
    SimRuns(SimRuns other) {
        rows.putAll(other.rows);
    }

    /** From here on writes are shown in {@code tables}, which have all placements that are here. */
    void show(HeapTables all, Tables tables) {
        Map<RowKey.Placement, PlacementRow> here = new LinkedHashMap<>();
        rows.forEach((key, run) -> here.putAll(StoredRows.placements(key.unshared(), run)));
        if (!here.equals(all.rows(Rows.PLACEMENTS))) {
            throw new IllegalStateException("I13: stored runs and the fold of the decisions: " + here + " and " + all.rows(Rows.PLACEMENTS));
        }
        shown = tables;
    }

    /** What was written stays. */
    void commit() {
        undo.clear();
    }

    /** What was written since the last commit never was. */
    void abort() {
        for (Written one : undo.reversed()) {
            if (one.before() == null) {
                rows.remove(one.key());
            } else {
                rows.put(one.key(), one.before());
            }
        }
        undo.clear();
    }

    @Override
    public byte @Nullable [] get(byte[] key) {
        return rows.get(Bytes.copyOf(key));
    }

    @Override
    public void put(byte[] key, byte[] value) {
        write(Bytes.copyOf(key), value);
    }

    @Override
    public void delete(byte[] key) {
        write(Bytes.copyOf(key), null);
    }

    private void write(Bytes key, byte @Nullable [] value) {
        byte[] old = value == null ? rows.remove(key) : rows.put(key, value);
        undo.add(new Written(key, old));
        before.putIfAbsent(key, old == null ? new byte[0] : old);
    }

    /** Shows the change of all placements at once, since a block may have gone from one run to another. */
    @Override
    public void together(Runnable writes) {
        before.clear();
        writes.run();
        Map<RowKey.Placement, PlacementRow> now = new LinkedHashMap<>();
        before.keySet().forEach(key -> {
            byte[] run = rows.get(key);
            now.putAll(run == null ? Map.of() : StoredRows.placements(key.unshared(), run));
        });
        before.forEach((key, run) -> {
            for (RowKey.Placement gone : run.length == 0 ? List.<RowKey.Placement>of() : StoredRows.placements(key.unshared(), run).keySet()) {
                if (!now.containsKey(gone)) {
                    shown.delete(Rows.PLACEMENTS, gone);
                }
            }
        });
        now.forEach((key, row) -> {
            if (!row.equals(shown.get(Rows.PLACEMENTS, key))) {
                shown.put(Rows.PLACEMENTS, key, row);
            }
        });
    }

    @Override
    public Cursor range(byte[] fromInclusive, byte[] toExclusive) {
        Iterator<Map.Entry<Bytes, byte[]>> found = rows.subMap(Bytes.copyOf(fromInclusive), Bytes.copyOf(toExclusive)).entrySet().iterator();
        return new Cursor() {
            private Map.@Nullable Entry<Bytes, byte[]> row;

            @Override
            public boolean next() {
                row = found.hasNext() ? found.next() : null;
                return row != null;
            }

            @Override
            public byte[] key() {
                return Objects.requireNonNull(row, "no row").getKey().unshared();
            }

            @Override
            public byte[] value() {
                return Objects.requireNonNull(row, "no row").getValue();
            }

            @Override
            public void close() {
                // Nothing is open.
            }
        };
    }
}
