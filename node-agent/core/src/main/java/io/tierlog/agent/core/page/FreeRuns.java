/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core.page;

import java.util.Map;
import java.util.TreeMap;

/**
 * The free pages as runs of neighbours. The length of the longest run tells how far apart blocks will lie that are filled together, and so how
 * many copies they take. For one thread. Trade-off: two tree operations for each page that is taken or freed.
 */
final class FreeRuns {
    /** Length of each run by its first page; and how many runs there are of each length. */
    private final TreeMap<Integer, Integer> runs = new TreeMap<>();
    private final TreeMap<Integer, Integer> lengths = new TreeMap<>();

    /** All of {@code capacity} pages are free. */
    FreeRuns(int capacity) {
        if (capacity > 0) {
            put(0, capacity);
        }
    }

    /** Length of the longest run, 0 when nothing is free. */
    int largest() {
        return lengths.isEmpty() ? 0 : lengths.lastKey();
    }

    /**
     * A free page is taken.
     *
     * @throws IllegalStateException when it is not free
     */
    void take(int page) {
        Map.Entry<Integer, Integer> run = runs.floorEntry(page);
        if (run == null || page >= run.getKey() + run.getValue()) {
            throw new IllegalStateException("page " + page + " is taken, but is not free");
        }
        int first = run.getKey();
        int end = first + run.getValue();
        remove(first);
        if (first < page) {
            put(first, page - first);
        }
        if (page + 1 < end) {
            put(page + 1, end - page - 1);
        }
    }

    /**
     * A page is free again.
     *
     * @throws IllegalStateException when it is free already
     */
    void give(int page) {
        Map.Entry<Integer, Integer> before = runs.floorEntry(page);
        if (before != null && page < before.getKey() + before.getValue()) {
            throw new IllegalStateException("page " + page + " is given back, but is free");
        }
        int first = page;
        int end = page + 1;
        if (before != null && before.getKey() + before.getValue() == page) {
            first = before.getKey();
            remove(first);
        }
        if (runs.containsKey(end)) {
            end += remove(end);
        }
        put(first, end - first);
    }

    private void put(int first, int length) {
        runs.put(first, length);
        lengths.merge(length, 1, Integer::sum);
    }

    private int remove(int first) {
        Integer length = runs.remove(first);
        if (length == null) {
            throw new IllegalStateException("no run of free pages begins at " + first);
        }
        lengths.computeIfPresent(length, (any, count) -> count == 1 ? null : count - 1);
        return length;
    }
}
