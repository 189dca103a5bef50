/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.directory.api;

import io.tierlog.controller.directory.index.Location;
import io.tierlog.controller.directory.index.Placed;
import io.tierlog.controller.directory.index.PlacementIndex.Found;
import io.tierlog.controller.directory.index.Presence;
import io.tierlog.controller.directory.streams.Costs;
import io.tierlog.controller.directory.streams.Freshness;
import io.tierlog.schemas.Tier;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * How long the prefix of a chain is. A block counts only at its own position in the prompt.
 *
 * @param blocks from the first on that serve anywhere without a gap
 * @param unknownFrom the first block that nobody can say anything of, when the prefix ends there; -1 otherwise
 * @param nodes each node that has the first block, the longest prefix first
 * @param storeBlocks of the store from the first on
 * @param best from where it is had, on the node that was asked about or on the one that gets most at the lowest cost
 * @param freshness how old that may be
 */
public record Lookup(int blocks, int unknownFrom, List<NodePrefix> nodes, int storeBlocks, Plan best, Freshness freshness) {
    /** Most nodes that are told of, and for which costs are counted. */
    static final int NODES = 256;

    /**
     * What a node has.
     *
     * @param blocks from the first on, over all its tiers together
     * @param lendable from the first on, over its host and its disk together
     * @param tiers from the first on, in each of them
     * @param plan how it could have most
     * @param peerAddress where agents of other nodes read from it, HOST:PORT; empty when they cannot
     */
    public record NodePrefix(String node, int blocks, int lendable, Map<Tier, Integer> tiers, Plan plan, Optional<String> peerAddress) {}

    /**
     * How a node could have most of the chain.
     *
     * @param node its name; empty for any that has nothing
     * @param blocks that it can have, from the first on
     * @param costUs of all of them, in microseconds
     * @param sources where each run of them comes from
     */
    public record Plan(String node, int blocks, long costUs, List<Run> sources) {}

    /** Blocks that come from one place. */
    public record Run(int first, int blocks, Location from, long blockCostUs) {}

    /** What each place has of the prefix, block after block. One thread. */
    private static final class Prefixes {
        private final Map<Location, Integer> locations = new LinkedHashMap<>();
        private final Map<String, Integer> nodes = new LinkedHashMap<>();
        private final Map<String, Integer> lendable = new LinkedHashMap<>();
        private int store;

        void take(int number, List<Placed> placements) {
            boolean stored = false;
            Set<String> here = new LinkedHashSet<>();
            Set<String> lending = new LinkedHashSet<>();
            for (Placed placed : placements) {
                Location location = placed.location();
                locations.computeIfPresent(location, (_, before) -> before == number ? number + 1 : before);
                if (number == 0) {
                    locations.put(location, 1);
                }
                if (location.isOnNode()) {
                    here.add(location.node());
                }
                if (location.tier() == Tier.HOST || location.tier() == Tier.DISK) {
                    lending.add(location.node());
                }
                stored |= location.tier() == Tier.STORE;
            }
            extend(nodes, here, number);
            extend(lendable, lending, number);
            store = stored && store == number ? number + 1 : store;
        }

        private static void extend(Map<String, Integer> prefixes, Set<String> here, int number) {
            for (String node : here) {
                if (prefixes.getOrDefault(node, 0) == number) {
                    prefixes.put(node, number + 1);
                }
            }
        }

        Map<Tier, Integer> tiers(String node) {
            Map<Tier, Integer> tiers = new EnumMap<>(Tier.class);
            locations.forEach((location, blocks) -> {
                if (location.isOnNode() && location.node().equals(node)) {
                    tiers.put(location.tier(), blocks);
                }
            });
            return tiers;
        }
    }

    /** Counts prefixes, with what is known of the peer doors of nodes. */
    static Lookup of(Places places, Costs costs, Optional<String> wanted, Function<String, Optional<String>> peerAddresses) {
        List<List<Placed>> prefix = new ArrayList<>();
        Prefixes prefixes = new Prefixes();
        int unknownFrom = -1;
        for (int number = 0; number < places.count() && unknownFrom < 0; number++) {
            Found found = places.found().apply(number);
            int index = places.chain().firstIndex() + number;
            List<Placed> serving = found.placements().stream().filter(placed -> placed.index() == index).toList();
            if (serving.isEmpty()) {
                unknownFrom = found.presence() == Presence.UNKNOWN ? number : -1;
                break;
            }
            prefixes.take(number, serving);
            prefix.add(serving);
        }
        Comparator<NodePrefix> longest = Comparator.<NodePrefix>comparingInt(node -> -node.blocks()).thenComparing(NodePrefix::node);
        List<NodePrefix> nodes = prefixes.nodes.entrySet().stream()
                .sorted(Map.Entry.<String, Integer>comparingByValue().reversed())
                .limit(NODES)
                .map(entry -> new NodePrefix(entry.getKey(), entry.getValue(), prefixes.lendable.getOrDefault(entry.getKey(), 0),
                        prefixes.tiers(entry.getKey()), plan(prefix, costs, entry.getKey()), peerAddresses.apply(entry.getKey())))
                .sorted(longest)
                .toList();
        Plan best = wanted.map(node -> plan(prefix, costs, node)).orElseGet(() -> best(nodes, plan(prefix, costs, "")));
        return new Lookup(prefix.size(), unknownFrom, nodes, prefixes.store, best, places.freshness());
    }

    /** Most blocks, then the lowest cost, then the node that has most itself. */
    private static Plan best(List<NodePrefix> nodes, Plan otherwise) {
        Comparator<Plan> order = Comparator.<Plan>comparingInt(plan -> -plan.blocks()).thenComparingLong(Plan::costUs);
        return Stream.concat(nodes.stream().map(NodePrefix::plan), Stream.of(otherwise)).min(order).orElse(otherwise);
    }

    private static Plan plan(List<List<Placed>> prefix, Costs costs, String node) {
        List<Run> runs = new ArrayList<>();
        long total = 0;
        int number = 0;
        for (List<Placed> placements : prefix) {
            Location from = placements.getFirst().location();
            long least = costs.of(from, node);
            for (Placed placed : placements) {
                long cost = costs.of(placed.location(), node);
                if (cost < least) {
                    least = cost;
                    from = placed.location();
                }
            }
            if (least == Costs.NEVER) {
                break;
            }
            total += least;
            extend(runs, new Run(number, 1, from, least));
            number++;
        }
        return new Plan(node, number, total, runs);
    }

    private static void extend(List<Run> runs, Run next) {
        Run last = runs.isEmpty() ? null : runs.getLast();
        if (last != null && last.from().equals(next.from()) && last.blockCostUs() == next.blockCostUs()) {
            runs.set(runs.size() - 1, new Run(last.first(), last.blocks() + 1, last.from(), last.blockCostUs()));
        } else {
            runs.add(next);
        }
    }
}
