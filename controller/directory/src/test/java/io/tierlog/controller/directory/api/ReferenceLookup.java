/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.directory.api;

import io.tierlog.controller.directory.api.Lookup.Extent;
import io.tierlog.controller.directory.api.Lookup.NodePrefix;
import io.tierlog.controller.directory.api.Lookup.Plan;
import io.tierlog.controller.directory.api.Lookup.Run;
import io.tierlog.controller.directory.index.BlockPlacement;
import io.tierlog.controller.directory.index.Location;
import io.tierlog.controller.directory.index.PlacementIndex.Found;
import io.tierlog.controller.directory.index.Presence;
import io.tierlog.controller.directory.query.Freshness;
import io.tierlog.controller.directory.streams.Costs;
import io.tierlog.schemas.Tier;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;

/** The obvious {@link Lookup}: each question goes through the whole chain and all copies once more. */
final class ReferenceLookup {
    private final List<List<BlockPlacement>> prefix = new ArrayList<>();
    private final Costs costs;
    private final Map<String, String> addresses;

    private ReferenceLookup(Costs costs, Map<String, String> addresses) {
        this.costs = costs;
        this.addresses = addresses;
    }

    static Lookup of(List<Found> world, Costs costs, Optional<String> wanted, Map<String, String> addresses) {
        ReferenceLookup slow = new ReferenceLookup(costs, addresses);
        int unknownFrom = -1;
        for (int number = 0; number < world.size(); number++) {
            int index = number;
            List<BlockPlacement> serving = world.get(number).placements().stream().filter(placed -> placed.index() == index).toList();
            if (serving.isEmpty()) {
                unknownFrom = world.get(number).presence() == Presence.UNKNOWN ? number : -1;
                break;
            }
            slow.prefix.add(serving);
        }
        List<NodePrefix> nodes = slow.names().stream().map(slow::node).filter(node -> node.blocks() > 0)
                .sorted(Comparator.<NodePrefix>comparingInt(node -> -node.blocks()).thenComparing(NodePrefix::node))
                .toList();
        List<Plan> plans = new ArrayList<>(nodes.stream().map(node -> slow.plan(node.node())).toList());
        plans.add(slow.plan(""));
        Plan best = plans.stream().min(Comparator.<Plan>comparingInt(plan -> -plan.blocks()).thenComparingLong(Plan::costUs)).orElseThrow();
        int store = slow.length(placed -> placed.location().tier() == Tier.STORE);
        return new Lookup(slow.prefix.size(), unknownFrom, nodes, store, wanted.map(slow::plan).orElse(best), new Freshness(false, 0, 1));
    }

    private Set<String> names() {
        Set<String> names = new LinkedHashSet<>();
        prefix.forEach(each -> each.stream().map(BlockPlacement::location).filter(Location::isOnNode).forEach(place -> names.add(place.node())));
        return names;
    }

    private int length(Predicate<BlockPlacement> which) {
        return (int) prefix.stream().takeWhile(each -> each.stream().anyMatch(which)).count();
    }

    private NodePrefix node(String node) {
        Predicate<BlockPlacement> on = placed -> placed.location().isOnNode() && placed.location().node().equals(node);
        Map<Tier, Integer> tiers = new EnumMap<>(Tier.class);
        for (Tier tier : Tier.values()) {
            int blocks = length(on.and(placed -> placed.location().tier() == tier));
            if (blocks > 0) {
                tiers.put(tier, blocks);
            }
        }
        int peerReadable = length(on.and(placed -> Set.of(Tier.HOST, Tier.DISK).contains(placed.location().tier())));
        Plan plan = plan(node);
        return new NodePrefix(node, length(on), peerReadable, tiers, new Extent(plan.blocks(), plan.costUs()),
                Optional.ofNullable(addresses.get(node)));
    }

    private Plan plan(String node) {
        List<Run> runs = new ArrayList<>();
        long total = 0;
        int number = 0;
        for (List<BlockPlacement> placements : prefix) {
            Run one = best(number, placements, node);
            if (one.blockCostUs() == Costs.NEVER) {
                break;
            }
            total += one.blockCostUs();
            Run last = runs.isEmpty() ? new Run(0, 0, one.from(), Costs.NEVER) : runs.getLast();
            if (last.from().equals(one.from()) && last.blockCostUs() == one.blockCostUs()) {
                runs.set(runs.size() - 1, new Run(last.first(), last.blocks() + 1, last.from(), last.blockCostUs()));
            } else {
                runs.add(one);
            }
            number++;
        }
        return new Plan(node, number, total, runs);
    }

    /** The cheapest own placement; else the cheapest of the store and of nodes with a peer address; of equals the store, and then the first. */
    private Run best(int number, List<BlockPlacement> placements, String node) {
        List<Run> own = new ArrayList<>();
        List<Run> stored = new ArrayList<>();
        List<Run> others = new ArrayList<>();
        for (BlockPlacement placed : placements) {
            Tier tier = placed.location().tier();
            if (!placed.location().isOnNode()) {
                stored.add(new Run(number, 1, placed.location(), costs.elsewhere(tier)));
            } else if (placed.location().node().equals(node)) {
                own.add(new Run(number, 1, placed.location(), costs.own(tier)));
            } else if (addresses.containsKey(placed.location().node())) {
                others.add(new Run(number, 1, placed.location(), costs.elsewhere(tier)));
            }
        }
        stored.addAll(others);
        Comparator<Run> cheapest = Comparator.comparingLong(Run::blockCostUs);
        Run nothing = new Run(number, 1, placements.getFirst().location(), Costs.NEVER);
        Run mine = own.stream().min(cheapest).orElse(nothing);
        return mine.blockCostUs() < Costs.NEVER ? mine : stored.stream().min(cheapest).orElse(nothing);
    }
}
