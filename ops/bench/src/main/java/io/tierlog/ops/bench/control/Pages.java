/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench.control;

import java.util.ArrayDeque;

/** Pages of host memory that hold nothing. Not safe for use by several threads. */
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

    /** Pages that belong to nobody. */
    int free() {
        return free.size();
    }

    /** Pages that do. */
    int used() {
        return generations.length - free.size();
    }

    /** Takes a free page, with a new generation. */
    int take() {
        int page = free.remove();
        generations[page]++;
        return page;
    }

    long generation(int page) {
        return generations[page];
    }

    /** Gives a page back. */
    void give(int page) {
        free.add(page);
    }
}
