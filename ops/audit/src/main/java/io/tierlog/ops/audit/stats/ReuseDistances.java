/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.audit.stats;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Reuse distances of a sequence of accesses: how many other keys were accessed since the last access to the same one. A cache with LRU order hits
 * when it holds more keys than that.
 *
 * <p>Each key has a mark at its last access; the distance is the number of marks behind it, summed by a binary indexed tree in logarithmic time.
 * When the positions run out, the marks get the first positions again. Memory: some 100 bytes for each key, {@value #MAX_KEYS} keys at most; then
 * the half that was not used for the longest time is forgotten, and counts as new. Not thread-safe.
 */
final class ReuseDistances<K> {
    static final int MAX_KEYS = 2_000_000;

    /** The distance of a first access. */
    static final long FIRST = -1;

    private final int limit;
    private final Map<K, Integer> positions = new HashMap<>();
    private int[] tree;
    private int next = 1;

    ReuseDistances() {
        this(MAX_KEYS, 1 << 12);
    }

    /** For tests: {@code places} positions at first, 2 or more. */
    ReuseDistances(int limit, int places) {
        this.limit = limit;
        this.tree = new int[places + 1];
    }

    /** Counts an access; gives its distance, or {@link #FIRST}. */
    long access(K key) {
        if (next == tree.length) {
            renumber();
        }
        Integer last = positions.put(key, next);
        long distance = FIRST;
        if (last != null) {
            distance = (long) positions.size() - sum(last);
            add(last, -1);
        }
        add(next++, 1);
        return distance;
    }

    /** Marks up to a position. */
    private int sum(int position) {
        int sum = 0;
        for (int i = position; i > 0; i -= i & -i) {
            sum += tree[i];
        }
        return sum;
    }

    private void add(int position, int more) {
        for (int i = position; i < tree.length; i += i & -i) {
            tree[i] += more;
        }
    }

    private void renumber() {
        List<Map.Entry<K, Integer>> byAge = new ArrayList<>(positions.entrySet());
        byAge.sort(Map.Entry.comparingByValue());
        if (byAge.size() > limit) {
            byAge.subList(0, byAge.size() / 2).clear();
        }
        List<K> keys = byAge.stream().map(Map.Entry::getKey).toList();
        positions.clear();
        tree = keys.size() > tree.length / 2 ? new int[2 * tree.length] : tree;
        Arrays.fill(tree, 0);
        next = 1;
        for (K key : keys) {
            positions.put(key, next);
            add(next++, 1);
        }
    }
}
