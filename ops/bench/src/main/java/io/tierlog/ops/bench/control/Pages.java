/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench.control;

import java.util.ArrayDeque;

/** The free pages of a host memory. Not safe for use by several threads. */
final class Pages {
    private final ArrayDeque<Integer> free;
    private final long[] generations;

    Pages(int capacity) {
        free = new ArrayDeque<>(capacity);
        generations = new long[capacity];
        for (int page = 0; page < capacity; page++) {
            free.add(page);
        }
    }

    /** Free pages. */
    int available() {
        return free.size();
    }

    /** Allocated pages. */
    int used() {
        return generations.length - free.size();
    }

    /** Allocates a page, with a new generation. */
    int allocate() {
        int page = free.remove();
        generations[page]++;
        return page;
    }

    long generation(int page) {
        return generations[page];
    }

    /** Frees a page. */
    void free(int page) {
        free.add(page);
    }
}
