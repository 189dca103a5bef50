/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.directory.index;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;

/**
 * Cells of 64 bytes, one line of the processor's cache, outside of the heap. A block has one cell, and more when it is in more places:
 *
 * <pre>
 * first:    namespace 4 | length 1 | - 3 | next 4 | placements 4 | key 16 (or 32) | placement 16 | placement 16 (or none)
 * further:  next 4      | - 12                                   | placement 16 | placement 16 | placement 16
 * placement: holding 4 | index 4 | generation 8
 * </pre>
 *
 * <p>Freed cells are reused before new memory is allocated; memory is freed only at the end. Not safe by itself: see
 * {@link PlacementIndex}.
 */
final class Cells implements AutoCloseable {
    /** No cell. */
    static final int NONE = -1;

    static final int CELL_BYTES = 64;

    private static final int CHUNK_BITS = 14;
    private static final int CHUNK_CELLS = 1 << CHUNK_BITS;
    private static final int CELL_BITS = 6;

    private static final int NAMESPACE = 0;
    private static final int LENGTH = 4;
    private static final int NEXT = 8;
    private static final int COUNT = 12;
    private static final int KEY = 16;
    private static final int SHORT_KEY = 16;
    private static final int PLACEMENT_BYTES = 16;
    private static final int FURTHER = 3;
    private static final int FURTHER_NEXT = 0;

    private final Arena arena = Arena.ofShared();
    private final List<MemorySegment> made = new ArrayList<>();
    private MemorySegment[] chunks = {};
    private int fresh;
    private int freed = NONE;
    private int inUse;

    private MemorySegment chunk(int cell) {
        return chunks[cell >>> CHUNK_BITS];
    }

    private static long at(int cell, int offset) {
        return ((long) (cell & (CHUNK_CELLS - 1)) << CELL_BITS) + offset;
    }

    private int getInt(int cell, int offset) {
        return chunk(cell).get(ValueLayout.JAVA_INT, at(cell, offset));
    }

    private void setInt(int cell, int offset, int value) {
        chunk(cell).set(ValueLayout.JAVA_INT, at(cell, offset), value);
    }

    private long getLong(int cell, int offset) {
        return chunk(cell).get(ValueLayout.JAVA_LONG, at(cell, offset));
    }

    private void setLong(int cell, int offset, long value) {
        chunk(cell).set(ValueLayout.JAVA_LONG, at(cell, offset), value);
    }

    private int take() {
        inUse++;
        if (freed != NONE) {
            int cell = freed;
            freed = getInt(cell, NAMESPACE);
            return cell;
        }
        if (fresh == made.size() << CHUNK_BITS) {
            made.add(arena.allocate((long) CHUNK_CELLS << CELL_BITS, CELL_BYTES));
            chunks = made.toArray(MemorySegment[]::new);
        }
        return fresh++;
    }

    private void free(int cell) {
        setInt(cell, NAMESPACE, freed);
        freed = cell;
        inUse--;
    }

    /** A cell for a block without placements. */
    int block(int namespace, KeyWords key) {
        int cell = take();
        setInt(cell, NAMESPACE, namespace);
        chunk(cell).set(ValueLayout.JAVA_BYTE, at(cell, LENGTH), (byte) key.length());
        setInt(cell, NEXT, NONE);
        setInt(cell, COUNT, 0);
        for (int word = 0; word < (key.length() > SHORT_KEY ? 4 : 2); word++) {
            setLong(cell, KEY + word * Long.BYTES, key.word(word));
        }
        return cell;
    }

    /** Gives back the cell of a block that has no placement left. */
    void freeBlock(int cell) {
        free(cell);
    }

    int namespace(int cell) {
        return getInt(cell, NAMESPACE);
    }

    private int length(int cell) {
        return chunk(cell).get(ValueLayout.JAVA_BYTE, at(cell, LENGTH));
    }

    /** Whether it is the cell of this block: all of the key is compared. */
    boolean is(int cell, int namespace, KeyWords key) {
        return getInt(cell, NAMESPACE) == namespace
                && length(cell) == key.length()
                && getLong(cell, KEY) == key.word(0)
                && getLong(cell, KEY + Long.BYTES) == key.word(1)
                && (key.length() <= SHORT_KEY
                        || (getLong(cell, KEY + 2 * Long.BYTES) == key.word(2) && getLong(cell, KEY + 3 * Long.BYTES) == key.word(3)));
    }

    /** Number of placements of a block. */
    int count(int cell) {
        return getInt(cell, COUNT);
    }

    private int inFirst(int cell) {
        return length(cell) > SHORT_KEY ? 1 : 2;
    }

