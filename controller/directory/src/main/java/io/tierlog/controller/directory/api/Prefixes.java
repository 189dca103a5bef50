/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.directory.api;

import io.tierlog.controller.directory.api.Lookup.Extent;
import io.tierlog.controller.directory.api.Lookup.NodePrefix;
import io.tierlog.controller.directory.api.Lookup.Plan;
import io.tierlog.controller.directory.api.Lookup.Run;
import io.tierlog.controller.directory.index.BlockPlacement;
import io.tierlog.controller.directory.index.Location;
import io.tierlog.controller.directory.streams.Costs;
import io.tierlog.schemas.Tier;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The blocks of a prefix that each node has, and those that it can get from elsewhere. For one thread.
 *
 * <p>A node takes what it has from itself, so for all others of its blocks one offer is enough, the same for every node: a node whose own
 * placement is the offer does not need it. What a node can get then follows from its own placements alone. Trade-off: four bytes for each
 * placement, and an offer and eight bytes for each block, until the answer is given.
 */
final class Prefixes {
    /** By their {@link Holder#code}. */
    private static final List<Tier> TIERS = List.of(Tier.DEVICE, Tier.HOST, Tier.DISK, Tier.STORE, Tier.UNKNOWN);
    private static final Offer NOWHERE = new Offer(new Location("", Tier.UNKNOWN), Costs.NEVER);

    private final Costs costs;
    private final Function<String, Optional<String>> peerAddresses;
    private final Map<String, Holder> byOwner = new LinkedHashMap<>();
    private final List<Offer> offers = new ArrayList<>();
    /** What all offers before a block cost together. */
    private final long[] sums;
    /** Blocks without an offer. */
    private int[] gaps = new int[4];
    private int gapCount;
    private int store;

    /** The cheapest source of a block for nodes that do not have it. */
    private record Offer(Location from, long costUs) {
        boolean isAbove(long otherUs, Tier tier) {
            return otherUs < costUs || (otherUs == costUs && tier == Tier.STORE && from.tier() != Tier.STORE);
        }
    }

    /** A node and its placements. */
    private static final class Holder {
        private final String node;
        private final Optional<String> peerAddress;
        private final int[] tiers = new int[TIERS.size()];
        private int blocks;
        private int peerReadable;
        /** Each block that it has, with the tier that costs least: the number times that of all tiers, and the tier. */
        private int[] copies = new int[4];
        private int count;

        Holder(String node, Optional<String> peerAddress) {
            this.node = node;
            this.peerAddress = peerAddress;
        }

        void take(int number, Tier tier, Costs costs) {
            blocks = extended(blocks, number);
            tiers[code(tier)] = extended(tiers[code(tier)], number);
            if (tier == Tier.HOST || tier == Tier.DISK) {
                peerReadable = extended(peerReadable, number);
            }
            if (costs.own(tier) == Costs.NEVER) {
                return;
            }
            int copy = number * TIERS.size() + code(tier);
            if (count > 0 && number(count - 1) == number) {
                copies[count - 1] = costs.own(tier) < costs.own(tier(count - 1)) ? copy : copies[count - 1];
                return;
            }
            copies = count == copies.length ? Arrays.copyOf(copies, count * 2) : copies;
            copies[count++] = copy;
        }

        private static int code(Tier tier) {
            return switch (tier) {
                case DEVICE -> 0;
                case HOST -> 1;
                case DISK -> 2;
                case STORE -> 3;
                case UNKNOWN -> 4;
            };
        }

        private static int extended(int prefix, int number) {
            return prefix == number ? number + 1 : prefix;
        }

        int number(int copy) {
            return copies[copy] / TIERS.size();
        }

        Tier tier(int copy) {
            return TIERS.get(copies[copy] % TIERS.size());
        }

        Map<Tier, Integer> byTier() {
            Map<Tier, Integer> byTier = new EnumMap<>(Tier.class);
            for (Tier tier : TIERS) {
                int prefix = tiers[code(tier)];
                if (prefix > 0) {
                    byTier.put(tier, prefix);
                }
            }
            return byTier;
        }
    }

    /**
     * Nothing so far.
     *
     * @param most blocks of the chain
     * @param peerAddresses where others read from a node; a node without an address offers nothing
     */
    Prefixes(int most, Costs costs, Function<String, Optional<String>> peerAddresses) {
        this.costs = costs;
        this.peerAddresses = peerAddresses;
        sums = new long[most + 1];
    }

