/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.table;

import io.tierlog.schemas.Bytes;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The blocks of one {@link RunTier} in the order of their keys, each with its run: leaves of at most {@value #MOST} blocks. A search compares the
 * first eight bytes of keys, and all of a key only where these are equal. Confined to one thread.
 *
 * <p>Trade-off: 13 bytes of memory for each block in arrays that are two thirds full, and a search costs the logarithm of the blocks, where a hash
 * would cost less and would not know the order.
 */
final class BlockOrder {
    private static final int MOST = 256;
    private static final int LEAST = MOST / 4;
    private static final int FIRST = 8;

    /** Of a block: eight bytes of its key, its run, its slot in it. */
    private static final int ENTRY_BYTES = Long.BYTES + Integer.BYTES + 1;

    /** Headers of a leaf and its arrays. */
    private static final int LEAF_BYTES = 96;

    private final List<Leaf> leaves = new ArrayList<>();
    private long bytes;
    // Where the last search ended: at the block, or where it would be.
    private int leafAt;
    private int at;

    private static final class Leaf {
        private long[] prefixes;
        private Run[] runs;
        private byte[] slots;
        private int size;

        Leaf(int capacity) {
            prefixes = new long[capacity];
            runs = new Run[capacity];
            slots = new byte[capacity];
        }

        int compare(int i, long prefix, byte[] key) {
            int c = Long.compareUnsigned(prefixes[i], prefix);
            return c != 0 ? c : runs[i].compareKey(slots[i], key);
        }

        void grow() {
            int capacity = Math.min(MOST, prefixes.length * 2);
            prefixes = Arrays.copyOf(prefixes, capacity);
            runs = Arrays.copyOf(runs, capacity);
            slots = Arrays.copyOf(slots, capacity);
        }

        /** Moves what begins at {@code from} to {@code to}. */
        void move(int from, int to) {
            System.arraycopy(prefixes, from, prefixes, to, size - from);
            System.arraycopy(runs, from, runs, to, size - from);
            System.arraycopy(slots, from, slots, to, size - from);
        }

        /** Adds what another has from {@code from} on. */
        void append(Leaf other, int from) {
            System.arraycopy(other.prefixes, from, prefixes, size, other.size - from);
            System.arraycopy(other.runs, from, runs, size, other.size - from);
            System.arraycopy(other.slots, from, slots, size, other.size - from);
            size += other.size - from;
        }

        void shorten(int to) {
            Arrays.fill(runs, to, size, null);
            size = to;
        }
    }

    /** The first eight bytes as an unsigned number, missing ones as 0: its order never contradicts that of the keys. */
    private static long prefix(byte[] key) {
        long prefix = 0;
        for (int i = 0; i < Long.BYTES; i++) {
            prefix = prefix << Byte.SIZE | (i < key.length ? key[i] & 0xFF : 0);
        }
        return prefix;
    }

    boolean isEmpty() {
        return leaves.isEmpty();
    }

    /** Bytes of memory. */
    long bytes() {
        return bytes;
    }

    /** Searches a block; true when it is there, and {@link #run} and {@link #slot} are its own. */
    boolean find(Bytes block) {
        byte[] key = block.unshared();
        long prefix = prefix(key);
        int low = 0;
        int high = leaves.size() - 1;
        while (low < high) {
            int middle = (low + high + 1) >>> 1;
            if (leaves.get(middle).compare(0, prefix, key) <= 0) {
                low = middle;
            } else {
                high = middle - 1;
            }
        }
        leafAt = low;
        at = 0;
        return !leaves.isEmpty() && find(leaves.get(low), prefix, key);
    }

    private boolean find(Leaf leaf, long prefix, byte[] key) {
        int low = 0;
        int high = leaf.size - 1;
        while (low <= high) {
            int middle = (low + high) >>> 1;
            int c = leaf.compare(middle, prefix, key);
            if (c == 0) {
                at = middle;
                return true;
            }
            low = c < 0 ? middle + 1 : low;
            high = c < 0 ? high : middle - 1;
        }
        at = low;
        return false;
    }

    /** The run of the block that was found. */
    Run run() {
        return leaves.get(leafAt).runs[at];
    }

    /** The slot of the block that was found. */
    int slot() {
        return leaves.get(leafAt).slots[at];
    }

    /** Adds the block that was not {@link #find found} just now. */
    void add(Bytes block, Run run, int slot) {
        if (leaves.isEmpty()) {
            leaves.add(new Leaf(FIRST));
            bytes += LEAF_BYTES + FIRST * ENTRY_BYTES;
        }
        Leaf leaf = leaves.get(leafAt);
        if (leaf.size == MOST) {
            leaf = split(leaf);
        }
        if (leaf.size == leaf.prefixes.length) {
            bytes -= (long) leaf.prefixes.length * ENTRY_BYTES;
            leaf.grow();
            bytes += (long) leaf.prefixes.length * ENTRY_BYTES;
        }
        leaf.move(at, at + 1);
        leaf.prefixes[at] = prefix(block.unshared());
        leaf.runs[at] = run;
        leaf.slots[at] = (byte) slot;
        leaf.size++;
    }

    /** Gives the upper half a leaf of its own; returns the one of the place of the search. */
    private Leaf split(Leaf full) {
        Leaf upper = new Leaf(MOST);
        upper.append(full, MOST / 2);
        full.shorten(MOST / 2);
        leaves.add(leafAt + 1, upper);
        bytes += LEAF_BYTES + MOST * ENTRY_BYTES;
        if (at <= MOST / 2) {
            return full;
        }
        leafAt++;
        at -= MOST / 2;
        return upper;
    }

    /** Removes the block that was {@link #find found} just now. */
    void remove() {
        Leaf leaf = leaves.get(leafAt);
        leaf.move(at + 1, at);
        leaf.shorten(leaf.size - 1);
        if (leaf.size == 0) {
            drop(leafAt);
        } else if (leaf.size < LEAST) {
            merge(leafAt > 0 ? leafAt - 1 : leafAt);
        }
    }

    /** Joins a leaf and the next one when both fit well into one, so that what was removed leaves no memory behind. */
    private void merge(int lower) {
        if (lower + 1 == leaves.size()) {
            return;
        }
        Leaf one = leaves.get(lower);
        Leaf other = leaves.get(lower + 1);
        if (one.size + other.size <= MOST - LEAST) {
            while (one.prefixes.length < one.size + other.size) {
                bytes -= (long) one.prefixes.length * ENTRY_BYTES;
                one.grow();
                bytes += (long) one.prefixes.length * ENTRY_BYTES;
            }
            one.append(other, 0);
            drop(lower + 1);
        }
    }

    private void drop(int leaf) {
        bytes -= LEAF_BYTES + (long) leaves.get(leaf).prefixes.length * ENTRY_BYTES;
        leaves.remove(leaf);
    }

    /** A walk from the first block on whose key is {@code from} or a higher one. Nothing may be changed meanwhile. */
    Walk walk(Bytes from) {
        boolean _ = find(from);
        return new Walk(leafAt, at - 1);
    }

    /** A walk; before its first block until {@link #next} is called. */
    final class Walk {
        private int leaf;
        private int place;

        private Walk(int leaf, int place) {
            this.leaf = leaf;
            this.place = place;
        }

        /** Goes to the next block; false when there is none. */
        boolean next() {
            place++;
            while (leaf < leaves.size() && place >= leaves.get(leaf).size) {
                leaf++;
                place = 0;
            }
            return leaf < leaves.size();
        }

        Run run() {
            return leaves.get(leaf).runs[place];
        }

        int slot() {
            return leaves.get(leaf).slots[place];
        }
    }
}
