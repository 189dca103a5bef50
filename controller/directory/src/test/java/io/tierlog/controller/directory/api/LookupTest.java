/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.directory.api;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.controller.directory.index.BlockPlacement;
import io.tierlog.controller.directory.index.Location;
import io.tierlog.controller.directory.index.PlacementIndex.Found;
import io.tierlog.controller.directory.index.Presence;
import io.tierlog.controller.directory.query.Freshness;
import io.tierlog.controller.directory.streams.Costs;
import io.tierlog.controller.http.PackedKeys;
import io.tierlog.schemas.Tier;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;
import org.junit.jupiter.api.Test;

/**
 * Prefixes, and from where blocks are had for least, in small worlds and against an obvious count. Costs: own host 0, own disk 7, store 10, another's
 * host 2, another's disk 6. A world is a line for each place: its name, its tier, and the numbers of its blocks.
 */
class LookupTest {
    private static final Costs COSTS = new Costs(0, 7, 10, 2, 6);
    private static final int RUNS = 3_000;

    private final Map<String, String> addresses = new LinkedHashMap<>();

    private static List<Found> world(int blocks, String... lines) {
        List<Found> world = new ArrayList<>();
        for (int number = 0; number < blocks; number++) {
            List<BlockPlacement> placed = new ArrayList<>();
            for (String line : lines) {
                List<String> words = List.of(line.split(" "));
                if (words.subList(2, words.size()).contains(String.valueOf(number))) {
                    placed.add(new BlockPlacement(new Location(words.getFirst(), Tier.valueOf(words.get(1))), 1, number, 1));
                }
            }
            world.add(new Found(placed.isEmpty() ? Presence.NOT_FOUND : Presence.FOUND, placed));
        }
        return world;
    }

    private Lookup lookup(List<Found> world, Costs costs, Optional<String> node) {
        return lookup(world, 0, costs, node);
    }

    /** A prompt's blocks from {@code first} on, of a world whose blocks are at the positions from there on. */
    private Lookup lookup(List<Found> world, int first, Costs costs, Optional<String> node) {
        BlockChain chain = new BlockChain("model/a", new PackedKeys(new byte[world.size() * 16], 16), first);
        return Lookup.of(new ChainPlacements(chain, world::get, new Freshness(false, 0, 1)), costs, node,
                name -> Optional.ofNullable(addresses.get(name)));
    }

    private String plan(String node, List<Found> world) {
        return text(lookup(world, COSTS, Optional.of(node)).best());
    }

    private static String text(Lookup.Plan plan) {
        StringBuilder text = new StringBuilder(plan.node() + ": " + plan.blocks() + " for " + plan.costUs());
        plan.sources().forEach(run -> text.append(", ").append(run.first()).append('+').append(run.blocks()).append(' ').append(run.from())
                .append(" at ").append(run.blockCostUs()));
        return text.toString();
    }

    /** a has 0 on its host and 1 on its disk, and no other node can read from it: for b the chain has length 0, for a it does not. */
    @Test
    void aNodeWithoutAPeerAddressIsNotASourceForOthers() {
        List<Found> world = world(2, "node/a HOST 0", "node/a DISK 1");
        assertEquals("b: 0 for 0", plan("b", world));
        assertEquals("a: 2 for 7, 0+1 node/a/HOST at 0, 1+1 node/a/DISK at 7", plan("a", world));
        addresses.put("a", "a:1");
        assertEquals("b: 2 for 8, 0+1 node/a/HOST at 2, 1+1 node/a/DISK at 6", plan("b", world));
    }

    /** The block of b that is c's too and the store's: a node without a peer address does not count, even where it would be cheapest. */
    @Test
    void theCheapestIsNamedOfThoseThatCanBeReadFrom() {
        addresses.put("c", "c:1");
        addresses.put("d", "d:1");
        List<Found> world = world(1, "store/0 STORE 0", "node/a HOST 0", "node/c DISK 0", "node/d HOST 0");
        assertEquals("b: 1 for 2, 0+1 node/d/HOST at 2", plan("b", world));
        addresses.remove("d");
        assertEquals("b: 1 for 6, 0+1 node/c/DISK at 6", plan("b", world));
        addresses.remove("c");
        assertEquals("b: 1 for 10, 0+1 store/0/STORE at 10", plan("b", world));
    }

    /** By the policy's default another's host is cheaper than the own disk. The controller looks at the own disk first all the same. */
    @Test
    void whatANodeHasItTakesFromItself() {
        addresses.put("a", "a:1");
        assertEquals("b: 1 for 7, 0+1 node/b/DISK at 7", plan("b", world(1, "node/a HOST 0", "node/b DISK 0")));
        assertEquals("b: 1 for 0, 0+1 node/b/HOST at 0", plan("b", world(1, "node/b DISK 0", "node/b HOST 0")));
    }

    /** An engine that is only listened to has 0 in a store of its own: no agent can read it there. */
    @Test
    void anEnginesOwnStoreIsNotTheSharedOne() {
        List<Found> world = world(1, "node/ext-e-dp0 STORE 0");
        assertEquals("b: 0 for 0", plan("b", world));
        assertEquals(0, lookup(world, COSTS, Optional.empty()).storeBlocks());
        assertEquals(1, lookup(world, COSTS, Optional.empty()).nodes().getFirst().blocks());
    }

    /** The position of a block in its prompt is not known: it counts at any. */
    @Test
    void aBlockOfUnknownPositionCountsAtAny() {
        BlockPlacement placed = new BlockPlacement(new Location("node/ext-e-dp0", Tier.DEVICE), 1, -1, 1);
        Found found = new Found(Presence.FOUND, List.of(placed));
        assertEquals(2, lookup(List.of(found, found), 5, COSTS, Optional.empty()).blocks());
    }

