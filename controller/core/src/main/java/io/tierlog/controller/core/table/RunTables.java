/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.table;

import io.tierlog.schemas.WireRecord;
import io.tierlog.schemas.state.PlacementRow;
import org.jspecify.annotations.Nullable;

/**
 * Tables over a store of bytes, in which placements are in memory and stored as runs: see {@link PlacementRuns}. Rows of all other tables are read
 * and written one by one.
 *
 * <p>The store has all placements after {@link #together}. {@link WriteBehindTables} on top writes in batches. Confined to one thread.
 */
public final class RunTables implements Tables {
    /** More changed runs than that are written after an input. */
    private static final int MOST_CHANGED = 4_096;

    private final OrderedBytes store;
    private final Tables others;
    private final PlacementRuns placements;

    public RunTables(OrderedBytes store) {
        this(store, new BytesTables(store));
    }

    /**
     * Tables with all but the placements somewhere else.
     *
     * @param store of the runs
     * @param others all other tables
     */
    public RunTables(OrderedBytes store, Tables others) {
        this.store = store;
        this.others = others;
        this.placements = new PlacementRuns(store);
    }

    /** The placements. */
    public PlacementRuns placements() {
        return placements;
    }

    @Override
    @SuppressWarnings("unchecked") // only the table of placements has keys of that type, and its rows are these
    public <K extends RowKey<K>, V extends WireRecord> @Nullable V get(Table<K, V> table, K key) {
        return key instanceof RowKey.Placement block ? (V) placements.get(block) : others.get(table, key);
    }

    @Override
    public <K extends RowKey<K>, V extends WireRecord> void put(Table<K, V> table, K key, V value) {
        if (key instanceof RowKey.Placement block) {
            placements.put(block, (PlacementRow) (WireRecord) value);
        } else {
            others.put(table, key, value);
        }
    }

    @Override
    public <K extends RowKey<K>, V extends WireRecord> void delete(Table<K, V> table, K key) {
        if (key instanceof RowKey.Placement block) {
            placements.delete(block);
        } else {
            others.delete(table, key);
        }
    }

    @Override
    @SuppressWarnings("unchecked") // as in get
    public <K extends RowKey<K>, V extends WireRecord> Scan<K, V> range(Table<K, V> table, K fromInclusive, @Nullable K toExclusive) {
        return fromInclusive instanceof RowKey.Placement from
                ? (Scan<K, V>) placements.range(from, (RowKey.Placement) toExclusive)
                : others.range(table, fromInclusive, toExclusive);
    }

    @Override
    public void together(Runnable writes) {
        store.together(() -> {
            writes.run();
            placements.writeChanged();
        });
    }

    @Override
    public void inputDone() {
        others.inputDone();
        if (placements.unwritten() > MOST_CHANGED) {
            together(() -> {});
        }
    }
}
