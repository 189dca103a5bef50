/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.directory.api;

import io.tierlog.controller.directory.index.BlockPlacement;
import io.tierlog.controller.directory.index.Location;
import io.tierlog.controller.directory.index.PlacementIndex.Found;
import io.tierlog.controller.directory.index.Presence;
import io.tierlog.controller.directory.query.Freshness;
import io.tierlog.controller.directory.streams.Costs;
import io.tierlog.schemas.Tier;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

/**
 * The length of a chain's prefix. A block counts only at its own position in the prompt, or at any position when its engine did not report one.
 *
 * @param blocks from the first on that serve anywhere without a gap
 * @param unknownFrom the first block that is UNKNOWN, when the prefix ends there; -1 otherwise
 * @param nodes each node that has the first block, the longest prefix first
 * @param storeBlocks of the store from the first on
 * @param best from where it is had, on the requested node or on the one that gets most at the lowest cost
 * @param freshness how old that may be
 */
public record Lookup(int blocks, int unknownFrom, List<NodePrefix> nodes, int storeBlocks, Plan best, Freshness freshness) {
    /** Most nodes in a response, and for which costs are computed. */
    static final int NODES = 256;

    /**
     * What a node has.
     *
     * @param blocks from the first on, over all its tiers together
     * @param peerReadable from the first on, over its host and its disk together
     * @param tiers from the first on, in each of them
     * @param plan how much it could have
     * @param peerAddress where agents of other nodes read from it, HOST:PORT; empty when they cannot
     */
    public record NodePrefix(String node, int blocks, int peerReadable, Map<Tier, Integer> tiers, Extent plan, Optional<String> peerAddress) {}

    /**
     * The part of the chain that a node can get.
     *
     * @param blocks from the first on, from wherever they are
     * @param costUs of all of them, in microseconds
     */
    public record Extent(int blocks, long costUs) {
        boolean isBetterThan(Extent other) {
            return blocks > other.blocks || (blocks == other.blocks && costUs < other.costUs);
        }
    }

    /**
     * How a node could get most of the chain.
     *
     * @param node its name; empty for any that has nothing
     * @param blocks that it can have, from the first on
     * @param costUs of all of them, in microseconds
     * @param sources where each run of them comes from
     */
    public record Plan(String node, int blocks, long costUs, List<Run> sources) {}

    /** Blocks that come from one place. */
    public record Run(int first, int blocks, Location from, long blockCostUs) {}

    /** Computes prefixes. A node without a peer address is not a source for other nodes. */
    static Lookup of(ChainPlacements places, Costs costs, Optional<String> wanted, Function<String, Optional<String>> peerAddresses) {
        Prefixes prefixes = new Prefixes(places.count(), costs, peerAddresses);
        int unknownFrom = -1;
        boolean more = true;
        for (int number = 0; more && number < places.count(); number++) {
            Found found = places.found().apply(number);
            int index = places.chain().firstIndex() + number;
            List<BlockPlacement> serving = serving(found.placements(), index);
            more = !serving.isEmpty();
            if (more) {
                prefixes.take(serving);
            } else {
                unknownFrom = found.presence() == Presence.UNKNOWN ? number : -1;
            }
        }
        List<NodePrefix> nodes = prefixes.nodes(NODES);
        Plan best = prefixes.plan(wanted.orElseGet(() -> best(nodes, prefixes.elsewhere())));
        return new Lookup(prefixes.blocks(), unknownFrom, nodes, prefixes.storeBlocks(), best, places.freshness());
    }

    /** Those at that index of a prompt, or at an unknown one. */
    private static List<BlockPlacement> serving(List<BlockPlacement> all, int index) {
        for (BlockPlacement one : all) {
            if (one.index() != index && one.index() >= 0) {
                return all.stream().filter(placed -> placed.index() == index || placed.index() < 0).toList();
            }
        }
        return all;
    }

    /** Most blocks, then the lowest cost, then the node that has most itself; no name for any that has nothing. */
    private static String best(List<NodePrefix> nodes, Extent otherwise) {
        String best = "";
        Extent most = otherwise;
        for (NodePrefix node : nodes.reversed()) {
            if (!most.isBetterThan(node.plan())) {
                best = node.node();
                most = node.plan();
            }
        }
        return best;
    }
}