    @Test
    void ofEqualsTheStoreIsNamed() {
        addresses.put("a", "a:1");
        List<Found> world = world(1, "node/a HOST 0", "store/0 STORE 0");
        assertEquals("b: 1 for 9, 0+1 store/0/STORE at 9", text(lookup(world, new Costs(0, 7, 9, 9, 9), Optional.of("b")).best()));
    }

    /** 2 is on a's device alone: others get 0 and 1, and a goes on to 3. 5 is nowhere, so 6 is not in the response. */
    @Test
    void aGapEndsWhatCanBeHad() {
        List<Found> world = world(7, "store/0 STORE 0 1 3 4 6", "node/a DEVICE 1 2", "node/b DISK 0 3 6");
        Lookup lookup = lookup(world, COSTS, Optional.empty());
        assertEquals("5 -1 2", lookup.blocks() + " " + lookup.unknownFrom() + " " + lookup.storeBlocks());
        assertEquals("b: 2 for 17, 0+1 node/b/DISK at 7, 1+1 store/0/STORE at 10", plan("b", world));
        assertEquals("a: 5 for 30, 0+1 store/0/STORE at 10, 1+2 node/a/DEVICE at 0, 3+2 store/0/STORE at 10", plan("a", world));
        // a does not have the first block, so the response leaves it out. A node without blocks gets as much as b, for more.
        assertEquals(List.of(new Lookup.NodePrefix("b", 1, 1, Map.of(Tier.DISK, 1), new Lookup.Extent(2, 17), Optional.empty())), lookup.nodes());
        assertEquals("b", lookup.best().node());
        world.set(5, new Found(Presence.UNKNOWN, List.of()));
        assertEquals(5, lookup(world, COSTS, Optional.empty()).unknownFrom());
    }

    /** Few nodes and small costs, so that gaps, equal costs and blocks of several places come often. */
    @Test
    void anyWorldIsCountedAsTheObviousCountDoes() {
        for (int seed = 0; seed < RUNS; seed++) {
            RandomGenerator random = RandomGeneratorFactory.of("L64X128MixRandom").create(seed);
            int nodes = 1 + random.nextInt(5);
            addresses.clear();
            for (int node = 0; node < nodes; node++) {
                if (random.nextInt(3) > 0) {
                    addresses.put("n" + node, "n" + node + ":1");
                }
            }
            int disk = random.nextInt(4);
            Costs costs = new Costs(random.nextInt(disk + 1), disk, random.nextInt(5), random.nextInt(5), random.nextInt(5));
            List<Found> world = world(random, nodes);
            Optional<String> node = random.nextBoolean() ? Optional.empty() : Optional.of("n" + random.nextInt(nodes + 1));
            Lookup expected = ReferenceLookup.of(world, costs, node, addresses);
            assertEquals(expected, lookup(world, costs, node), "seed " + seed);
            int first = random.nextInt(1_000);
            assertEquals(expected, lookup(moved(world, first), first, costs, node), "seed " + seed + ", from " + first);
        }
    }

    /** The same world further along a prompt. */
    private static List<Found> moved(List<Found> world, int first) {
        return world.stream()
                .map(found -> new Found(found.presence(), found.placements().stream()
                        .map(placed -> new BlockPlacement(placed.location(), placed.incarnation(), placed.index() + first, placed.generation()))
                        .toList()))
                .toList();
    }

    private static List<Found> world(RandomGenerator random, int nodes) {
        List<Found> world = new ArrayList<>();
        int blocks = 1 + random.nextInt(12);
        for (int number = 0; number < blocks; number++) {
            Set<String> places = new TreeSet<>();
            for (int i = random.nextInt(20) == 0 ? 0 : 1 + random.nextInt(2 * nodes); i > 0; i--) {
                places.add(place(random, nodes));
            }
            List<BlockPlacement> placed = new ArrayList<>();
            for (String place : places) {
                List<String> words = List.of(place.split(" "));
                // Now and then at another position, where it does not count.
                int index = random.nextInt(30) == 0 ? number + 1 : number;
                placed.add(new BlockPlacement(new Location(words.get(1), Tier.valueOf(words.get(2))), 1, index, 1));
            }
            Presence none = random.nextBoolean() ? Presence.NOT_FOUND : Presence.UNKNOWN;
            world.add(new Found(placed.isEmpty() ? none : Presence.FOUND, placed));
        }
        return world;
    }

    /** A number before the name, so that places come in any order. */
    private static String place(RandomGenerator random, int nodes) {
        List<Tier> tiers = List.of(Tier.DEVICE, Tier.HOST, Tier.HOST, Tier.DISK, Tier.DISK, Tier.UNKNOWN);
        String place = random.nextInt(5) == 0
                ? "store/" + random.nextInt(2) + " " + Tier.STORE
                : "node/n" + random.nextInt(nodes) + " " + tiers.get(random.nextInt(tiers.size()));
        return random.nextInt(9) + " " + place;
    }

    @Test
    void nodesBeyondTheBoundAreLeftOut() {
        List<BlockPlacement> placed = new ArrayList<>();
        for (int node = 0; node < Lookup.NODES + 5; node++) {
            placed.add(new BlockPlacement(new Location("node/" + node, Tier.HOST), 1, 0, 1));
        }
        Lookup lookup = lookup(List.of(new Found(Presence.FOUND, placed)), COSTS, Optional.empty());
        assertEquals(Lookup.NODES, lookup.nodes().size());
        assertTrue(lookup.nodes().stream().allMatch(node -> node.plan().equals(new Lookup.Extent(1, 0))));
    }
}
