/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.eviction;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.controller.core.Agent;
import io.tierlog.controller.core.World;
import io.tierlog.controller.core.api.Limits;
import io.tierlog.controller.core.state.Blocks;
import io.tierlog.controller.core.table.HeapTables;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.EvictionOrder;
import io.tierlog.schemas.GroupPolicy;
import io.tierlog.schemas.GroupTier;
import io.tierlog.schemas.MarkClearing;
import io.tierlog.schemas.MigrationPolicy;
import io.tierlog.schemas.Policy;
import io.tierlog.schemas.RemovalReason;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.TierBound;
import io.tierlog.schemas.WritePolicy;
import io.tierlog.schemas.command.DropBlocks;
import io.tierlog.schemas.state.PlacementRow;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** The orders of a host of 20 blocks, in offsets of the log. {@link World} checks after every input that each leaf stands where its row says. */
class EvictionOrderTest {
    private static final List<Bytes> SYSTEM = Agent.path("s", 2);

    private final World w = new World(new HeapTables(), Limits.DEFAULTS.withBlocksPerDecision(4)).policy(policy(0, EvictionOrder.GAPS, null));
    private final Agent a = w.register("a", 20);

    /** Eviction of the host from its high mark down, the order of the host, and that of a group of all namespaces, if there is one. */
    private static Policy policy(double high, @Nullable EvictionOrder order, @Nullable EvictionOrder group) {
        List<GroupPolicy> groups = group == null ? List.of() : List.of(
                new GroupPolicy("g", List.of("*"), null, List.of(new GroupTier(Tier.HOST, null, 0, 0, group)), List.of()));
        return new Policy(2, WritePolicy.WRITE_BACK, high, high, 0, 0, true, 3, 1_000, 5_000, 0, true,
                new MigrationPolicy(86_400_000, MarkClearing.ON_WRITE, 8, 1L << 30, groups), null,
                order == null ? null : List.of(new TierBound(Tier.HOST, 0, order)));
    }

    private static List<Bytes> on(List<Bytes> prefix, String name) {
        return Stream.concat(prefix.stream(), Stream.of(Agent.key(name))).toList();
    }

    private PlacementRow row(Bytes key) {
        return Objects.requireNonNull(w.copy(a, Tier.HOST, key));
    }

    /** A request uses what the host has of {@code path}, and ends; returns the offset of the use. */
    private long use(String request, List<Bytes> path) {
        w.input(a.submit(request, path).answered().event());
        long at = w.offset();
        w.input(a.finished(request, 1));
        return at;
    }

    /** The last block of a prompt that nothing extends: half the gap. Used at 100 and 110 it stands at 110 + 5, used at 114 again it stays there. */
    @Test
    void theEndOfAConversationEarnsHalfAGap() {
        w.warm(a, "r", SYSTEM, 0);
        Bytes end = SYSTEM.getLast();
        long first = row(end).touch();
        assertEquals(0, row(end).credit());
        for (int i = 0; i < 6; i++) {
            w.tick();
        }
        long second = use("r2", SYSTEM);
        assertEquals((second - first) / 2, row(end).credit());
        assertFalse(row(end).branch());
        long place = second + row(end).credit();
        long third = use("r3", SYSTEM);
        assertEquals(Math.max(place, third + (third - second) / 2), third + row(end).credit(), "a place never falls");
        assertEquals(0, row(SYSTEM.getFirst()).credit(), "only the deepest block of a hit is written");
    }

    /** Where another block extends it, four gaps; and still after that one has left. */
    @Test
    void aBlockThatPromptsBranchAtEarnsFourGaps() {
        w.warm(a, "r", on(SYSTEM, "x"), 0);
        long first = row(SYSTEM.getLast()).touch();
        long second = use("r2", on(SYSTEM, "y"));
        assertEquals(4 * (second - first), row(SYSTEM.getLast()).credit());
        assertTrue(row(SYSTEM.getLast()).branch());

        w.input(a.evicted(Tier.HOST, RemovalReason.CHECKSUM, Agent.paged(on(SYSTEM, "x"), 2, 3, 2)));
        long third = use("r3", on(SYSTEM, "z"));
        assertEquals(4 * (third - second), row(SYSTEM.getLast()).credit(), "the first gap was the shorter");
    }

    /**
     * A shared prompt of 2 blocks, used again, and then 8 one-shot prompts of 1 block: by LRU the shared prompt is the coldest; by gaps it stands
     * behind the first two of them, which came within 4 gaps.
     */
    @Test
    void whatIsSharedOutlivesWhatIsUsedOnce() {
        assertEquals(List.of("t0", "s1", "s0"), leaving(EvictionOrder.LRU).subList(0, 3));
        List<String> gaps = new EvictionOrderTest().leaving(EvictionOrder.GAPS);
        assertEquals(List.of("t0", "o0", "o1", "s1", "s0"), gaps.subList(0, 5));
    }

    private List<String> leaving(EvictionOrder order) {
        w.policy(policy(0, order, null));
        w.warm(a, "r", on(SYSTEM, "t0"), 0);
        w.tick();
        w.tick();
        use("r2", SYSTEM);
        for (int i = 0; i < 8; i++) {
            w.warm(a, "o" + i, List.of(Agent.key("o" + i)), 3 + i);
        }
        w.policy(policy(0.05, order, null));
        for (int i = 0; i < 20; i++) {
            w.tick();
        }
        List<String> names = new ArrayList<>();
        w.commands.stream().filter(DropBlocks.class::isInstance).map(DropBlocks.class::cast)
                .forEach(drop -> names.addAll(WatermarkEvictionTest.names(Blocks.of(drop.blocks()))));
        return names;
    }

    /** A group's order goes before that of the tier. */
    @Test
    void aGroupHasItsOwnOrder() {
        w.policy(policy(0, EvictionOrder.GAPS, EvictionOrder.LRU));
        w.warm(a, "r", SYSTEM, 0);
        use("r2", SYSTEM);
        assertEquals("g", row(SYSTEM.getLast()).group());
        assertEquals(0, row(SYSTEM.getLast()).credit());
    }

    /** What was earned goes in steps of 4 rows: 5 prompts of 2 blocks have 5 credits on 20 rows, the device's first. */
    @Test
    void anotherOrderComesInSteps() {
        for (int i = 0; i < 5; i++) {
            w.warm(a, "r" + i, Agent.path("p" + i, 2), 2 * i);
            w.tick();
            use("u" + i, Agent.path("p" + i, 2));
        }
        assertEquals(5, earning());
        w.policy(policy(0, EvictionOrder.LRU, null));
        assertEquals(5, earning(), "no more than a step at a time");
        int steps = 0;
        while (earning() > 0 && steps < 10) {
            long before = earning();
            w.tick();
            assertTrue(before - earning() <= 4, "a step is bounded");
            steps++;
        }
        assertEquals(0, earning());
        assertTrue(steps > 1, "more than one step");
    }

    private long earning() {
        return Stream.of(0, 1, 2, 3, 4).filter(i -> row(Agent.path("p" + i, 2).getLast()).credit() > 0).count();
    }
}
