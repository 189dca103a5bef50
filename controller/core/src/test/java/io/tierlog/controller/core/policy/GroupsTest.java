/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.policy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.controller.core.Agent;
import io.tierlog.controller.core.World;
import io.tierlog.controller.core.api.Limits;
import io.tierlog.controller.core.state.ShareRows;
import io.tierlog.controller.core.table.HeapTables;
import io.tierlog.controller.core.table.Namespaces;
import io.tierlog.controller.core.table.RowKey;
import io.tierlog.controller.core.table.Rows;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.GroupPolicy;
import io.tierlog.schemas.GroupTier;
import io.tierlog.schemas.MarkClearing;
import io.tierlog.schemas.MigrationPolicy;
import io.tierlog.schemas.OperationKind;
import io.tierlog.schemas.Policy;
import io.tierlog.schemas.RequestReason;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.WritePolicy;
import io.tierlog.schemas.command.DropBlocks;
import io.tierlog.schemas.command.PrefetchBlocks;
import io.tierlog.schemas.command.ReleaseRequest;
import io.tierlog.schemas.command.WriteBackBlocks;
import io.tierlog.schemas.decision.GroupsAdvanced;
import io.tierlog.schemas.decision.QuotaExceeded;
import io.tierlog.schemas.decision.RequestTransitioned;
import io.tierlog.schemas.decision.WaterLevelCrossed;
import io.tierlog.schemas.decision.WaterLevelRelieved;
import io.tierlog.schemas.event.DropDone;
import io.tierlog.schemas.state.GroupTierRow;
import io.tierlog.schemas.state.NamespaceRow;
import io.tierlog.schemas.state.PlacementState;
import java.util.List;
import java.util.Objects;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** What groups may have of a node: a block has 4,096 bytes, the host of node a 100 blocks and no marks of its own. */
class GroupsTest {
    private static final long BLOCK = 4_096;

    private final World w = new World();

    private static Policy policy(GroupPolicy... groups) {
        return new Policy(2, WritePolicy.WRITE_BACK, 0, 0, 0, 0, true, 3, 1_000, 5_000, 0, true,
                new MigrationPolicy(86_400_000, MarkClearing.ON_WRITE, 8, 1L << 30, List.of(groups)), null);
    }

    private static GroupPolicy group(String name, String pattern, @Nullable Long blocks, GroupTier... tiers) {
        return new GroupPolicy(name, List.of(pattern), blocks == null ? null : blocks * BLOCK, List.of(tiers), List.of());
    }

    private static GroupTier host(@Nullable Long blocks, double high, double low) {
        return new GroupTier(Tier.HOST, blocks == null ? null : blocks * BLOCK, high, low);
    }

    private GroupTierRow use(Agent agent, String group) {
        return ShareRows.use(w.node(agent).shares(), group, Tier.HOST);
    }

    /** As many prompts of one block, each in its own page; the first is the coldest. */
    private void fill(Agent agent, int from, int to) {
        for (int i = from; i < to; i++) {
            w.warm(agent, "r" + i, Agent.path("p" + i + "-", 1), i);
        }
    }

    private List<String> leaving(Agent agent, int of) {
        return IntStream.range(0, of).mapToObj(i -> "p" + i + "-0")
                .filter(name -> w.state(agent, Tier.HOST, Agent.key(name)) == PlacementState.LEAVING).toList();
    }

    @Test
    void patternsFitWholeTexts() {
        assertTrue(Groups.fits("*", ""));
        assertTrue(Groups.fits("model/gold-*", "model/gold-1"));
        assertFalse(Groups.fits("model/gold-*", "other/model/gold-1"));
        assertTrue(Groups.fits("*gold*", "model/gold-1"));
        assertTrue(Groups.fits("a*b*c", "a-b-b-c"));
        assertFalse(Groups.fits("a*b*c", "a-b-b-c-"));
        assertFalse(Groups.fits("", "a"));
    }

    @Test
    void theFirstPatternThatFitsHasTheNamespace() {
        Policy policy = policy(group("gold", Agent.NAMESPACE, 1L), group("rest", "*", 1L));
        assertEquals("gold", Groups.of(policy, Agent.NAMESPACE));
        assertEquals("rest", Groups.of(policy, "x" + Agent.NAMESPACE));
        assertEquals("", Groups.of(policy(group("gold", "no", 1L)), Agent.NAMESPACE));
    }

