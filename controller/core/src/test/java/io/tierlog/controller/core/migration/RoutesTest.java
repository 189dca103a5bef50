/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.migration;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.controller.core.Agent;
import io.tierlog.controller.core.World;
import io.tierlog.controller.core.api.Input;
import io.tierlog.controller.core.api.Limits;
import io.tierlog.controller.core.decide.DecisionContext;
import io.tierlog.controller.core.decide.NodeContext;
import io.tierlog.controller.core.evolve.Evolve;
import io.tierlog.controller.core.state.Blocks;
import io.tierlog.controller.core.state.ShareRows;
import io.tierlog.controller.core.table.HeapTables;
import io.tierlog.controller.core.table.RowKey;
import io.tierlog.controller.core.table.Rows;
import io.tierlog.schemas.Block;
import io.tierlog.schemas.BlockResult;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.GroupPolicy;
import io.tierlog.schemas.GroupTier;
import io.tierlog.schemas.MarkClearing;
import io.tierlog.schemas.MigrationPolicy;
import io.tierlog.schemas.MigrationRoute;
import io.tierlog.schemas.MoveCause;
import io.tierlog.schemas.MoveTrigger;
import io.tierlog.schemas.Policy;
import io.tierlog.schemas.Retention;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.WritePolicy;
import io.tierlog.schemas.command.CopyBlocks;
import io.tierlog.schemas.command.DropBlocks;
import io.tierlog.schemas.decision.MigrationCompleted;
import io.tierlog.schemas.decision.MigrationSubmitted;
import io.tierlog.schemas.decision.WaterLevelRelieved;
import io.tierlog.schemas.event.CopyDone;
import io.tierlog.schemas.event.Tick;
import io.tierlog.schemas.state.PlacementState;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/**
 * Routes of group g, which all that is here belongs to and which may have 10 blocks of a tier: a block has 4,096 bytes, host and disk of node a 100
 * blocks each, a batch 3 blocks. Block 0 is the coldest. Copies are asked for at ticks, once the blocks are in their group.
 */
class RoutesTest {
    private static final long BLOCK = 4_096;
    private static final long MUCH = 1L << 30;

    private final World w = new World(new HeapTables(), new Limits(1, 100, 5_000, 8, 100, 256, 4));
    private final Agent a = w.policy(new Rules().policy()).register(new Agent("a", "a-1", 100, 100));

    /** The group policy of a test; a group without tiers of its own has the quota of 10 blocks on each. */
    private static final class Rules {
        private double high;
        private double low;
        private int migrations = 8;
        private long migrationBytes = MUCH;
        private final List<GroupTier> tiers = new ArrayList<>();
        private final List<MigrationRoute> routes = new ArrayList<>();

        Rules route(double threshold, Retention retention, int concurrency, long bytes) {
            routes.add(new MigrationRoute(Tier.HOST, Tier.DISK, threshold, true, false, retention, concurrency, bytes));
            return this;
        }

        Rules tier(Tier tier, long blocks, double itsHigh, double itsLow) {
            tiers.add(new GroupTier(tier, blocks * BLOCK, itsHigh, itsLow));
            return this;
        }

        Rules marks(double itsHigh, double itsLow) {
            high = itsHigh;
            low = itsLow;
            return this;
        }

        Rules budget(int operations, long bytes) {
            migrations = operations;
            migrationBytes = bytes;
            return this;
        }

        Policy policy() {
            List<GroupPolicy> groups = routes.isEmpty() ? List.of() : List.of(new GroupPolicy("g", List.of("*"), 10 * BLOCK, tiers, routes));
            return new Policy(2, WritePolicy.WRITE_BACK, high, low, 0, 0, false, 3, 1_000, 5_000, 0, false,
                    new MigrationPolicy(86_400_000, MarkClearing.ON_WRITE, migrations, migrationBytes, groups), null);
        }
    }

    private static Rules leaving(double threshold) {
        return new Rules().route(threshold, Retention.DELETE_SOURCE, 8, MUCH);
    }

    private void fill(int blocks) {
        for (int i = 0; i < blocks; i++) {
            w.warm(a, "r" + i, List.of(key(i)), i);
        }
    }

    private static Bytes key(int block) {
        return Agent.key("p" + block);
    }

    /** Blocks of the copies that the last input has led to, one list for each copy. */
    private List<List<Integer>> copied() {
        return w.commands(CopyBlocks.class).stream().map(copy -> numbers(Blocks.of(copy.blocks()))).toList();
    }

