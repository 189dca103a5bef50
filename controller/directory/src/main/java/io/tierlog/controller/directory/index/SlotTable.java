/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.directory.index;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Open addressing with linear probing over slots of eight bytes: a hash and the number of a cell. It finds candidates only; the caller compares the
 * cell's key. Deleting moves back what stands behind, so no graves are left. It doubles when two thirds are taken, from the hashes alone.
 *
 * <p>Not safe by itself: one writer, and readers kept out meanwhile. Trade-off: doubling takes some 10 ms for each million of blocks.
 */
final class SlotTable implements AutoCloseable {
    private static final int LEAST_SLOTS = 64;
    private static final int SLOT_ALIGNMENT = 64;

    private Arena arena = Arena.ofShared();
    private MemorySegment slots;
    private int mask;
    private int used;

    SlotTable() {
        slots = allocate(arena, LEAST_SLOTS);
        mask = LEAST_SLOTS - 1;
    }

    private static MemorySegment allocate(Arena arena, int count) {
        return arena.allocate((long) count * Long.BYTES, SLOT_ALIGNMENT);
    }

    /** The slot at which looking for a hash begins. */
    int home(int hash) {
        return hash & mask;
    }

    int next(int slot) {
        return (slot + 1) & mask;
    }

    /** What a slot holds; 0 when it is free. */
    long at(int slot) {
        return slots.get(ValueLayout.JAVA_LONG, (long) slot * Long.BYTES);
    }

    static int hash(long entry) {
        return (int) (entry >>> Integer.SIZE);
    }

    /** The cell of an entry that is not free. */
    static int cell(long entry) {
        return (int) entry - 1;
    }

    int used() {
        return used;
    }

    long bytes() {
        return slots.byteSize();
    }

    /** Adds what is not there yet. */
    void add(int hash, int cell) {
        if (used >= (mask + 1L) * 2 / 3) {
            grow();
        }
        place(slots, mask, ((long) hash << Integer.SIZE) | Integer.toUnsignedLong(cell + 1));
        used++;
    }

    private static void place(MemorySegment into, int mask, long entry) {
        int slot = hash(entry) & mask;
        while (into.get(ValueLayout.JAVA_LONG, (long) slot * Long.BYTES) != 0) {
            slot = (slot + 1) & mask;
        }
        into.set(ValueLayout.JAVA_LONG, (long) slot * Long.BYTES, entry);
    }

    private void grow() {
        int count = Math.multiplyExact(mask + 1, 2);
        Arena larger = Arena.ofShared();
        MemorySegment moved = allocate(larger, count);
        for (int slot = 0; slot <= mask; slot++) {
            long entry = at(slot);
            if (entry != 0) {
                place(moved, count - 1, entry);
            }
        }
        arena.close();
        arena = larger;
        slots = moved;
        mask = count - 1;
    }

    /** Frees a slot, and moves back what could not be found behind a free one. */
    void remove(int slot) {
        int free = slot;
        int look = slot;
        while (true) {
            look = next(look);
            long entry = at(look);
            if (entry == 0) {
                break;
            }
            // It may stand in the free slot unless its home lies behind that, on the way from there to where it stands.
            int distance = (look - home(hash(entry))) & mask;
            if (distance >= ((look - free) & mask)) {
                slots.set(ValueLayout.JAVA_LONG, (long) free * Long.BYTES, entry);
                free = look;
            }
        }
        slots.set(ValueLayout.JAVA_LONG, (long) free * Long.BYTES, 0L);
        used--;
    }

    @Override
    public void close() {
        arena.close();
    }
}