    /** No quota of the tier: the group's is used. Capacity 10 blocks, 0.8: 8 blocks trigger, 7 do not. */
    @Test
    void theGroupsQuotaCountsWhereTheTierHasNone() {
        w.policy(policy(group("g", "*", 10L, host(null, 0.8, 0.6))));
        Agent a = w.register("a", 100);
        fill(a, 0, 7);
        assertEquals(7, use(a, "g").usedBlocks());
        assertEquals(0, w.facts.stream().filter(WaterLevelCrossed.class::isInstance).count());

        fill(a, 7, 8);

        WaterLevelCrossed crossed = w.facts.stream().filter(WaterLevelCrossed.class::isInstance).map(WaterLevelCrossed.class::cast).findFirst()
                .orElseThrow();
        assertEquals(List.of("g", 8L, 10L), List.of(crossed.group(), crossed.usedBlocks(), crossed.capacityBlocks()));
        assertEquals(List.of("p0-0", "p1-0", "p2-0"), leaving(a, 8), "the coldest until 5 of 10 are left, which is below 0.6");
        assertEquals(3, use(a, "g").leavingBlocks());
        assertEquals(1, w.facts.stream().filter(WaterLevelRelieved.class::isInstance).count());
    }

    /** 9 of 20 blocks = 0.45 of the tier's quota: the group's own 10 do not count. */
    @Test
    void aTiersQuotaWinsOverTheGroups() {
        w.policy(policy(group("g", "*", 10L, host(20L, 0.8, 0.6))));
        Agent a = w.register("a", 100);
        fill(a, 0, 9);

        assertEquals(0, w.facts.stream().filter(WaterLevelCrossed.class::isInstance).count());
    }

    @Test
    void aQuotaOfNothingWithNothingUsedIsNothingToDo() {
        w.policy(policy(group("g", "*", 0L, host(null, 0.8, 0.6))));
        Agent a = w.register("a", 100);
        for (int i = 0; i < 5; i++) {
            assertEquals("TimeAdvanced", w.tick().facts().stream().map(f -> f.getClass().getSimpleName()).findFirst().orElseThrow());
            assertEquals(1, w.last.facts().size());
        }
        assertEquals(0, use(a, "g").usedBlocks());
    }

    /** Blocks that were there before the policy count from the reassignment on, and then leave by the new quota. */
    @Test
    void aNewPolicyPutsCopiesIntoItsGroupsStepByStep() {
        World small = new World(new HeapTables(), Limits.DEFAULTS.withBlocksPerDecision(4)).policy(policy());
        Agent a = small.register("a", 100);
        for (int i = 0; i < 6; i++) {
            small.warm(a, "r" + i, Agent.path("p" + i + "-", 1), i);
        }
        small.policy(policy(group("g", "*", 10L, host(null, 0.5, 0.5))));
        assertEquals(0, ShareRows.use(small.node(a).shares(), "g", Tier.HOST).usedBlocks());

        small.tick();
        assertFalse(small.fact(GroupsAdvanced.class).cursor().isEmpty());
        int steps = 1;
        while (!small.fact(GroupsAdvanced.class).cursor().isEmpty()) {
            small.tick();
            steps++;
        }
        assertEquals(3, steps, "6 copies on the device and 6 on the host, 4 in a step");
        assertEquals(6, ShareRows.use(small.node(a).shares(), "g", Tier.HOST).usedBlocks());
        small.tick();
        assertEquals(0, small.facts(GroupsAdvanced.class).size());
        assertTrue(small.facts.stream().anyMatch(f -> f instanceof WaterLevelCrossed crossed && crossed.group().equals("g")));

        small.policy(policy());
        for (int i = 0; i < 4; i++) {
            small.tick();
        }
        assertEquals(0, ShareRows.use(small.node(a).shares(), "g", Tier.HOST).usedBlocks(), "a group that is no more has nothing");
    }