    private static List<Integer> numbers(List<Block> blocks) {
        List<Integer> numbers = new ArrayList<>();
        for (Block block : blocks) {
            for (int i = 0; i < 20; i++) {
                if (block.key().equals(key(i))) {
                    numbers.add(i);
                }
            }
        }
        assertEquals(blocks.size(), numbers.size());
        return numbers;
    }

    private void done(CopyBlocks copy) {
        List<BlockResult> results = new ArrayList<>();
        for (Block block : Blocks.of(copy.blocks())) {
            BlockResult r = Agent.arrived(List.of(block), 0).getFirst();
            results.add(new BlockResult(block, r.status(), r.reason(), -1, 7, r.crc32c(), Tier.HOST));
        }
        w.input(new CopyDone(a.envelope(), copy.operation(), copy.source(), copy.target(), Agent.NAMESPACE, results, BLOCK * results.size(), 1));
    }

    /** 4 of 10 are below 0.5; 5 are not, and the coldest goes, so that 4 stand. */
    @Test
    void theThresholdIsInclusive() {
        fill(4);
        w.policy(leaving(0.5).policy()).tick();
        w.tick();
        assertEquals(List.of(), copied());

        w.policy(leaving(0.4).policy()).tick();

        assertEquals(List.of(List.of(0)), copied());
        assertEquals(PlacementState.COPYING, w.state(a, Tier.HOST, key(0)));
        w.tick();
        assertEquals(List.of(), copied(), "what leaves counts as gone");
    }

    /** 8 of 10 and 0.5: 4 leave, 3 in the first batch; each source is dropped when its copy has ended. */
    @Test
    void whatLeavesIsDroppedWhenItsCopyHasEnded() {
        fill(8);
        w.policy(leaving(0.5).policy()).tick();
        assertEquals(List.of(List.of(0, 1, 2)), copied());
        CopyBlocks first = w.command(CopyBlocks.class);
        w.tick();
        assertEquals(List.of(List.of(3)), copied());

        done(first);

        assertEquals(List.of(), copied(), "the end of a copy begins none");
        DropBlocks drop = w.command(DropBlocks.class);
        assertEquals(List.of(Tier.HOST, Tier.DISK), List.of(drop.tier(), drop.reliesOn()));
        assertEquals(List.of(0, 1, 2), numbers(Blocks.of(drop.blocks())));
        assertEquals(PlacementState.LEAVING, w.state(a, Tier.HOST, key(0)));
        assertEquals(PlacementState.SERVING, w.state(a, Tier.DISK, key(0)));
    }

    /** What stays counts on: all that stands is copied, batch after batch, at ticks only, and no block twice. */
    @Test
    void whatIsKeptIsCopiedOnceAndStays() {
        fill(5);
        w.policy(new Rules().route(0.5, Retention.KEEP_BOTH, 1, MUCH).policy()).tick();
        assertEquals(List.of(List.of(0, 1, 2)), copied());
        assertEquals(PlacementState.COPYING_KEEP, w.state(a, Tier.HOST, key(0)));
        done(w.command(CopyBlocks.class));
        assertEquals(List.of(), w.commands(DropBlocks.class));
        assertEquals(PlacementState.SERVING, w.state(a, Tier.HOST, key(0)));

        w.input(a.submit("other", List.of(Agent.key("other"))).answered().event());
        assertEquals(List.of(), copied(), "no tick");
        w.tick();
        assertEquals(List.of(List.of(3, 4)), copied());
        done(w.command(CopyBlocks.class));
        w.tick();
        assertEquals(List.of(), copied(), "all are on the disk");
        assertEquals(List.of(), w.commands(DropBlocks.class));
    }

    /** One copy at a time, whatever its size: the next one when the first has ended. */
    @Test
    void aRouteHasSoManyCopiesAtOnce() {
        fill(8);
        w.policy(new Rules().route(0.1, Retention.DELETE_SOURCE, 1, MUCH).policy()).tick();
        assertEquals(List.of(List.of(0, 1, 2)), copied());
        CopyBlocks first = w.command(CopyBlocks.class);
        w.tick();
        assertEquals(List.of(), copied());
        done(first);
        w.tick();
        assertEquals(List.of(List.of(3, 4, 5)), copied());
    }

    /** Bytes of 2 blocks: 2 now, none while they are in flight. One byte less is one block less. */
    @Test
    void aRouteHasSoManyBytesInFlight() {
        fill(8);
        w.policy(new Rules().route(0.1, Retention.DELETE_SOURCE, 8, 2 * BLOCK).policy()).tick();
        assertEquals(List.of(List.of(0, 1)), copied());
        CopyBlocks first = w.command(CopyBlocks.class);
        w.tick();
        assertEquals(List.of(), copied());
        done(first);
        w.policy(new Rules().route(0.1, Retention.DELETE_SOURCE, 8, 2 * BLOCK - 1).policy()).tick();
        assertEquals(List.of(List.of(2)), copied());
    }

