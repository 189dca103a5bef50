/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.table;

import io.tierlog.schemas.WireRecord;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Tables that keep rows decoded between inputs and write them behind to other tables.
 *
 * <p>The tables beneath are complete only after {@link #flush}, which the shell calls before it commits; {@link #writeBehind}, called every few
 * milliseconds, writes the rows that rest, so that a commit has little left to write. A range over a table shows its changed rows among the stored
 * ones. Of queues only changed rows are kept, or whole short ones. After an aborted transaction these tables must be dropped: they hold what was
 * never committed.
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
    private final List<BehindRows<?, ?>> rows;
    private long round;

    /** Tables over {@code beneath} with a bound for each table; 0 keeps nothing between inputs. */
    public WriteBehindTables(Tables beneath, int bound) {
        this.beneath = beneath;
        rows = Rows.ALL.stream().<BehindRows<?, ?>>map(table -> behind(table, bound)).toList();
    }

    private <K extends RowKey<K>, V extends WireRecord> BehindRows<K, V> behind(Table<K, V> table, int bound) {
        BehindRows.Store<K, V> store = new BehindRows.Store<>() {
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
        };
        return table.isKept() ? new KeptRows<>(store, bound, table::weight) : new QueueRows<>(store, bound, table::weight);
    }

    @Override
    public <K extends RowKey<K>, V extends WireRecord> @Nullable V get(Table<K, V> table, K key) {
        return rows(table).get(key);
    }

    @Override
    public <K extends RowKey<K>, V extends WireRecord> void put(Table<K, V> table, K key, V value) {
        rows(table).put(key, value, round);
    }

    @Override
    public <K extends RowKey<K>, V extends WireRecord> void delete(Table<K, V> table, K key) {
        rows(table).put(key, null, round);
    }

    @Override
    public <K extends RowKey<K>, V extends WireRecord> Scan<K, V> range(Table<K, V> table, K fromInclusive, @Nullable K toExclusive) {
        return switch (rows(table)) {
            case QueueRows<K, V> queue -> {
                K first = table.first(fromInclusive.aggregate());
                boolean all = first != null && queue.hasAll(first.aggregate(), () -> beneath.range(table, first, null));
                yield over(all ? Scan.none() : beneath.range(table, fromInclusive, toExclusive), queue.range(fromInclusive, toExclusive));
            }
            case KeptRows<K, V> kept -> over(
                    beneath.range(table, fromInclusive, toExclusive),
                    kept.unwritten() == 0 ? Collections.emptyIterator() : changed(kept, fromInclusive, toExclusive));
        };
    }

    private static <K extends RowKey<K>, V> Scan<K, V> over(Scan<K, V> stored, Iterator<Map.Entry<K, @Nullable V>> rows) {
        return rows.hasNext() ? new ChangedRange<>(stored, rows) : stored;
    }

    private static <K extends RowKey<K>, V> Iterator<Map.Entry<K, @Nullable V>> changed(KeptRows<K, V> rows, K from, @Nullable K to) {
        List<Map.Entry<K, @Nullable V>> changed = rows.changed(key -> key.aggregate().equals(from.aggregate())
                && key.order(from) >= 0 && (to == null || key.order(to) < 0));
        changed.sort((a, b) -> a.getKey().order(b.getKey()));
        return changed.iterator();
    }

    @Override
    public void inputDone() {
        rows.forEach(BehindRows::trim);
        beneath.inputDone();
    }

    /** Writes all that is kept back: the tables beneath are complete. */
    public void flush() {
        beneath.together(() -> rows.forEach(BehindRows::flush));
    }

    /** Rows that the tables beneath do not have as they are. */
    public int unwritten() {
        int sum = 0;
        for (BehindRows<?, ?> table : rows) {
            sum += table.unwritten();
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
        for (BehindRows<?, ?> table : rows) {
            if (left > 0) {
                left -= table.writeUnchanged(round - REST, left);
            }
        }
    }

    @SuppressWarnings("unchecked") // the constructor puts the rows of each table under its number, which counts from 1
    private <K extends RowKey<K>, V extends WireRecord> BehindRows<K, V> rows(Table<K, V> table) {
        return (BehindRows<K, V>) rows.get(table.number() - 1);
    }
}