    /** A policy that comes during the group reassignment of another starts it again: no placement is left in a group of the one between. */
    @Test
    void aPolicyDuringGroupReassignmentRestartsIt() {
        World small = new World(new HeapTables(), Limits.DEFAULTS.withBlocksPerDecision(4)).policy(policy());
        Agent a = small.register("a", 100);
        for (int i = 0; i < 6; i++) {
            small.warm(a, "r" + i, Agent.path("p" + i + "-", 1), i);
        }
        small.policy(policy(group("g", "*", 50L))).tick();
        small.tick();
        small.policy(policy(group("h", "*", 50L)));
        for (int i = 0; i < 4; i++) {
            small.tick();
        }
        assertEquals(0, ShareRows.use(small.node(a).shares(), "g", Tier.HOST).usedBlocks());
        assertEquals(6, ShareRows.use(small.node(a).shares(), "h", Tier.HOST).usedBlocks());
    }

    /** Of 6 blocks 5 are there: 2 more are refused as a whole, and on record; 1 more is written. */
    @Test
    void blocksAboveTheQuotaAreNotWritten() {
        w.policy(policy(group("g", "*", 6L)));
        Agent a = w.register("a", 100);
        fill(a, 0, 5);

        List<Bytes> two = Agent.path("q", 2);
        w.input(a.submit("q", two).answered().event());
        w.input(a.sealed("q", 1, Agent.paged(two, 0, 2, 500)));
        w.input(a.finished("q", 1));

        QuotaExceeded exceeded = w.fact(QuotaExceeded.class);
        assertEquals(List.of("g", Tier.HOST, OperationKind.WRITE_BACK, 2, 5L, 6L), List.of(exceeded.group(), exceeded.tier(), exceeded.kind(),
                exceeded.wantedBlocks(), exceeded.usedBlocks(), exceeded.quotaBlocks()));
        assertEquals(List.of(), w.commands(WriteBackBlocks.class));
        assertEquals(1, w.commands(ReleaseRequest.class).size());
        assertEquals(5, use(a, "g").usedBlocks());

        fill(a, 5, 6);
        assertEquals(6, use(a, "g").usedBlocks());
    }

    /** Space for 3 of 5 that the store has: the first 3 are fetched; with space for none the request goes on, and reports why. */
    @Test
    void aFetchIsCutToTheQuota() {
        w.policy(policy(group("g", "*", 3L)));
        Agent a = w.register("a", 100);

        w.input(a.submit("q", Agent.path("q", 6)).store(0, 5).event());

        assertEquals(List.of(0, 1, 2), World.indexes(w.command(PrefetchBlocks.class).blocks()));
        assertEquals(5, w.fact(QuotaExceeded.class).wantedBlocks());
        w.input(a.submit("s", Agent.path("s", 6)).store(0, 5).event());
        assertEquals(List.of(), w.commands(PrefetchBlocks.class));
        assertEquals(RequestReason.QUOTA_EXCEEDED, w.fact(RequestTransitioned.class).reason());
    }

    /** Drops are issued until as many leave as must; while they are under way, nothing more is: one crossing never takes twice. */
    @Test
    void whatLeavesCountsAsGoneForAGroupToo() {
        w.policy(policy(group("g", "*", 10L, host(null, 0.9, 0.9))));
        Agent a = w.register("a", 100);
        fill(a, 0, 9);
        assertEquals(1, leaving(a, 9).size());
        for (int i = 0; i < 5; i++) {
            w.tick();
            assertEquals(List.of(), w.commands(DropBlocks.class));
        }
        DropBlocks drop = w.commands.stream().filter(DropBlocks.class::isInstance).map(DropBlocks.class::cast).findFirst().orElseThrow();
        w.input(new DropDone(a.envelope(), drop.operation(), Tier.HOST, Agent.NAMESPACE, Agent.gone(drop)));
        assertEquals(8, use(a, "g").usedBlocks());
        assertEquals(0, use(a, "g").leavingBlocks());
    }

    @Test
    void namespacesAreCounted() {
        Agent a = w.register("a", 100);
        fill(a, 0, 4);
        NamespaceRow row = w.tables.get(Rows.NAMESPACES, new RowKey.Namespace("node/a", Namespaces.digest(Agent.NAMESPACE)));
        assertEquals(4, Objects.requireNonNull(row).tiers().getFirst().usedBlocks());
    }
}
