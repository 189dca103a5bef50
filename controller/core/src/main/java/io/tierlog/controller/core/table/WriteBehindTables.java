/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.table;

import io.tierlog.schemas.WireRecord;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Tables that keep rows decoded between inputs and write them behind to other tables.
 *
 * <p>The tables beneath are complete only after {@link #flush}, which the shell calls before it commits; {@link #writeBehind}, called every few
 * milliseconds, writes the rows that rest, so that a commit has little left to write. A range over a table shows its changed rows among the stored
 * ones. Tables that are queues pass through. After an aborted transaction these tables must be dropped: they hold what was never committed.
 *
 * <p>Confined to one thread. Trade-off: heap, at most {@value #KEPT} rows or blocks in rows for each table, and what one input brings on top.
 */
public final class WriteBehindTables implements Tables {
    /** Bound of each table, in rows; a row that lists blocks counts as so many more. */
    public static final int KEPT = 16_384;

    /** A row that did not change for so many calls of {@link #writeBehind} is written. */
    private static final int REST = 5;

    /** A call writes at most this part of the changed rows, or its least number if that is more. */
    private static final int PART = 4;

    private final Tables beneath;
    private final @Nullable KeptRows<?, ?>[] kept = new KeptRows<?, ?>[Rows.ALL.size() + 1];
    private long round;

    /** Tables over {@code beneath} with a bound for each table; 0 keeps nothing between inputs. */
    public WriteBehindTables(Tables beneath, int bound) {
        this.beneath = beneath;
        for (Table<?, ?> table : Rows.ALL) {
            kept[table.number()] = table.isKept() ? keep(table, bound) : null;
        }
    }

    private <K extends RowKey<K>, V extends WireRecord> KeptRows<K, V> keep(Table<K, V> table, int bound) {
        return new KeptRows<>(new KeptRows.Store<>() {
            @Override
            public @Nullable V read(K key) {
                return beneath.get(table, key);
            }

            @Override
            public void write(K key, @Nullable V row) {
                if (row == null) {
                    beneath.delete(table, key);
                } else {
                    beneath.put(table, key, row);
                }
            }
        }, bound, table::weight);
    }

    @Override
    public <K extends RowKey<K>, V extends WireRecord> @Nullable V get(Table<K, V> table, K key) {
        KeptRows<K, V> rows = rows(table);
        return rows == null ? beneath.get(table, key) : rows.get(key);
    }

    @Override
    public <K extends RowKey<K>, V extends WireRecord> void put(Table<K, V> table, K key, V value) {
        KeptRows<K, V> rows = rows(table);
        if (rows == null) {
            beneath.put(table, key, value);
        } else {
            rows.put(key, value, round);
        }
    }

    @Override
    public <K extends RowKey<K>, V extends WireRecord> void delete(Table<K, V> table, K key) {
        KeptRows<K, V> rows = rows(table);
        if (rows == null) {
            beneath.delete(table, key);
        } else {
            rows.put(key, null, round);
        }
    }

    @Override
    public <K extends RowKey<K>, V extends WireRecord> Scan<K, V> range(Table<K, V> table, K fromInclusive, @Nullable K toExclusive) {
        KeptRows<K, V> rows = rows(table);
        Scan<K, V> stored = beneath.range(table, fromInclusive, toExclusive);
        if (rows == null || rows.unwritten() == 0) {
            return stored;
        }
        List<Map.Entry<K, @Nullable V>> changed = rows.changed(key -> key.aggregate().equals(fromInclusive.aggregate())
                && key.order(fromInclusive) >= 0 && (toExclusive == null || key.order(toExclusive) < 0));
        return changed.isEmpty() ? stored : new ChangedRange<>(stored, changed);
    }

    @Override
    public void inputDone() {
        each(KeptRows::trim);
        beneath.inputDone();
    }

    /** Writes all that is kept back: the tables beneath are complete. */
    public void flush() {
        beneath.together(() -> each(KeptRows::flush));
    }

    private void each(Consumer<KeptRows<?, ?>> action) {
        for (KeptRows<?, ?> rows : kept) {
            if (rows != null) {
                action.accept(rows);
            }
        }
    }

    /** Rows that the tables beneath do not have as they are. */
    public int unwritten() {
        int sum = 0;
        for (KeptRows<?, ?> rows : kept) {
            sum += rows == null ? 0 : rows.unwritten();
        }
        return sum;
    }

    /**
     * Writes rows that did not change during the last {@value #REST} calls.
     *
     * @param least most rows to write, or more when many wait
     */
    public void writeBehind(int least) {
        round++;
        beneath.together(() -> writeUnchanged(Math.max(least, unwritten() / PART)));
    }

    private void writeUnchanged(int most) {
        int left = most;
        for (KeptRows<?, ?> rows : kept) {
            if (rows != null && left > 0) {
                left -= rows.writeUnchanged(round - REST, left);
            }
        }
    }

    @SuppressWarnings("unchecked") // the constructor puts the rows of each table under its number
    private <K extends RowKey<K>, V extends WireRecord> @Nullable KeptRows<K, V> rows(Table<K, V> table) {
        return (KeptRows<K, V>) kept[table.number()];
    }
}
