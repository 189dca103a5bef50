/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.directory.index;

import io.tierlog.schemas.Bytes;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.locks.StampedLock;

/**
 * Where each block of one partition is: an open-addressed table outside of the heap, in which a hash finds candidates and the whole key decides. A
 * namespace is known by its digest, as in the log. Safe for one writer and many readers: a writer holds the lock for one record, a reader for one
 * batch.
 *
 * <pre>
 * slots (hash, cell) --> cells of 64 bytes (namespace, key, placements) --> holdings (location, incarnation)
 * </pre>
 *
 * <p>What a lower incarnation of a node holds than the highest seen does not count, without being touched. When a bound of {@link IndexLimits} is
 * reached, a placement is refused and the index reports so from then on: it could no longer tell not found from not indexed. Trade-off: 64 bytes
 * for each block, 64 more for every three placements beyond the first (short keys: the second), and a pause while the table doubles.
 */
public final class PlacementIndex implements AutoCloseable {
    private static final int NONE = -1;
    /** Keys that are looked for together, and fewer than which it does not pay. */
    private static final int TOGETHER = 64;

    private static final int LEAST_TOGETHER = 4;
    private static final int[] NO_HASHES = {};
    private static final long[] NO_ENTRIES = {};

    private final StampedLock lock = new StampedLock();
    private final IndexLimits limits;
    private final KeyHash hashing;
    private final SlotTable slots = new SlotTable();
    private final Cells cells = new Cells();
    private final Interned namespaces;
    private final LocationTable holdings;
    private final Incarnations incarnations;
    private final KeyWords written = new KeyWords();
    private long placements;
    private String refusal = "";
    private boolean closed;

    /** An empty one. */
    public PlacementIndex(IndexLimits limits, Incarnations incarnations) {
        this(limits, incarnations, KeyHash.DEFAULT);
    }

    /** One with a hash of one's own, for tests. */
    PlacementIndex(IndexLimits limits, Incarnations incarnations, KeyHash hashing) {
        this.limits = limits;
        this.hashing = hashing;
        namespaces = new Interned(limits.namespaces());
        this.incarnations = incarnations;
        holdings = new LocationTable(limits.holdings(), incarnations);
    }

    /**
     * A block of a namespace.
     *
     * @param namespace digest of the namespace
     * @param key 8 to 32 bytes
     */
    public record BlockKey(Bytes namespace, Bytes key) {
        /** Refuses keys of an illegal length. */
        public BlockKey {
            if (!KeyWords.isLegal(key.size())) {
                throw new IllegalArgumentException("a key has " + KeyWords.LEAST + " to " + KeyWords.MOST + " bytes, not " + key.size());
            }
        }
    }

    /** The outcome of adding a placement. */
    public enum Taken {
        /** The location had none of this block. */
        ADDED,
        /** It stands for the one that the location had. */
        REPLACED,
        /** A bound is reached: see {@link #refusal}. */
        FULL
    }

    /**
     * Many keys of one namespace, one behind the other. The arrays are the caller's.
     *
     * @param namespace digest of the namespace
     * @param keys the keys
     * @param width bytes of each
     * @param order which of them are meant, by number
     * @param from first of {@code order}
     * @param to behind the last of {@code order}
     */
    @SuppressWarnings("ArrayRecordComponent") // For one call, never compared.
    public record Batch(Bytes namespace, byte[] keys, int width, int[] order, int from, int to) {}

    /** What it holds. */
    public record Size(int blocks, long placements, int namespaces, int holdings, long bytes) {}

    /** The lookup result for a block: where it serves, and whether a record about it could not be read. */
    public record Found(Presence presence, List<BlockPlacement> placements) {}

    /** Adds a placement: it replaces the location's earlier placement of the block. */
    public Taken put(BlockKey block, BlockPlacement placed) {
        return put(block, placed.location(), placed.incarnation(), placed.index(), placed.generation());
    }

    /** Notes that a record about a block at a location cannot be read: the block is UNKNOWN until the next one. */
    public Taken unreadable(BlockKey block, Location location) {
        return put(block, location, LocationTable.UNREADABLE, 0, 0);
    }

    private Taken put(BlockKey block, Location location, long incarnation, int index, long generation) {
        long stamp = lock.writeLock();
        try {
            return add(block, location, holdings.take(location, incarnation), index, generation);
        } finally {
            lock.unlockWrite(stamp);
        }
    }

    private Taken add(BlockKey block, Location location, int holding, int index, long generation) {
        if (holding == NONE) {
            return full(limits.holdings() + " locations by incarnation");
        }
        KeyWords key = written.set(block.key().unshared(), 0, block.key().size());
        int namespace = namespaces.find(block.namespace());
        int slot = namespace == NONE ? NONE : find(namespace, key);
        if (slot != NONE) {
            int cell = SlotTable.cell(slots.at(slot));
            int number = numberAt(cell, location);
            if (number != NONE) {
                holdings.giveBack(cells.holding(cell, number));
                cells.set(cell, number, holding, index, generation);
                return Taken.REPLACED;
            }
        }
        Taken space = space(block, slot, holding);
        if (space == Taken.FULL) {
            return space;
        }
        int cell = slot == NONE ? newBlock(block, key) : SlotTable.cell(slots.at(slot));
        cells.add(cell, holding, index, generation);
        placements++;
        return Taken.ADDED;
    }

