/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.node;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.tierlog.controller.core.Agent;
import io.tierlog.controller.core.World;
import io.tierlog.controller.core.api.Limits;
import io.tierlog.controller.core.state.ShareRows;
import io.tierlog.controller.core.table.HeapTables;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.GroupPolicy;
import io.tierlog.schemas.MarkClearing;
import io.tierlog.schemas.MigrationPolicy;
import io.tierlog.schemas.Policy;
import io.tierlog.schemas.RemovalReason;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.WritePolicy;
import io.tierlog.schemas.decision.GroupsAdvanced;
import io.tierlog.schemas.state.SharesRow;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * A new policy puts what is there into its groups, 4 rows a step. Node a has 6 blocks on the device, whose rows come first and which no group counts,
 * and the same 6 on the host: a step of 4 of the device, one of 2 and 2, one of 4 of the host. {@link World} recounts the tables after every input.
 */
class GroupReassignmentTest {
    private final World w = new World(new HeapTables(), Limits.DEFAULTS.withBlocksPerDecision(4)).policy(policy());
    private final Agent a = w.register("a", 100);

    GroupReassignmentTest() {
        for (int i = 0; i < 6; i++) {
            w.warm(a, "r" + i, List.of(key(i)), i);
        }
    }

    private static Bytes key(int block) {
        return Agent.key("p" + block);
    }

    /** Groups without quota, for all namespaces: the first one has them all. */
    private static Policy policy(String... groups) {
        List<GroupPolicy> all = Stream.of(groups).map(name -> new GroupPolicy(name, List.of("*"), null, List.of(), List.of())).toList();
        return new Policy(2, WritePolicy.WRITE_BACK, 0, 0, 0, 0, true, 3, 1_000, 5_000, 0, true,
                new MigrationPolicy(86_400_000, MarkClearing.ON_WRITE, 8, 1L << 30, all), null);
    }

    private long used(String group) {
        return ShareRows.use(w.node(a).shares(), group, Tier.HOST).usedBlocks();
    }

    private SharesRow shares() {
        return ShareRows.orNothing(w.node(a).shares());
    }

    /** One tick: what g and h have after it. */
    private List<Long> step() {
        w.tick();
        return List.of(used("g"), used("h"));
    }

    @Test
    void theCountsAreRightAfterEachStep() {
        w.policy(policy("g"));
        long before = shares().groupsVersion();
        assertEquals(List.of(0L, 0L), step());
        assertEquals(List.of(2L, 0L), step());
        assertEquals(before, shares().groupsVersion(), "not before the last one");
        assertEquals(List.of(6L, 0L), step());
        assertEquals(Bytes.EMPTY, w.fact(GroupsAdvanced.class).cursor());
        assertEquals(w.fact(GroupsAdvanced.class).policyVersion(), shares().groupsVersion());
        step();
        assertEquals(List.of(), w.facts(GroupsAdvanced.class), "it is done once");
    }

    /** Each step begins where the one before has stopped. */
    @Test
    void aStepGoesOnWhereTheLastOneStopped() {
        w.policy(policy("g"));
        step();
        GroupsAdvanced first = w.fact(GroupsAdvanced.class);
        assertEquals(Bytes.EMPTY, first.from());
        step();
        GroupsAdvanced second = w.fact(GroupsAdvanced.class);
        assertEquals(first.cursor(), second.from());
        step();
        assertEquals(second.cursor(), w.fact(GroupsAdvanced.class).from());
    }

    /** After two steps for g, 2 blocks are in g; h takes them from there, and none is left behind. */
    @Test
    void aPolicyInBetweenRestartsTheReassignment() {
        w.policy(policy("g"));
        step();
        assertEquals(List.of(2L, 0L), step());
        w.policy(policy("h"));

        assertEquals(List.of(2L, 0L), step());
        assertEquals(Bytes.EMPTY, w.fact(GroupsAdvanced.class).from());
        assertEquals(List.of(0L, 2L), step());
        assertEquals(List.of(0L, 6L), step());
        assertEquals(w.fact(GroupsAdvanced.class).policyVersion(), shares().groupsVersion());
    }

    /** What comes while steps are taken counts for the new group at once; what goes, for the one it is in. */
    @Test
    void whatComesAndGoesInBetweenCountsOnce() {
        w.policy(policy("g"));
        step();
        assertEquals(List.of(2L, 0L), step());
        w.warm(a, "new", List.of(key(9)), 9);
        assertEquals(3, used("g"));
        w.input(a.evicted(Tier.HOST, RemovalReason.CHECKSUM, Agent.paged(List.of(key(5)), 0, 1, 5)));

        int steps = 0;
        do {
            step();
            steps++;
        } while (!shares().groupsCursor().isEmpty());

        assertEquals(6, used("g"), "6 less the one that went and one that came, after " + steps + " steps");
    }

    /** With the last group all counts go; a node without anything in groups takes no steps. */
    @Test
    void withoutGroupsNothingIsLeft() {
        w.policy(policy("g"));
        step();
        step();
        assertEquals(List.of(6L, 0L), step());
        w.policy(policy());
        step();
        step();
        assertEquals(List.of(0L, 0L), step());
        w.policy(policy());
        step();
        assertEquals(List.of(), w.facts(GroupsAdvanced.class));
    }
}
