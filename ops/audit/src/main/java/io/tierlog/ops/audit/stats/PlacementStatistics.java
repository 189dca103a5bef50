/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.audit.stats;

import io.tierlog.ops.audit.stats.LogSummary.Evicted;
import io.tierlog.ops.audit.stats.LogSummary.Eviction;
import io.tierlog.ops.audit.stats.LogSummary.Place;
import io.tierlog.schemas.Block;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.PagedBlock;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.decision.BlocksPlaced;
import io.tierlog.schemas.decision.BlocksRemoved;
import io.tierlog.schemas.decision.Fact;
import io.tierlog.schemas.decision.NodeEnded;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * Placements on hosts and disks, and what left any tier. Placements from before the stretch are remembered. Memory: the key of each block on a
 * host or a disk, {@value #MAX_BLOCKS} at most; what comes beyond is not counted. Not thread-safe.
 */
final class PlacementStatistics {
    static final int MAX_BLOCKS = 4_000_000;

    private final long fromMs;
    private final Map<String, Map<Place, Set<Bytes>>> blocks = new HashMap<>();
    private final Map<Place, Long> most = new TreeMap<>();
    private final Map<String, Map<Eviction, Evicted>> evictions = new TreeMap<>();
    private long counted;
    private boolean complete = true;

    /** Counts what happens from {@code fromMs} on. */
    PlacementStatistics(long fromMs) {
        this.fromMs = fromMs;
    }

    void fact(Fact fact, long atMs) {
        String location = fact.envelope().aggregate();
        // Facts of other types do not change placements.
        switch (fact) {
            case BlocksPlaced f when isCounted(f.tier()) -> placed(new Place(f.namespace(), location, f.tier()), f, atMs);
            case BlocksRemoved f -> {
                if (atMs >= fromMs) {
                    evictions.computeIfAbsent(location, l -> new TreeMap<>())
                            .merge(new Eviction(f.tier(), f.reason()), new Evicted(f.blocks().size(), f.lastCopiesLost()), Evicted::plus);
                }
                if (isCounted(f.tier())) {
                    removed(new Place(f.namespace(), location, f.tier()), f, atMs);
                }
            }
            case NodeEnded _ -> {
                Map<Place, Set<Bytes>> gone = blocks.getOrDefault(location, Map.of());
                gone.forEach((place, here) -> most(place, here, atMs));
                counted -= gone.values().stream().mapToLong(Set::size).sum();
                blocks.remove(location);
            }
            default -> {}
        }
    }

    private static boolean isCounted(Tier tier) {
        return tier == Tier.HOST || tier == Tier.DISK;
    }

    private void placed(Place place, BlocksPlaced f, long atMs) {
        Set<Bytes> here = blocks.computeIfAbsent(place.node(), n -> new TreeMap<>()).computeIfAbsent(place, p -> new HashSet<>());
        for (PagedBlock block : f.blocks()) {
            if (counted >= MAX_BLOCKS) {
                complete = false;
            } else if (here.add(block.block().key())) {
                counted++;
            }
        }
        most(place, here, atMs);
    }

    /** What was placed before the stretch counts before it leaves, and at the end. */
    private void most(Place place, Set<Bytes> here, long atMs) {
        if (atMs >= fromMs && !here.isEmpty()) {
            most.merge(place, (long) here.size(), Math::max);
        }
    }

    private void removed(Place place, BlocksRemoved f, long atMs) {
        Set<Bytes> here = blocks.getOrDefault(place.node(), Map.of()).getOrDefault(place, Set.of());
        most(place, here, atMs);
        for (Block block : f.blocks()) {
            counted -= !here.isEmpty() && here.remove(block.key()) ? 1 : 0;
        }
    }

    LogSummary.Placements summary(long recovered) {
        Map<Place, Long> end = new TreeMap<>();
        blocks.values().forEach(places -> places.forEach((place, here) -> {
            end.put(place, (long) here.size());
            most(place, here, fromMs);
        }));
        Map<String, Map<Eviction, Evicted>> left = new TreeMap<>();
        evictions.forEach((location, evicted) -> left.put(location, new TreeMap<>(evicted)));
        return new LogSummary.Placements(new TreeMap<>(most), end, complete, left, recovered);
    }
}
