/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.directory.index;

import io.tierlog.schemas.Bytes;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Numbers for namespaces, each free again with the last block of it. Not safe by itself: see {@link PlacementIndex}. */
final class Interned {
    private final int most;
    private final Map<Bytes, Integer> numbers = new LinkedHashMap<>();
    private final Deque<Integer> free = new ArrayDeque<>();
    private @Nullable Entry[] table = new @Nullable Entry[16];
    private int fresh;

    private static final class Entry {
        private final Bytes digest;
        private long blocks;

        Entry(Bytes digest) {
            this.digest = digest;
        }
    }

    Interned(int most) {
        this.most = most;
    }

    /** The number of a namespace that has a block; {@link Cells#NONE} for another. */
    int find(Bytes digest) {
        Integer number = numbers.get(digest);
        return number == null ? Cells.NONE : number;
    }

    /** The number for one more block; {@link Cells#NONE} when there are too many. */
    int take(Bytes digest) {
        Integer known = numbers.get(digest);
        if (known != null) {
            entry(known).blocks++;
            return known;
        }
        if (numbers.size() >= most) {
            return Cells.NONE;
        }
        int number = free.isEmpty() ? fresh++ : free.pop();
        if (number == table.length) {
            table = Arrays.copyOf(table, table.length * 2);
        }
        Entry entry = new Entry(digest);
        entry.blocks = 1;
        table[number] = entry;
        numbers.put(digest, number);
        return number;
    }

    /** One block fewer. */
    void giveBack(int number) {
        Entry entry = entry(number);
        entry.blocks--;
        if (entry.blocks == 0) {
            numbers.remove(entry.digest);
            table[number] = null;
            free.push(number);
        }
    }

    int size() {
        return numbers.size();
    }

    private Entry entry(int number) {
        Entry entry = table[number];
        if (entry == null) {
            throw new IllegalStateException("a block has the namespace number " + number + ", which is free");
        }
        return entry;
    }
}
