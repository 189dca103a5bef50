/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.table;

import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.state.PlacementRow;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One run in memory: its bytes as the store has them, or, while it has changes that the store does not have, its placements decoded. A block keeps
 * its slot, from 0 to {@value #MOST} - 1, for as long as it is in the run. Confined to one thread.
 */
final class Run {
    /** Most blocks of a run. */
    static final int MOST = Integer.SIZE;

    final RunTier tier;
    final long id;
    /** Whether the store has a row of this run. */
    boolean isStored;
    /** One bit for each slot that a block has. */
    private int taken;
    private int width;
    private byte @Nullable [] packed;
    private @Nullable Decoded decoded;

    /** Keys and placements by slot; null in slots that are free. */
    private static final class Decoded {
        private final @Nullable Bytes[] keys = new Bytes[MOST];
        private final @Nullable PlacementRow[] rows = new PlacementRow[MOST];
    }

    /** A new one, without blocks. */
    Run(RunTier tier, long id, int width) {
        this.tier = tier;
        this.id = id;
        this.width = width;
        this.decoded = new Decoded();
    }

    /** One that the store has. */
    Run(RunTier tier, long id, byte[] packed) {
        this.tier = tier;
        this.id = id;
        this.width = RunRows.width(packed);
        this.packed = packed;
        this.taken = RunRows.count(packed) == MOST ? -1 : (1 << RunRows.count(packed)) - 1;
        this.isStored = true;
    }

    /** Number of blocks. */
    int size() {
        return Integer.bitCount(taken);
    }

    /** Whether it takes one more block whose key has {@code keyBytes} bytes. */
    boolean takes(int keyBytes) {
        return taken != -1 && width == keyBytes;
    }

    /** Bytes that it has packed; 0 while it is decoded. */
    int packedBytes() {
        return packed == null ? 0 : packed.length;
    }

    /** Place of a slot among the packed placements. */
    private int place(int slot) {
        return Integer.bitCount(taken & ((1 << slot) - 1));
    }

    /** Compares the key in {@code slot} with {@code key}, in the order of {@link Bytes}. */
    int compareKey(int slot, byte[] key) {
        return packed == null ? Arrays.compareUnsigned(key(slot).unshared(), key) : RunRows.compareKey(packed, place(slot), key);
    }

    /** The key in {@code slot}. */
    Bytes key(int slot) {
        return packed == null ? present(decoded().keys[slot]) : RunRows.key(packed, place(slot));
    }

    /** The placement in {@code slot}. */
    PlacementRow row(int slot, RunRows codec) {
        return packed == null ? present(decoded().rows[slot]) : codec.row(packed, place(slot));
    }

    /** Decodes it, so that it can be changed. */
    void open(RunRows codec) {
        byte[] bytes = packed;
        if (bytes == null) {
            return;
        }
        Decoded all = new Decoded();
        PlacementRow[] rows = new PlacementRow[size()];
        codec.rows(bytes, rows);
        int place = 0;
        for (int slot = 0; slot < MOST; slot++) {
            if ((taken & 1 << slot) != 0) {
                all.keys[slot] = RunRows.key(bytes, place);
                all.rows[slot] = rows[place++];
            }
        }
        decoded = all;
        packed = null;
    }

    /** Sets the placement of a block that is in it. */
    void set(int slot, PlacementRow row) {
        decoded().rows[slot] = row;
    }

    /** Adds a block, which it {@link #takes}; returns the slot. */
    int add(Bytes key, PlacementRow row) {
        int slot = Integer.numberOfTrailingZeros(~taken);
        taken |= 1 << slot;
        decoded().keys[slot] = key;
        decoded().rows[slot] = row;
        return slot;
    }

    /** Removes a block. */
    void remove(int slot) {
        taken &= ~(1 << slot);
        decoded().keys[slot] = null;
        decoded().rows[slot] = null;
    }

    /** Its bytes for the store, which are all that it keeps from here on. It has at least one block. */
    byte[] pack(RunRows codec) {
        List<Bytes> keys = new ArrayList<>(size());
        List<PlacementRow> rows = new ArrayList<>(size());
        for (int slot = 0; slot < MOST; slot++) {
            if ((taken & 1 << slot) != 0) {
                keys.add(present(decoded().keys[slot]));
                rows.add(present(decoded().rows[slot]));
            }
        }
        byte[] bytes = codec.encode(tier.namespace(), tier.tier(), keys, rows);
        packed = bytes;
        decoded = null;
        return bytes;
    }

    private Decoded decoded() {
        return present(decoded);
    }

    private static <T> T present(@Nullable T part) {
        if (part == null) {
            throw new IllegalStateException("A run was used that is not decoded, or a slot that is free");
        }
        return part;
    }
}
