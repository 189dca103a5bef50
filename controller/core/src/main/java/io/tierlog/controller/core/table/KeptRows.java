/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.table;

import java.util.AbstractMap.SimpleImmutableEntry;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;

/**
 * Rows of one kind, kept decoded between a decider and their store, and written behind.
 *
 * <p>A row is read once and then kept until newer ones need its space; a missing row is kept as missing. A changed row is written when its space
 * is needed, when {@link #writeUnchanged} finds that it did not change for a while, or at {@link #flush}. So the store is complete only after
 * {@code flush}, and this must be the only writer of its keys. Confined to one thread.
 *
 * @param <K> their keys
 * @param <V> the rows
 */
public final class KeptRows<K, V> implements BehindRows<K, V> {
    private final Store<K, V> store;
    private final ToIntFunction<? super V> weigher;
    private final long bound;
    /** All kept rows, the one that was not used for longest first. */
    private final Map<K, Slot<K, V>> slots = new LinkedHashMap<>(16, 0.75f, true);
    /** The ring of changed rows: behind it the one that was not changed for longest. */
    private final Slot<K, V> changed = new Slot<>(null);

    private long weight;
    private int unwritten;

    /**
     * Rows over {@code store}.
     *
     * @param bound most weight that stays after {@link #trim}; 0 keeps nothing
     * @param weigher weight of a row, at least 1; a missing row weighs 1
     */
    public KeptRows(Store<K, V> store, long bound, ToIntFunction<? super V> weigher) {
        this.store = store;
        this.bound = bound;
        this.weigher = weigher;
    }

    /** A row as it is now; in the ring while the store does not have it so. */
    private static final class Slot<K, V> {
        private final @Nullable K key;
        private @Nullable V row;
        private int weight;
        private long round;
        private Slot<K, V> before = this;
        private Slot<K, V> after = this;

        Slot(@Nullable K key) {
            this.key = key;
        }

        K key() {
            if (key == null) {
                throw new IllegalStateException("The ring itself is not a row");
            }
            return key;
        }

        boolean isChanged() {
            return after != this;
        }

        void unlink() {
            before.after = after;
            after.before = before;
            before = this;
            after = this;
        }

        void linkBefore(Slot<K, V> next) {
            before = next.before;
            after = next;
            before.after = this;
            next.before = this;
        }
    }

    @Override
    public @Nullable V get(K key) {
        Slot<K, V> slot = slots.get(key);
        if (slot == null) {
            // Read first: a row that cannot be read must not be kept as missing.
            V row = store.read(key);
            slot = new Slot<>(key);
            set(slot, row);
            slots.put(key, slot);
        }
        return slot.row;
    }

    @Override
    public void put(K key, @Nullable V row, long round) {
        Slot<K, V> slot = slots.get(key);
        if (slot == null) {
            slot = new Slot<>(key);
            slots.put(key, slot);
        }
        set(slot, row);
        slot.round = round;
        if (slot.isChanged()) {
            slot.unlink();
        } else {
            unwritten++;
        }
        slot.linkBefore(changed);
    }

    private void set(Slot<K, V> slot, @Nullable V row) {
        int now = row == null ? 1 : weigher.applyAsInt(row);
        weight += now - slot.weight;
        slot.weight = now;
        slot.row = row;
    }

    @Override
    public int unwritten() {
        return unwritten;
    }

    /** The rows that the store does not have as they are, whose key passes, in no particular order; null for a removed row. */
    public List<Map.Entry<K, @Nullable V>> changed(Predicate<? super K> keys) {
        List<Map.Entry<K, @Nullable V>> found = new ArrayList<>();
        for (Slot<K, V> slot = changed.after; slot != changed; slot = slot.after) {
            K key = slot.key();
            if (keys.test(key)) {
                found.add(new SimpleImmutableEntry<>(key, slot.row));
            }
        }
        return found;
    }

    @Override
    public int writeUnchanged(long round, int most) {
        int written = 0;
        while (written < most && changed.after != changed && changed.after.round < round) {
            write(changed.after);
            written++;
        }
        return written;
    }

    /** Writes all changed rows, and keeps them. */
    @Override
    public void flush() {
        while (changed.after != changed) {
            write(changed.after);
        }
    }

    /** Drops the rows that were not used for longest until the bound is met; a changed one is written first. */
    @Override
    public void trim() {
        if (weight <= bound) {
            return;
        }
        Iterator<Slot<K, V>> oldest = slots.values().iterator();
        while (weight > bound && oldest.hasNext()) {
            Slot<K, V> slot = oldest.next();
            if (slot.isChanged()) {
                write(slot);
            }
            weight -= slot.weight;
            oldest.remove();
        }
    }

    private void write(Slot<K, V> slot) {
        store.write(slot.key(), slot.row);
        slot.unlink();
        unwritten--;
    }
}
