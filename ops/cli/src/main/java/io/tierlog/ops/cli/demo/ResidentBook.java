/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.demo;

import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.RemovalReason;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.decision.BlocksPlaced;
import io.tierlog.schemas.decision.BlocksRemoved;
import io.tierlog.schemas.decision.Fact;
import io.tierlog.schemas.decision.NodeEnded;
import java.util.Comparator;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * What namespaces had of the hosts and disks of nodes, counted from the placements on the log. Bounded to {@value #MAX_BLOCKS} blocks at once; what
 * comes beyond is not counted, and {@link #isWhole} says so. Not thread-safe.
 */
final class ResidentBook {
    private static final int MAX_BLOCKS = 4_000_000;

    private final Set<Copy> copies = new HashSet<>();
    private final Map<Place, Long> now = new TreeMap<>();
    private final Map<Place, Long> most = new TreeMap<>();
    private final Map<Loss, Long> lost = new TreeMap<>();
    private boolean whole = true;

    private record Copy(String node, Tier tier, String namespace, Bytes key) {}

    /** A tier of a node, and whose blocks are meant. */
    record Place(String namespace, String node, Tier tier) implements Comparable<Place> {
        private static final Comparator<Place> ORDER =
                Comparator.comparing(Place::namespace).thenComparing(Place::node).thenComparing(Place::tier);

        @Override
        public int compareTo(Place that) {
            return ORDER.compare(this, that);
        }
    }

    /** Last known copies that left a tier, for one reason. */
    record Loss(Tier tier, RemovalReason reason) implements Comparable<Loss> {
        private static final Comparator<Loss> ORDER = Comparator.comparing(Loss::tier).thenComparing(Loss::reason);

        @Override
        public int compareTo(Loss that) {
            return ORDER.compare(this, that);
        }
    }

    void take(Fact decision) {
        if (decision instanceof BlocksRemoved f && f.lastCopiesLost() > 0) {
            lost.merge(new Loss(f.tier(), f.reason()), (long) f.lastCopiesLost(), Long::sum);
        }
        switch (decision) {
            case BlocksPlaced f when f.tier() == Tier.HOST || f.tier() == Tier.DISK ->
                f.blocks().forEach(block -> come(new Copy(f.envelope().aggregate(), f.tier(), f.namespace(), block.block().key())));
            case BlocksRemoved f when f.tier() == Tier.HOST || f.tier() == Tier.DISK ->
                f.blocks().forEach(block -> go(new Copy(f.envelope().aggregate(), f.tier(), f.namespace(), block.key())));
            case NodeEnded f -> {
                copies.removeIf(copy -> copy.node.equals(f.envelope().aggregate()));
                now.keySet().removeIf(place -> place.node.equals(f.envelope().aggregate()));
            }
            default -> {}
        }
    }

    private void come(Copy copy) {
        if (copies.size() >= MAX_BLOCKS) {
            whole = false;
        } else if (copies.add(copy)) {
            Place place = new Place(copy.namespace, copy.node, copy.tier);
            long count = now.merge(place, 1L, Long::sum);
            most.merge(place, count, Math::max);
        }
    }

    private void go(Copy copy) {
        if (copies.remove(copy)) {
            now.merge(new Place(copy.namespace, copy.node, copy.tier), -1L, Long::sum);
        }
    }

    /** Blocks that each namespace has on each tier of each node now. */
    Map<Place, Long> now() {
        return new TreeMap<>(now);
    }

    /** Blocks of which no other copy was known when they left, by tier and reason. */
    Map<Loss, Long> lost() {
        return new TreeMap<>(lost);
    }

    /** The most that it had at any time. */
    Map<Place, Long> most() {
        return new TreeMap<>(most);
    }

    /** False when there were too many blocks to count them all. */
    boolean isWhole() {
        return whole;
    }
}
