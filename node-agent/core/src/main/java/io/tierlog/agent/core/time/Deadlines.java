/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core.time;

import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * What ends when, at most one end for each key. Due keys come out by time, then in the order in which they were set, so that a run can be
 * repeated exactly.
 *
 * <p>For one thread. Trade-off: one tree node and one map entry for each key, O(log n) for every change.
 *
 * @param <K> what has an end; equal keys are one key
 */
public final class Deadlines<K> {
    private record Slot(long atMs, long order) {}

    private final TreeMap<Slot, K> byTime = new TreeMap<>(Comparator.comparingLong(Slot::atMs).thenComparingLong(Slot::order));
    private final Map<K, Slot> slots = new LinkedHashMap<>();
    private long orders;

    /** From here on {@code key} ends at {@code atMs}, whatever was set before. */
    public void set(K key, long atMs) {
        clear(key);
        Slot slot = new Slot(atMs, orders++);
        slots.put(key, slot);
        byTime.put(slot, key);
    }

    /** Removes the deadline of {@code key}; nothing when it has none. */
    public void clear(K key) {
        Slot slot = slots.remove(key);
        if (slot != null) {
            byTime.remove(slot);
        }
    }

    /** Removes all deadlines. */
    public void clearAll() {
        slots.clear();
        byTime.clear();
    }

    /** The earliest end, or {@link Long#MAX_VALUE} when there is none. */
    public long nextMs() {
        return byTime.isEmpty() ? Long.MAX_VALUE : byTime.firstKey().atMs();
    }

    /** Takes one key whose end is not after {@code nowMs}. */
    public Optional<K> pollDue(long nowMs) {
        if (nextMs() > nowMs) {
            return Optional.empty();
        }
        K key = byTime.pollFirstEntry().getValue();
        slots.remove(key);
        return Optional.of(key);
    }

    /** True when {@code key} has an end. */
    public boolean contains(K key) {
        return slots.containsKey(key);
    }

    /** Number of keys with an end. */
    public int size() {
        return slots.size();
    }
}