    /** Takes the next block. */
    void take(List<BlockPlacement> serving) {
        int number = offers.size();
        Offer offer = NOWHERE;
        // Blocks one after the other are mostly in one place.
        Offer last = number == 0 ? NOWHERE : offers.getLast();
        for (BlockPlacement placed : serving) {
            Location location = placed.location();
            Tier tier = location.tier();
            // What an engine has in a store of its own, agents cannot read.
            boolean shared = tier == Tier.STORE && !location.isOnNode();
            boolean offered = shared;
            if (location.isOnNode()) {
                Holder holder = holder(location);
                holder.take(number, tier, costs);
                offered |= holder.peerAddress.isPresent();
            }
            store = shared && store == number ? number + 1 : store;
            long costUs = costs.elsewhere(tier);
            if (offered && offer.isAbove(costUs, tier)) {
                offer = last.costUs == costUs && last.from.equals(location) ? last : new Offer(location, costUs);
            }
        }
        offers.add(offer);
        boolean gap = offer.costUs() == Costs.NEVER;
        if (gap) {
            gaps = gapCount == gaps.length ? Arrays.copyOf(gaps, gapCount * 2) : gaps;
            gaps[gapCount++] = number;
        }
        sums[number + 1] = sums[number] + (gap ? 0 : offer.costUs());
    }

    private Holder holder(Location location) {
        Holder known = byOwner.get(location.owner());
        if (known != null) {
            return known;
        }
        String node = location.node();
        Holder holder = new Holder(node, peerAddresses.apply(node));
        byOwner.put(location.owner(), holder);
        return holder;
    }

    /** Blocks so far. */
    int blocks() {
        return offers.size();
    }

    /** Blocks of the store, from the first on. */
    int storeBlocks() {
        return store;
    }

    /** Those of the nodes with the first block that have most, the longest prefix first. */
    List<NodePrefix> nodes(int most) {
        return byOwner.values().stream()
                .filter(holder -> holder.blocks > 0)
                .sorted(Comparator.comparingInt(holder -> -holder.blocks))
                .limit(most)
                .sorted(Comparator.<Holder>comparingInt(holder -> -holder.blocks).thenComparing(holder -> holder.node))
                .map(holder -> new NodePrefix(holder.node, holder.blocks, holder.peerReadable, holder.byTier(), extent(holder), holder.peerAddress))
                .toList();
    }

    /** How much a node without own blocks could get. */
    Extent elsewhere() {
        return extent(new Holder("", Optional.empty()));
    }

    private Extent extent(Holder holder) {
        int blocks = reach(holder);
        long costUs = sums[blocks];
        for (int copy = 0; copy < holder.count && holder.number(copy) < blocks; copy++) {
            int number = holder.number(copy);
            costUs += costs.own(holder.tier(copy)) - (sums[number + 1] - sums[number]);
        }
        return new Extent(blocks, costUs);
    }

    /** The first block that the node does not have and that has no offer. */
    private int reach(Holder holder) {
        int copy = 0;
        for (int i = 0; i < gapCount; i++) {
            int gap = gaps[i];
            while (copy < holder.count && holder.number(copy) < gap) {
                copy++;
            }
            if (copy == holder.count || holder.number(copy) > gap) {
                return gap;
            }
        }
        return blocks();
    }

    /** From where a node would have each block that it can have. */
    Plan plan(String node) {
        @Nullable Holder known = byOwner.values().stream().filter(one -> one.node.equals(node)).findFirst().orElse(null);
        Holder holder = known == null ? new Holder(node, Optional.empty()) : known;
        Extent extent = extent(holder);
        Map<Tier, Offer> own = new EnumMap<>(Tier.class);
        List<Run> runs = new ArrayList<>();
        int copy = 0;
        int first = 0;
        @Nullable Offer source = null;
        for (int number = 0; number < extent.blocks(); number++) {
            Offer from = offers.get(number);
            if (copy < holder.count && holder.number(copy) == number) {
                from = own.computeIfAbsent(holder.tier(copy++), tier -> new Offer(Location.onNode(node, tier), costs.own(tier)));
            }
            if (source != null && !source.equals(from)) {
                runs.add(new Run(first, number - first, source.from, source.costUs));
                first = number;
            }
            source = from;
        }
        if (source != null) {
            runs.add(new Run(first, extent.blocks() - first, source.from, source.costUs));
        }
        return new Plan(node, extent.blocks(), extent.costUs(), runs);
    }
}