    /** Whether there is space for one more placement; frees the holding when there is none. */
    private Taken space(BlockKey block, int slot, int holding) {
        String bound = "";
        if (placements >= limits.placements()) {
            bound = limits.placements() + " placements";
        } else if (slot == NONE && slots.used() >= limits.blocks()) {
            bound = limits.blocks() + " blocks";
        } else if (slot == NONE && namespaces.find(block.namespace()) == NONE && namespaces.size() >= limits.namespaces()) {
            bound = limits.namespaces() + " namespaces";
        }
        if (bound.isEmpty()) {
            return Taken.ADDED;
        }
        holdings.giveBack(holding);
        return full(bound);
    }

    private int newBlock(BlockKey block, KeyWords key) {
        int namespace = namespaces.take(block.namespace());
        int cell = cells.block(namespace, key);
        slots.add(hashing.of(namespace, key), cell);
        return cell;
    }

    private Taken full(String bound) {
        refusal = "the index holds " + bound + ", which is its bound";
        return Taken.FULL;
    }

    /** Withdraws what a location has of a block; whether it had any. */
    public boolean remove(BlockKey block, Location location) {
        long stamp = lock.writeLock();
        try {
            int namespace = namespaces.find(block.namespace());
            int slot = namespace == NONE ? NONE : find(namespace, written.set(block.key().unshared(), 0, block.key().size()));
            if (slot == NONE) {
                return false;
            }
            int cell = SlotTable.cell(slots.at(slot));
            int number = numberAt(cell, location);
            if (number == NONE) {
                return false;
            }
            holdings.giveBack(cells.holding(cell, number));
            cells.remove(cell, number);
            placements--;
            if (cells.count(cell) == 0) {
                slots.remove(slot);
                cells.freeBlock(cell);
                namespaces.giveBack(namespace);
            }
            return true;
        } finally {
            lock.unlockWrite(stamp);
        }
    }

    private int numberAt(int cell, Location location) {
        int count = cells.count(cell);
        for (int number = 0; number < count; number++) {
            if (holdings.isAt(cells.holding(cell, number), location)) {
                return number;
            }
        }
        return NONE;
    }

    /** The slot of a block. */
    private int find(int namespace, KeyWords key) {
        int hash = hashing.of(namespace, key);
        int slot = slots.home(hash);
        for (long entry = slots.at(slot); entry != 0; entry = slots.at(slot)) {
            if (SlotTable.hash(entry) == hash && cells.is(SlotTable.cell(entry), namespace, key)) {
                return slot;
            }
            slot = slots.next(slot);
        }
        return NONE;
    }

    /**
     * Looks for many blocks.
     *
     * @param answers where the answer for each key goes, at the key's number
     * @return false when it is closed, and nothing is answered
     */
    public boolean exist(Batch batch, byte[] answers) {
        KeyWords key = new KeyWords();
        long stamp = lock.readLock();
        try {
            if (closed) {
                return false;
            }
            boolean blind = !refusal.isEmpty();
            int namespace = blind ? NONE : namespaces.find(batch.namespace());
            Presence otherwise = otherwise(batch);
            Stretch stretch = new Stretch(batch);
            for (int at = batch.from(); at < batch.to(); ) {
                int count = stretch.look(batch, at, namespace, key);
                for (int i = 0; i < count; i++) {
                    int cell = stretch.found[i];
                    answers[batch.order()[at + i]] = (cell == NONE ? otherwise : presence(cell, otherwise)).code();
                }
                at += count;
            }
            return true;
        } finally {
            lock.unlockRead(stamp);
        }
    }

    /** A stretch of a batch: its keys by number, and the cell of each. */
    private final class Stretch {
        private final boolean together;
        private final int[] hashes;
        private final long[] entries;
        private final int[] found;

        Stretch(Batch batch) {
            int most = Math.min(TOGETHER, batch.to() - batch.from());
            together = most >= LEAST_TOGETHER;
            hashes = together ? new int[most] : NO_HASHES;
            entries = together ? new long[most] : NO_ENTRIES;
            found = new int[most];
        }