    /** Calls {@code visitor} for each placement, in no order, until it returns true; returns whether it did. */
    boolean any(int cell, PlacementVisitor visitor) {
        int left = count(cell);
        int first = Math.min(left, inFirst(cell));
        int begin = CELL_BYTES - inFirst(cell) * PLACEMENT_BYTES;
        for (int i = 0; i < first; i++) {
            if (visit(cell, begin + i * PLACEMENT_BYTES, visitor)) {
                return true;
            }
        }
        left -= first;
        int more = getInt(cell, NEXT);
        while (left > 0) {
            int here = Math.min(left, FURTHER);
            for (int i = 0; i < here; i++) {
                if (visit(more, KEY + i * PLACEMENT_BYTES, visitor)) {
                    return true;
                }
            }
            left -= here;
            more = getInt(more, FURTHER_NEXT);
        }
        return false;
    }

    /** The holding of the first placement of a block; what most blocks have is one. */
    int firstHolding(int cell) {
        return getInt(cell, CELL_BYTES - inFirst(cell) * PLACEMENT_BYTES);
    }

    /** Position of the block in its prompt, by its first placement. */
    int firstIndex(int cell) {
        return getInt(cell, CELL_BYTES - inFirst(cell) * PLACEMENT_BYTES + 4);
    }

    /** Generation of the first placement. */
    long firstGeneration(int cell) {
        return getLong(cell, CELL_BYTES - inFirst(cell) * PLACEMENT_BYTES + 8);
    }

    private boolean visit(int cell, int offset, PlacementVisitor visitor) {
        return visitor.visit(getInt(cell, offset), getInt(cell, offset + 4), getLong(cell, offset + 8));
    }

    /** The cell that has the placement with this number, and where in it, as one number. */
    private long spot(int cell, int number) {
        int first = inFirst(cell);
        if (number < first) {
            return packed(cell, CELL_BYTES - first * PLACEMENT_BYTES + number * PLACEMENT_BYTES);
        }
        int more = getInt(cell, NEXT);
        int rest = number - first;
        while (rest >= FURTHER) {
            more = getInt(more, FURTHER_NEXT);
            rest -= FURTHER;
        }
        return packed(more, KEY + rest * PLACEMENT_BYTES);
    }

    private static long packed(int cell, int offset) {
        return ((long) cell << Byte.SIZE) | offset;
    }

    int holding(int cell, int number) {
        long spot = spot(cell, number);
        return getInt((int) (spot >>> Byte.SIZE), (int) spot & 0xFF);
    }

    /** Writes the placement with this number. */
    void set(int cell, int number, int holding, int index, long generation) {
        long spot = spot(cell, number);
        int where = (int) (spot >>> Byte.SIZE);
        int offset = (int) spot & 0xFF;
        setInt(where, offset, holding);
        setInt(where, offset + 4, index);
        setLong(where, offset + 8, generation);
    }

    /** Adds a placement. */
    void add(int cell, int holding, int index, long generation) {
        int count = count(cell);
        int beyond = count - inFirst(cell);
        if (beyond >= 0 && beyond % FURTHER == 0) {
            int more = take();
            setInt(more, FURTHER_NEXT, NONE);
            if (beyond == 0) {
                setInt(cell, NEXT, more);
            } else {
                setInt(last(cell), FURTHER_NEXT, more);
            }
        }
        setInt(cell, COUNT, count + 1);
        set(cell, count, holding, index, generation);
    }

    private int last(int cell) {
        int more = getInt(cell, NEXT);
        while (getInt(more, FURTHER_NEXT) != NONE) {
            more = getInt(more, FURTHER_NEXT);
        }
        return more;
    }

    /** Takes out the placement with this number; the last one moves into its place. */
    void remove(int cell, int number) {
        int last = count(cell) - 1;
        long spot = spot(cell, last);
        int where = (int) (spot >>> Byte.SIZE);
        int offset = (int) spot & 0xFF;
        set(cell, number, getInt(where, offset), getInt(where, offset + 4), getLong(where, offset + 8));
        setInt(cell, COUNT, last);
        int beyond = last - inFirst(cell);
        if (beyond >= 0 && beyond % FURTHER == 0) {
            unlink(cell, where);
            free(where);
        }
    }

    private void unlink(int cell, int gone) {
        if (getInt(cell, NEXT) == gone) {
            setInt(cell, NEXT, NONE);
            return;
        }
        int more = getInt(cell, NEXT);
        while (getInt(more, FURTHER_NEXT) != gone) {
            more = getInt(more, FURTHER_NEXT);
        }
        setInt(more, FURTHER_NEXT, NONE);
    }

    /** Cells that hold something. */
    int inUse() {
        return inUse;
    }

    long bytes() {
        return (long) made.size() * CHUNK_CELLS * CELL_BYTES;
    }

    @Override
    public void close() {
        arena.close();
    }

    /** Looks at placements. */
    @FunctionalInterface
    interface PlacementVisitor {
        /** Answers true when it has seen enough. */
        boolean visit(int holding, int index, long generation);
    }
}
