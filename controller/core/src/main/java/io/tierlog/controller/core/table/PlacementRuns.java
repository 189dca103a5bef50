/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.table;

import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.state.PlacementRow;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * All placements of the aggregates of a task, in memory; the store beneath is read once for each aggregate, and gets a row for each run.
 *
 * <p>A run is at most {@value Run#MOST} blocks of one namespace on one tier. A new block joins the run of its parent while there is space, so a run
 * is mostly a piece of a prefix; which blocks share one never shows above. A run with a changed block is written whole by {@link #writeChanged}, one
 * without blocks is removed.
 *
 * <pre>
 *   RunTier (aggregate, namespace, tier) --> BlockOrder (blocks by key) --> Run (bytes as stored, or decoded while changed)
 * </pre>
 *
 * <p>It must be the only writer of its rows, and it holds what was never committed: after an aborted transaction it is dropped with its task, and
 * the next one reads the store. Confined to one thread. Trade-off: memory for every block, some 60 bytes, in arrays on the heap that the collector
 * does not look into; a read of a stored block decodes the blocks before it in its run.
 */
public final class PlacementRuns {
    /** Most blocks of a task by default: about a gigabyte. */
    public static final int MOST_BLOCKS = 16_777_216;

    /** Higher than all keys of rows: they begin with a text in UTF-8, which does not have this byte. */
    private static final byte[] NO_TEXT = {(byte) 0xFF};

    /** A run without its bytes: the object, the header of its bytes, its place in a leaf's arrays apart. */
    private static final int RUN_BYTES = 64;

    private final OrderedBytes store;
    private final int mostBlocks;
    private final KeyWriter writer = new KeyWriter();
    private final RunRows codec = new RunRows();
    private final Map<String, Part> parts = new LinkedHashMap<>();
    private final Set<Run> changed = new LinkedHashSet<>();
    private int blocks;
    private int runs;
    private long packedBytes;

    /** The placements of one aggregate. */
    private static final class Part {
        private final NavigableMap<RunTier, BlockOrder> tiers = new TreeMap<>();
        private long lastRun;
    }

    /**
     * What is in memory.
     *
     * @param blocks placements
     * @param runs runs of them
     * @param bytes memory, without what is decoded until it is written
     */
    public record Size(int blocks, int runs, long bytes) {}

    /** There are more placements than memory was promised for. */
    public static final class TooMany extends IllegalStateException {
        private static final long serialVersionUID = 1L;

        TooMany(int most) {
            super("a partition has " + most + " placements, which is the most that are held in memory: begin a log with more partitions");
        }
    }

    /** The store has rows that another version wrote. */
    public static final class OtherForm extends IllegalStateException {
        private static final long serialVersionUID = 1L;

        OtherForm(String aggregate, int form) {
            super("the placements of " + aggregate + " are stored in form " + form + ", and this version reads form " + RunRows.FORMAT
                    + ": start the version that wrote them; or stop all instances, delete their state directories and the changelog topic, and write"
                    + " the state with tierlog snapshot restore");
        }
    }

    /** The placements of a store. */
    public PlacementRuns(OrderedBytes store) {
        this(store, MOST_BLOCKS);
    }

    /** With a bound of one's own, for tests. */
    PlacementRuns(OrderedBytes store, int mostBlocks) {
        this.store = store;
        this.mostBlocks = mostBlocks;
    }

    /** The placement under {@code key}, or null. */
    public @Nullable PlacementRow get(RowKey.Placement key) {
        BlockOrder order = part(key.aggregate()).tiers.get(RunTier.of(key));
        return order != null && order.find(key.block()) ? order.run().row(order.slot(), codec) : null;
    }

    /**
     * Sets the placement under {@code key}.
     *
     * @throws TooMany when the block is new and there is no space for it; nothing is changed then
     */
    public void put(RowKey.Placement key, PlacementRow row) {
        Part part = part(key.aggregate());
        RunTier tier = RunTier.of(key);
        BlockOrder order = part.tiers.get(tier);
        if (order != null && order.find(key.block())) {
            open(order.run());
            order.run().set(order.slot(), row);
            return;
        }
        if (blocks == mostBlocks) {
            throw new TooMany(mostBlocks);
        }
        if (order == null) {
            order = new BlockOrder();
            part.tiers.put(tier, order);
        }
        Run run = runFor(part, tier, order, key.block(), row.parent());
        open(run);
        int slot = run.add(key.block(), row);
        boolean _ = order.find(key.block());
        order.add(key.block(), run, slot);
        blocks++;
    }

    private Run runFor(Part part, RunTier tier, BlockOrder order, Bytes block, Bytes parent) {
        if (!parent.isEmpty() && order.find(parent) && order.run().takes(block.size())) {
            return order.run();
        }
        runs++;
        Run run = new Run(tier, ++part.lastRun, block.size());
        changed.add(run);
        return run;
    }

    /** Removes the placement of {@code key}; a missing one is not an error. */
    public void delete(RowKey.Placement key) {
        Part part = part(key.aggregate());
        BlockOrder order = part.tiers.get(RunTier.of(key));
        if (order == null || !order.find(key.block())) {
            return;
        }
        Run run = order.run();
        open(run);
        run.remove(order.slot());
        order.remove();
        blocks--;
        if (order.isEmpty()) {
            part.tiers.remove(run.tier);
        }
    }

    private void open(Run run) {
        packedBytes -= run.packedBytes();
        run.open(codec);
        changed.add(run);
    }

    /** The placements of one aggregate, as {@link Tables#range} says. */
    public Scan<RowKey.Placement, PlacementRow> range(RowKey.Placement from, RowKey.@Nullable Placement to) {
        return new Placements(part(from.aggregate()).tiers.tailMap(RunTier.of(from), true), from, to, codec);
    }

    /** Writes the runs that have changed. Within {@link OrderedBytes#together}. */
    public void writeChanged() {
        for (Run run : changed) {
            byte[] key = key(run.tier.aggregate(), run.id);
            if (run.size() > 0) {
                byte[] bytes = run.pack(codec);
                packedBytes += bytes.length;
                store.put(key, bytes);
                run.isStored = true;
            } else {
                runs--;
                if (run.isStored) {
                    store.delete(key);
                }
            }
        }
        changed.clear();
    }

    /** Runs that the store does not have as they are. */
    public int unwritten() {
        return changed.size();
    }

    /** What is in memory. */
    public Size size() {
        long bytes = packedBytes + (long) runs * RUN_BYTES;
        for (Part part : parts.values()) {
            for (BlockOrder order : part.tiers.values()) {
                bytes += order.bytes();
            }
        }
        return new Size(blocks, runs, bytes);
    }

    /**
     * Reads the placements of all aggregates: else the first question about each would.
     *
     * @throws OtherForm when another version wrote them
     * @throws TooMany when there are more than may be held
     */
    public void loadAll() {
        for (String found = aggregateFrom(new byte[0]); found != null; found = aggregateFrom(after(found))) {
            load(found);
        }
    }

    /** The same for one aggregate. */
    void load(String aggregate) {
        Part _ = part(aggregate);
    }

    /** The aggregate of the first row whose key is {@code from} or higher; null when there is none. */
    private @Nullable String aggregateFrom(byte[] from) {
        try (OrderedBytes.Cursor rows = store.range(from, NO_TEXT)) {
            return rows.next() ? new KeyReader(rows.key()).text() : null;
        }
    }

    /** Higher than all keys of this aggregate, and lower than those of the next one: a text ends with 0. */
    private byte[] after(String aggregate) {
        writer.reset().text(aggregate);
        byte[] key = writer.toBytes();
        key[key.length - 1] = 1;
        return key;
    }

    private Part part(String aggregate) {
        Part known = parts.get(aggregate);
        if (known != null) {
            return known;
        }
        // Kept only when all of it was read.
        Loaded loaded = read(aggregate);
        parts.put(aggregate, loaded.part);
        blocks += loaded.blocks;
        runs += loaded.runs;
        packedBytes += loaded.bytes;
        return loaded.part;
    }

    /** An aggregate that is being read. */
    private static final class Loaded {
        private final Part part = new Part();
        private int blocks;
        private int runs;
        private long bytes;
    }

    private Loaded read(String aggregate) {
        Loaded loaded = new Loaded();
        Map<RunTier, RunTier> tiers = new LinkedHashMap<>();
        try (OrderedBytes.Cursor rows = store.range(
                Rows.PLACEMENTS.edge(writer, aggregate, false), Rows.PLACEMENTS.edge(writer, aggregate, true))) {
            while (rows.next()) {
                byte[] bytes = rows.value();
                RunRows.require(aggregate, bytes);
                RunTier tier = new RunTier(aggregate, RunRows.namespace(bytes), RunRows.tier(bytes));
                RunTier known = tiers.putIfAbsent(tier, tier);
                Run run = new Run(known == null ? tier : known, id(rows.key()), bytes);
                add(loaded, run);
            }
        }
        return loaded;
    }

    private void add(Loaded loaded, Run run) {
        BlockOrder order = loaded.part.tiers.computeIfAbsent(run.tier, _ -> new BlockOrder());
        loaded.part.lastRun = Math.max(loaded.part.lastRun, run.id);
        loaded.runs++;
        loaded.blocks += run.size();
        loaded.bytes += run.packedBytes();
        if (blocks + loaded.blocks > mostBlocks) {
            throw new TooMany(mostBlocks);
        }
        for (int slot = 0; slot < run.size(); slot++) {
            Bytes block = run.key(slot);
            if (order.find(block)) {
                throw new IllegalStateException("Block " + block + " is in two stored runs: " + order.run().id + " and " + run.id
                        + " of " + run.tier);
            }
            order.add(block, run, slot);
        }
    }

    /** Key of a run in the store. */
    private byte[] key(String aggregate, long id) {
        writer.reset().text(aggregate);
        writer.int8(Rows.PLACEMENTS.number());
        writer.int64(id);
        return writer.toBytes();
    }

    private static long id(byte[] key) {
        KeyReader in = new KeyReader(key);
        in.text();
        in.int8();
        return in.int64();
    }

    /** A walk over the blocks of some tiers. */
    private static final class Placements implements Scan<RowKey.Placement, PlacementRow> {
        private final Iterator<Map.Entry<RunTier, BlockOrder>> tiers;
        private final RowKey.Placement from;
        private final RowKey.@Nullable Placement to;
        private final RunRows codec;
        private BlockOrder.@Nullable Walk walk;
        private RowKey.@Nullable Placement key;

        Placements(NavigableMap<RunTier, BlockOrder> tiers, RowKey.Placement from, RowKey.@Nullable Placement to, RunRows codec) {
            this.tiers = tiers.entrySet().iterator();
            this.from = from;
            this.to = to;
            this.codec = codec;
        }

        @Override
        public boolean next() {
            key = null;
            while (walk == null || !walk.next()) {
                if (!tiers.hasNext()) {
                    walk = null;
                    return false;
                }
                Map.Entry<RunTier, BlockOrder> tier = tiers.next();
                walk = tier.getValue().walk(tier.getKey().equals(RunTier.of(from)) ? from.block() : Bytes.EMPTY);
            }
            Run run = walk.run();
            RowKey.Placement found = run.tier.key(run.key(walk.slot()));
            if (to != null && found.order(to) >= 0) {
                walk = null;
                while (tiers.hasNext()) {
                    tiers.next();
                }
                return false;
            }
            key = found;
            return true;
        }

        @Override
        public RowKey.Placement key() {
            if (key == null) {
                throw new IllegalStateException("The scan stands on no row: next() was not called or gave false");
            }
            return key;
        }

        @Override
        public PlacementRow value() {
            if (key == null || walk == null) {
                throw new IllegalStateException("The scan stands on no row: next() was not called or gave false");
            }
            return walk.run().row(walk.slot(), codec);
        }

        @Override
        public void close() {
            // Nothing is open.
        }
    }
}