        /**
         * Looks for the next keys of a batch, from number {@code at} of its order on: reads the slots of all, then the cells of all, and compares
         * then. In a large index each first read waits for memory: these wait together, where {@link #find} would wait for one after the other.
         *
         * @return how many
         */
        int look(Batch batch, int at, int namespace, KeyWords key) {
            int count = Math.min(found.length, batch.to() - at);
            if (namespace == NONE) {
                Arrays.fill(found, 0, count, NONE);
                return count;
            }
            if (!together) {
                for (int i = 0; i < count; i++) {
                    found[i] = cell(namespace, key(batch, at + i, key));
                }
                return count;
            }
            for (int i = 0; i < count; i++) {
                hashes[i] = hashing.of(namespace, key(batch, at + i, key));
                entries[i] = slots.at(slots.home(hashes[i]));
            }
            for (int i = 0; i < count; i++) {
                found[i] = entries[i] == 0 ? NONE : cells.namespace(SlotTable.cell(entries[i]));
            }
            for (int i = 0; i < count; i++) {
                found[i] = entries[i] == 0 ? NONE : cell(i, namespace, key(batch, at + i, key));
            }
            return count;
        }

        private int cell(int i, int namespace, KeyWords key) {
            int cell = SlotTable.cell(entries[i]);
            if (SlotTable.hash(entries[i]) == hashes[i] && found[i] == namespace && cells.is(cell, namespace, key)) {
                return cell;
            }
            return cell(namespace, key);
        }

        private int cell(int namespace, KeyWords key) {
            int slot = find(namespace, key);
            return slot == NONE ? NONE : SlotTable.cell(slots.at(slot));
        }

        private static KeyWords key(Batch batch, int at, KeyWords key) {
            return key.set(batch.keys(), batch.order()[at] * batch.width(), batch.width());
        }
    }

    /** The answer for a block that is recorded nowhere. */
    private Presence otherwise(Batch batch) {
        return !refusal.isEmpty() || incarnations.isUnknown(batch.namespace()) ? Presence.UNKNOWN : Presence.NOT_FOUND;
    }

    private Presence presence(int cell, Presence otherwise) {
        // Most blocks are in one place, and that serves.
        if (holdings.counts(cells.firstHolding(cell)) || cells.any(cell, (holding, _, _) -> holdings.counts(holding))) {
            return Presence.FOUND;
        }
        return cells.any(cell, (holding, _, _) -> holdings.isUnreadable(holding)) ? Presence.UNKNOWN : otherwise;
    }

    /** Where many blocks are, in the order of {@link Batch#order}; empty when it is closed. */
    public Optional<List<Found>> where(Batch batch) {
        KeyWords key = new KeyWords();
        List<Found> found = new ArrayList<>(batch.to() - batch.from());
        long stamp = lock.readLock();
        try {
            if (closed) {
                return Optional.empty();
            }
            boolean blind = !refusal.isEmpty();
            int namespace = blind ? NONE : namespaces.find(batch.namespace());
            Presence otherwise = otherwise(batch);
            Stretch stretch = new Stretch(batch);
            Found nothing = new Found(otherwise, List.of());
            for (int at = batch.from(); at < batch.to(); ) {
                int count = stretch.look(batch, at, namespace, key);
                for (int i = 0; i < count; i++) {
                    found.add(stretch.found[i] == NONE ? nothing : placements(stretch.found[i], otherwise));
                }
                at += count;
            }
        } finally {
            lock.unlockRead(stamp);
        }
        return Optional.of(found);
    }

    private Found placements(int cell, Presence otherwise) {
        int only = cells.firstHolding(cell);
        if (cells.count(cell) == 1 && holdings.counts(only)) {
            return new Found(Presence.FOUND, List.of(
                    new BlockPlacement(holdings.location(only), holdings.incarnation(only), cells.firstIndex(cell), cells.firstGeneration(cell))));
        }
        List<BlockPlacement> serving = new ArrayList<>(cells.count(cell));
        cells.any(cell, (holding, index, generation) -> {
            if (holdings.counts(holding)) {
                serving.add(new BlockPlacement(holdings.location(holding), holdings.incarnation(holding), index, generation));
            }
            return false;
        });
        return new Found(presence(cell, otherwise), serving);
    }

    /** Why it takes nothing more and answers UNKNOWN; empty while it does. */
    public Optional<String> refusal() {
        long stamp = lock.readLock();
        try {
            return refusal.isEmpty() ? Optional.empty() : Optional.of(refusal);
        } finally {
            lock.unlockRead(stamp);
        }
    }

    /** What it holds. */
    public Size size() {
        long stamp = lock.readLock();
        try {
            return new Size(slots.used(), placements, namespaces.size(), holdings.size(), closed ? 0 : slots.bytes() + cells.bytes());
        } finally {
            lock.unlockRead(stamp);
        }
    }

    /** Cells that hold something; for tests. */
    int cellsInUse() {
        return cells.inUse();
    }

    /** Frees the memory once no reader is left; later queries get no answer. Closing twice is harmless. */
    @Override
    public void close() {
        long stamp = lock.writeLock();
        try {
            if (!closed) {
                closed = true;
                slots.close();
                cells.close();
            }
        } finally {
            lock.unlockWrite(stamp);
        }
    }
}