    /** The node's own budgets hold for all routes together. */
    @Test
    void aNodeHasSoManyCopiesAndBytesInFlight() {
        fill(8);
        w.policy(leaving(0.1).budget(1, MUCH).policy()).tick();
        assertEquals(List.of(List.of(0, 1, 2)), copied());
        w.tick();
        assertEquals(List.of(), copied());
        w.policy(leaving(0.1).budget(8, 4 * BLOCK).policy()).tick();
        assertEquals(List.of(List.of(3)), copied(), "3 blocks are in flight already");
    }

    /** The group may have 2 blocks of the disk: no more go there, not after they have arrived either. */
    @Test
    void theQuotaOfTheTargetHolds() {
        fill(8);
        w.policy(leaving(0.1).tier(Tier.DISK, 2, 0, 0).policy()).tick();
        assertEquals(List.of(List.of(0, 1)), copied());
        done(w.command(CopyBlocks.class));
        w.tick();
        assertEquals(List.of(), copied());
        assertEquals(2, ShareRows.use(w.node(a).shares(), "g", Tier.DISK).usedBlocks());
    }

    @Test
    void theCauseSaysWhy() {
        fill(8);
        w.policy(leaving(0.75).policy()).tick();
        long version = Objects.requireNonNull(w.tables.get(Rows.CLOCK, new RowKey.Aggregate("clock/0"))).policyVersion();
        MoveCause cause = new MoveCause(MoveTrigger.ROUTE, null, "g", 0.8, 0.75, version, Retention.DELETE_SOURCE);
        assertEquals(cause, w.fact(MigrationSubmitted.class).move());
        CopyBlocks copy = w.command(CopyBlocks.class);

        w.policy(leaving(0.95).policy());
        done(copy);

        assertEquals(cause, w.fact(MigrationCompleted.class).move(), "the policy that was in force when it began");
    }

    /**
     * The host's level takes 8 of 100 down to 5, which is below 0.06, and the route would copy the coldest of those 5, half of the quota: not in
     * the round in which the level takes, though it has been relieved in that round.
     */
    @Test
    void whatIsEvictedFromATierIsNotCopiedFromItInThatRound() {
        fill(8);
        w.policy(leaving(0.5).tier(Tier.HOST, 10, 0, 0).marks(0.08, 0.06).policy()).tick();
        assertEquals(List.of(0, 1, 2), numbers(Blocks.of(w.command(DropBlocks.class).blocks())));
        assertEquals("", w.fact(WaterLevelRelieved.class).group());
        assertEquals(List.of(), copied());

        w.tick();

        assertEquals(List.of(), w.commands(DropBlocks.class));
        assertEquals(List.of(List.of(3)), copied());
    }

    /** The same for the level of the group's own quota. */
    @Test
    void whatIsEvictedFromAGroupIsNotCopiedInThatRound() {
        fill(8);
        w.policy(leaving(0.5).tier(Tier.HOST, 10, 0.8, 0.6).policy()).tick();
        assertEquals(List.of(0, 1, 2), numbers(Blocks.of(w.command(DropBlocks.class).blocks())));
        assertEquals("g", w.fact(WaterLevelRelieved.class).group());
        assertEquals(List.of(), copied());

        w.tick();

        assertEquals(List.of(), w.commands(DropBlocks.class));
        assertEquals(List.of(List.of(3)), copied());
    }

    /** Relief of one group is none of another, nor of another tier; relief of a tier is that of all groups. */
    @Test
    void reliefIsThatOfATierAndAGroup() {
        Tick tick = new Tick(a.envelope(), 1);
        NodeContext n = Objects.requireNonNull(
                DecisionContext.of(w.tables, w.limits, new Input.Recorded(0, 1_000, tick, 0), Evolve::apply).node(a.aggregate()));
        n.relieves(Tier.HOST, "g");
        n.relieves(Tier.DISK, "");
        assertTrue(n.isRelieved(Tier.HOST, "g"));
        assertFalse(n.isRelieved(Tier.HOST, "h"));
        assertTrue(n.isRelieved(Tier.DISK, "g"));
        assertTrue(n.isRelieved(Tier.DISK, "h"));
        assertFalse(n.isRelieved(Tier.STORE, "g"));
    }
}
