/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.audit.stats;

import io.tierlog.ops.audit.AuditException;
import io.tierlog.ops.audit.stats.LogSummary.Evicted;
import io.tierlog.ops.audit.stats.LogSummary.Eviction;
import io.tierlog.ops.audit.stats.LogSummary.Part;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.decision.AgentAccepted;
import io.tierlog.schemas.decision.BlocksRemoved;
import io.tierlog.schemas.decision.Fact;
import io.tierlog.schemas.decision.OperationEnded;
import io.tierlog.schemas.decision.OperationIssued;
import io.tierlog.schemas.event.Event;
import io.tierlog.schemas.event.LoadBackDone;
import io.tierlog.schemas.event.RequestSubmitted;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * What statistics of a whole log have beyond sums: numbers over time, how soon blocks are used again, and which prefixes save most. Memory: a cell
 * for each interval, node and namespace, {@value #MAX_CELLS} at most; the last use of each block, bounded by {@link ReuseDistances}; and
 * {@value #MAX_PREFIXES} prefixes. Not thread-safe.
 */
public final class LogDetail {
    /** A length for one interval of the whole stretch, which begins at 0. */
    public static final long ONE_INTERVAL = Long.MAX_VALUE;

    static final int MAX_CELLS = 200_000;
    static final int MAX_PREFIXES = 100_000;
    private static final int MAX_OPERATIONS = 100_000;
    private static final int TOP = 20;

    private final long everyMs;
    private final Map<Place, Cell> cells = new TreeMap<>();
    private final Map<String, ReuseDistances<BlockId>> distances = new HashMap<>();
    private final Map<Use, Long> lastUse = new Bounded<>(ReuseDistances.MAX_KEYS);
    private final PowerHistogram reuse = new PowerHistogram();
    private final PowerHistogram idleMs = new PowerHistogram();
    private final Map<BlockId, Saved> prefixes = new HashMap<>();
    private final Map<String, Long> blockBytes = new HashMap<>();
    private final Map<String, Moving> moving = new Bounded<>(MAX_OPERATIONS);
    private long firstUses;

    private record BlockId(String namespace, Bytes key) {}

    private record Use(String node, BlockId block) {}

    private record Moving(String namespace, Tier to) {}

    private record Place(long atMs, Part part) implements Comparable<Place> {
        private static final Comparator<Place> ORDER = Comparator.comparingLong(Place::atMs).thenComparing(Place::part);

        @Override
        public int compareTo(Place that) {
            return ORDER.compare(this, that);
        }
    }

    private static final class Cell {
        private HitCounts hits = HitCounts.NONE;
        private final Map<Tier, Long> movedBytes = new TreeMap<>();
        private final Map<Eviction, Evicted> evicted = new TreeMap<>();
    }

    private record Saved(long requests, long blocks, long bytes) {
        Saved plus(Saved o) {
            return new Saved(requests + o.requests, blocks + o.blocks, bytes + o.bytes);
        }
    }

    /**
     * Numbers of one interval.
     *
     * @param atMs its beginning, milliseconds since 1970
     * @param part node and namespace; the namespace is empty where a record names none
     * @param hits blocks of the prompts of requests that were prefilled in it
     * @param movedBytes bytes of operations that ended in it, by the tier they went to
     * @param evicted what left the tiers in it
     */
    public record Interval(long atMs, Part part, HitCounts hits, Map<Tier, Long> movedBytes, Map<Eviction, Evicted> evicted) {}

    /** A prefix, by its first block: requests that reused blocks of it, these blocks, and their bytes. */
    public record Prefix(String namespace, String key, long requests, long blocks, long bytes) {}

    /**
     * All of it.
     *
     * @param everyMs length of the intervals in milliseconds; 0 for none
     * @param intervals by time, node and namespace
     * @param reuseDistance other blocks that prompts of the same node contained since the last use of a block
     * @param idleMs time since the last use of a block on the same node, in milliseconds
     * @param firstUses uses of blocks that no prompt had contained on that node before
     * @param topPrefixes the prefixes that saved most bytes, at most 20
     */
    public record Summary(
            long everyMs, List<Interval> intervals, List<PowerHistogram.Bucket> reuseDistance, List<PowerHistogram.Bucket> idleMs, long firstUses,
            List<Prefix> topPrefixes) {}

    /**
     * @param everyMs length of the intervals in milliseconds; 0 for none, {@link #ONE_INTERVAL} for the whole stretch
     */
    public LogDetail(long everyMs) {
        this.everyMs = everyMs;
    }

    /** Applies an event; one that does not count is only remembered. */
    void event(Event event, long atMs, boolean counts) {
        String node = event.envelope().aggregate();
        // Events of other types neither use blocks nor move bytes to the device.
        switch (event) {
            case RequestSubmitted e -> {
                ReuseDistances<BlockId> ofNode = distances.computeIfAbsent(node, n -> new ReuseDistances<>());
                for (Bytes key : e.keys()) {
                    used(ofNode, new Use(node, new BlockId(e.namespace(), key)), atMs, counts);
                }
            }
            case LoadBackDone e when counts -> moved(atMs, new Part(node, e.namespace()), Tier.DEVICE, e.movedBytes());
            default -> {}
        }
    }

    private void used(ReuseDistances<BlockId> ofNode, Use use, long atMs, boolean counts) {
        long distance = ofNode.access(use.block());
        if (counts && distance == ReuseDistances.FIRST) {
            firstUses++;
        } else if (counts) {
            reuse.add(distance);
        }
        Long before = lastUse.remove(use); // and put again, so that the block that was not used for the longest time is the first to go
        lastUse.put(use, atMs);
        if (before != null && counts) {
            idleMs.add(Math.max(0, atMs - before));
        }
    }

    /** Applies a fact; one that does not count is only remembered. */
    void fact(Fact fact, long atMs, boolean counts) {
        String aggregate = fact.envelope().aggregate();
        // Facts of other types neither move nor remove blocks.
        switch (fact) {
            case AgentAccepted f -> f.tiers().stream().filter(tier -> tier.tier() == Tier.HOST).forEach(
                    tier -> blockBytes.put(aggregate, tier.blockBytes()));
            case OperationIssued f -> moving.put(f.operation(), new Moving(f.namespace(), f.to()));
            case OperationEnded f -> {
                Moving was = moving.remove(f.operation());
                if (counts && was != null && f.movedBytes() > 0) {
                    moved(atMs, new Part(aggregate, was.namespace()), was.to(), f.movedBytes());
                }
            }
            case BlocksRemoved f when counts -> cell(atMs, new Part(aggregate, f.namespace())).ifPresent(cell -> cell.evicted.merge(
                    new Eviction(f.tier(), f.reason()), new Evicted(f.blocks().size(), f.lastCopiesLost()), Evicted::plus));
            default -> {}
        }
    }

    private void moved(long atMs, Part part, Tier to, long bytes) {
        cell(atMs, part).ifPresent(cell -> cell.movedBytes.merge(to, bytes, Long::sum));
    }

    /** Further blocks of the prompt of an attempt that was prefilled at {@code atMs}; {@code root} is the first block of the prompt. */
    void hits(long atMs, Part part, Bytes root, HitCounts more) {
        cell(atMs, part).ifPresent(cell -> cell.hits = cell.hits.plus(more));
        if (more.hits() != 0 && !root.isEmpty()) {
            Saved saved = new Saved(more.requests(), more.hits(), more.hits() * blockBytes.getOrDefault(part.node(), 0L));
            prefixes.merge(new BlockId(part.namespace(), root), saved, Saved::plus);
            if (prefixes.size() > MAX_PREFIXES) {
                forgetPrefixes();
            }
        }
    }

    /** The half that saves least is forgotten: what it saved is lost, and what it saves later counts from zero. */
    private void forgetPrefixes() {
        prefixes.entrySet().stream().sorted(Comparator.comparingLong(prefix -> prefix.getValue().bytes())).limit(MAX_PREFIXES / 2)
                .map(Map.Entry::getKey).toList().forEach(prefixes::remove);
    }

    private Optional<Cell> cell(long atMs, Part part) {
        if (everyMs == 0) {
            return Optional.empty();
        }
        Cell cell = cells.computeIfAbsent(new Place(atMs / everyMs * everyMs, part), place -> new Cell());
        if (cells.size() > MAX_CELLS) {
            throw new AuditException("there are more than " + MAX_CELLS + " intervals with numbers of their own",
                    "give a longer --every, or a stretch with --from and --to");
        }
        return Optional.of(cell);
    }

    /** What was found so far. */
    public Summary summary() {
        List<Interval> intervals = new ArrayList<>();
        cells.forEach((place, cell) -> intervals.add(
                new Interval(place.atMs(), place.part(), cell.hits, new TreeMap<>(cell.movedBytes), new TreeMap<>(cell.evicted))));
        List<Prefix> top = prefixes.entrySet().stream()
                .map(prefix -> new Prefix(prefix.getKey().namespace(), prefix.getKey().key().hex(), prefix.getValue().requests(),
                        prefix.getValue().blocks(), prefix.getValue().bytes()))
                .sorted(Comparator.comparingLong(Prefix::bytes).thenComparingLong(Prefix::blocks).reversed()
                        .thenComparing(Prefix::namespace).thenComparing(Prefix::key))
                .limit(TOP)
                .toList();
        return new Summary(everyMs, intervals, reuse.buckets(), idleMs.buckets(), firstUses, top);
    }
}
