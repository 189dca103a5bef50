/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench.control;

import java.util.ArrayDeque;
import java.util.Arrays;

/** The pages of a host memory. Not safe for use by several threads. */
final class Pages {
    private static final int AT_FIRST = 1_024;

    private final int capacity;
    private final ArrayDeque<Integer> freed = new ArrayDeque<>();
    private long[] generations = new long[AT_FIRST];
    private int everUsed;

    Pages(int capacity) {
        this.capacity = capacity;
    }

    int capacity() {
        return capacity;
    }

    /** Free pages. */
    int available() {
        return freed.size() + capacity - everUsed;
    }

    /** Allocated pages. */
    int used() {
        return everUsed - freed.size();
    }

    /** Allocates a page, with a new generation: one that was never used while there are any. */
    int allocate() {
        int page = everUsed < capacity ? everUsed++ : freed.remove();
        if (page >= generations.length) {
            generations = Arrays.copyOf(generations, Math.min(capacity, 2 * generations.length));
        }
        generations[page]++;
        return page;
    }

    long generation(int page) {
        return generations[page];
    }

    /** Frees a page. */
    void free(int page) {
        freed.add(page);
    }
}
