/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.migration;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.controller.core.Agent;
import io.tierlog.controller.core.api.Input;
import io.tierlog.controller.core.decide.DecisionContext;
import io.tierlog.controller.core.decide.NodeContext;
import io.tierlog.controller.core.evolve.Evolve;
import io.tierlog.schemas.Block;
import io.tierlog.schemas.BlockName;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.MarkClearing;
import io.tierlog.schemas.MigrationAnswer;
import io.tierlog.schemas.MigrationMethod;
import io.tierlog.schemas.MigrationOrder;
import io.tierlog.schemas.MigrationRefusal;
import io.tierlog.schemas.PagedBlock;
import io.tierlog.schemas.Retention;
import io.tierlog.schemas.SampleRule;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.command.CopyBlocks;
import io.tierlog.schemas.decision.MarkAdded;
import io.tierlog.schemas.decision.MigrationRejected;
import io.tierlog.schemas.decision.MigrationSubmitted;
import io.tierlog.schemas.decision.MigrationTaken;
import io.tierlog.schemas.event.BlocksRecovered;
import io.tierlog.schemas.event.NodeDrainRequested;
import io.tierlog.schemas.state.PlacementRow;
import io.tierlog.schemas.state.PlacementState;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** What a node answers to an order, block by block. */
class AdmissionTest extends MigrationScene {
    private static final Tier DISK = Tier.DISK;

    private void concurrency(int most) {
        w.policy(policy(most, true, MarkClearing.ON_WRITE));
    }

    private static void assertAnswer(List<Integer> copied, List<Integer> marked, List<Integer> refused, List<MigrationRefusal> reasons,
            MigrationAnswer answer) {
        assertEquals(List.of(copied, marked, refused), List.of(numbers(answer.copied()), numbers(answer.marked()), numbers(answer.refused())));
        assertEquals(reasons, answer.reasons());
    }

    @Test
    void whatIsNotThereIsNotCopied() {
        onHost(101, 102);

        MigrationAnswer answer = ask("m", order(MigrationMethod.COPY, DISK, 101, 102, 103));

        assertAnswer(List.of(101, 102), List.of(), List.of(103), List.of(MigrationRefusal.SOURCE_NOT_SERVING), answer);
        assertEquals(2, copies().size(), "one operation for each block");
        assertEquals(PlacementState.COPYING, w.state(a, Tier.HOST, key(101)));
        assertEquals(PlacementState.WRITING, w.state(a, DISK, key(101)));
    }

    @Test
    void theLimitCountsBlocks() {
        concurrency(1);
        onHost(1, 2, 3);

        assertAnswer(List.of(1), List.of(), List.of(2, 3), List.of(MigrationRefusal.OUT_OF_BUDGET, MigrationRefusal.OUT_OF_BUDGET),
                ask("m", order(MigrationMethod.COPY, DISK, 1, 2, 3)));
        MigrationRejected rejected = decided.facts().stream().filter(MigrationRejected.class::isInstance).map(MigrationRejected.class::cast)
                .findFirst().orElseThrow();
        assertEquals(List.of(key(2), key(3)), rejected.refused().getFirst().keys());
    }

    /** One slot, and two who want it. */
    @Test
    void theSecondOfTwoRequestsFindsTheSlotTaken() {
        concurrency(1);
        onHost(1, 2);
        ask("m1", order(MigrationMethod.COPY, DISK, 1));

        assertAnswer(List.of(), List.of(), List.of(2), List.of(MigrationRefusal.OUT_OF_BUDGET), ask("m2", order(MigrationMethod.COPY, DISK, 2)));
        assertEquals(0, Admission.free(node(), "g", Tier.HOST, DISK), "nor would the water level get one");
        assertEquals(2, Admission.free(node(), "g", Tier.HOST, Tier.STORE), "8 blocks, of which the bytes of 2 may be in flight");
    }

    private NodeContext node() {
        DecisionContext d = DecisionContext.of(w.tables, w.limits, new Input.Recorded(0, w.offset() + 1, a.heartbeat(), 0), Evolve::apply);
        return Objects.requireNonNull(d.node(a.aggregate()));
    }

    /** The route to the store has 8 places and bytes for 2 blocks. */
    @Test
    void bytesInFlightAreABudgetToo() {
        onHost(1, 2, 3);

        assertAnswer(List.of(1, 2), List.of(), List.of(3), List.of(MigrationRefusal.OUT_OF_BUDGET),
                ask("m", order(MigrationMethod.COPY, Tier.STORE, 1, 2, 3)));
    }

    @Test
    void whatTheBudgetRefusesIsMarkedUnderBoth() {
        concurrency(1);
        onHost(251, 252);

        assertAnswer(List.of(251), List.of(252), List.of(), List.of(), ask("m", order(MigrationMethod.BOTH, DISK, 251, 252)));
        MarkAdded mark = decided.facts().stream().filter(MarkAdded.class::isInstance).map(MarkAdded.class::cast).findFirst().orElseThrow();
        assertEquals(MigrationMethod.COPY, mark.fallbackFrom());
        assertEquals(List.of(MigrationMethod.COPY, MigrationMethod.MARK), decided.facts().stream().filter(MigrationSubmitted.class::isInstance)
                .map(f -> ((MigrationSubmitted) f).method()).toList());
    }

    @Test
    void aBlockNamedTwiceCountsOnce() {
        concurrency(1);
        onHost(261, 262, 263);

        assertAnswer(List.of(261), List.of(262, 263), List.of(), List.of(), ask("m", order(MigrationMethod.BOTH, DISK, 261, 261, 262, 263, 262)));
    }

    /** Whether the third is on the host too or not. */
    @Test
    void otherRefusalsAreFinalUnderBoth() {
        concurrency(1);
        onHost(1, 2);
        onDisk(3, 1_003);
        onHost(1_003);

        assertAnswer(List.of(1), List.of(2), List.of(3, 1_003), List.of(MigrationRefusal.TARGET_SERVING_EXISTS,
                MigrationRefusal.TARGET_SERVING_EXISTS), ask("m", order(MigrationMethod.BOTH, DISK, 1, 2, 3, 1_003)));
    }

    @Test
    void aTargetThatServesOrIsWrittenIsRefused() {
        onHost(701, 702, 703);
        onDisk(701);
        // 702 is on its way to the disk, from the device, by a mark.
        ask("mark", order(MigrationMethod.MARK, DISK, 702));
        seal(702);
        assertEquals(PlacementState.WRITING, w.state(a, DISK, key(702)));

        assertAnswer(List.of(703), List.of(), List.of(701, 702),
                List.of(MigrationRefusal.TARGET_SERVING_EXISTS, MigrationRefusal.TARGET_WRITING_EXISTS),
                ask("m", order(MigrationMethod.COPY, DISK, 701, 702, 703)));
    }

    @Test
    void whatIsCopiedAlreadyIsRefused() {
        onHost(1);
        ask("m1", order(MigrationMethod.COPY, DISK, 1));

        assertAnswer(List.of(), List.of(), List.of(1), List.of(MigrationRefusal.ALREADY_MIGRATING), ask("m2", order(MigrationMethod.COPY, DISK, 1)));
        assertAnswer(List.of(), List.of(), List.of(1), List.of(MigrationRefusal.ALREADY_MIGRATING),
                ask("m3", order(MigrationMethod.COPY, Tier.STORE, 1)));
    }

    /** Two slots: of a chain of three, the end is moved. Its first block could not leave, for the others extend it. */
    @Test
    void slotsGoToTheEndOfAChainThatIsMoved() {
        List<Bytes> p = Agent.path("p", 3);
        w.warm(a, "r", p, 700);
        List<BlockName> chain = p.stream().map(key -> new BlockName(Agent.NAMESPACE, key)).toList();

        MigrationAnswer answer = ask("m1",
                new MigrationOrder(MigrationMethod.COPY, Tier.HOST, Tier.STORE, Retention.DELETE_SOURCE, chain, null, null, false));

        assertEquals(List.of(chain.get(2), chain.get(1)), answer.copied());
        assertEquals(List.of(MigrationRefusal.OUT_OF_BUDGET), answer.reasons());
    }

    /** 1 is being written back, 2 is on its way out after its copy, 3 is on the disk alone. */
    @Test
    void theSourceMustServeAndBeFree() {
        seal(1);
        onHost(2);
        ask("m1", order(MigrationMethod.COPY, DISK, 2));
        w.input(done(copies().getFirst()));
        assertEquals(PlacementState.LEAVING, w.state(a, Tier.HOST, key(2)));
        onDisk(3);

        assertAnswer(List.of(), List.of(), List.of(1, 2, 3),
                List.of(MigrationRefusal.SOURCE_NOT_SERVING, MigrationRefusal.SOURCE_LEASED, MigrationRefusal.SOURCE_NOT_SERVING),
                ask("m2", order(MigrationMethod.COPY, Tier.STORE, 1, 2, 3)));
    }

    @Test
    void aDrainingNodeTakesNothing() {
        onHost(1);
        w.input(new NodeDrainRequested(operator("node/a"), "d", true, null));

        assertAnswer(List.of(), List.of(), List.of(1), List.of(MigrationRefusal.DRAINING), ask("m", order(MigrationMethod.COPY, DISK, 1)));
        assertAnswer(List.of(), List.of(), List.of(1), List.of(MigrationRefusal.DRAINING), ask("k", order(MigrationMethod.MARK, DISK, 1)));
        assertEquals(0, Admission.free(node(), "g", Tier.HOST, DISK));
    }

    @Test
    void aNodeWithoutTheTargetRefuses() {
        Agent b = w.register(new Agent("b", "b-1", 10));
        w.warm(b, "r", List.of(key(1)), 0);
        w.input(requested("m", order(MigrationMethod.BOTH, DISK, 1), "b"));
        relay();
        deliver();

        assertAnswer(List.of(), List.of(), List.of(1), List.of(MigrationRefusal.TARGET_UNAVAILABLE),
                Objects.requireNonNull(Objects.requireNonNull(report).answer()));
    }

    @Test
    void aNodeThatHasEndedRefuses() {
        onHost(1);
        w.input(a.stopping());

        assertAnswer(List.of(), List.of(), List.of(1), List.of(MigrationRefusal.NODE_UNKNOWN), ask("m", order(MigrationMethod.COPY, DISK, 1)));
    }

    @Test
    void onlyWhatIsThereIsMarked() {
        onHost(211, 212);

        assertAnswer(List.of(), List.of(211, 212), List.of(213), List.of(MigrationRefusal.SOURCE_NOT_SERVING),
                ask("m", order(MigrationMethod.MARK, DISK, 211, 212, 211, 213, 212)));
    }

    @Test
    void aGroupWithoutARouteThatMarksKnowsNoTarget() {
        w.policy(policy(1, false, MarkClearing.ON_WRITE));
        onHost(1, 2);

        assertAnswer(List.of(), List.of(), List.of(1), List.of(MigrationRefusal.TARGET_UNKNOWN), ask("m", order(MigrationMethod.MARK, DISK, 1)));
        assertAnswer(List.of(1), List.of(), List.of(2), List.of(MigrationRefusal.OUT_OF_BUDGET),
                ask("n", order(MigrationMethod.BOTH, DISK, 1, 2)));
    }

    /** 1 is the coldest. All were used at 2,000 ms. */
    @Test
    void aSampleTakesTheColdestThatAreOldEnough() {
        onHost(1, 2, 3);
        w.tick(20);

        assertAnswer(List.of(), List.of(), List.of(1), List.of(MigrationRefusal.TOO_YOUNG), ask("old", sample(1, 60_000)));
        assertEquals(List.of(MigrationTaken.class, MigrationRejected.class), decided.facts().stream().limit(2).map(Object::getClass).toList());
        MigrationOrder dry = sample(2, 20);
        MigrationOrder asked = new MigrationOrder(dry.method(), dry.source(), dry.target(), dry.retention(), List.of(), dry.sample(), null, true);
        List<PlacementRow> before = List.of(Objects.requireNonNull(w.copy(a, Tier.HOST, key(1))), Objects.requireNonNull(w.copy(a, Tier.HOST,
                key(2))));
        for (int i = 0; i < 100; i++) {
            assertAnswer(List.of(1, 2), List.of(), List.of(), List.of(), ask("again" + i, asked));
            assertEquals(List.of(), decided.commands());
        }
        assertEquals(before, List.of(Objects.requireNonNull(w.copy(a, Tier.HOST, key(1))), Objects.requireNonNull(w.copy(a, Tier.HOST, key(2)))),
                "looking is no hit");
        assertAnswer(List.of(1, 2), List.of(), List.of(), List.of(), ask("now", sample(2, 20)));
    }

    /**
     * 1 and 2 are old, and only the host has them; 3, 4 and 5 have just been used, and the store has them too: they leave first, but take no place in
     * a sample of 2. One of 4 names 2 of them as too young.
     */
    @Test
    void youngBlocksThatLeaveFirstTakeNoPlaceOfOldOnes() {
        onHost(1, 2);
        w.tick(60_000);
        onHost(3, 4, 5);
        MigrationOrder o = order(MigrationMethod.COPY, Tier.STORE, 3, 4, 5);
        ask("store", new MigrationOrder(o.method(), o.source(), o.target(), Retention.KEEP_BOTH, o.blocks(), null, null, false));
        for (CopyBlocks copy : copies()) {
            w.input(done(copy));
        }
        assertTrue(Objects.requireNonNull(w.copy(a, Tier.HOST, key(3))).stored());

        MigrationAnswer answer = ask("m", dry(4, 30_000));
        assertAnswer(List.of(1, 2), List.of(), List.of(3, 4), List.of(MigrationRefusal.TOO_YOUNG, MigrationRefusal.TOO_YOUNG), answer);
        assertAnswer(List.of(1, 2), List.of(), List.of(), List.of(), ask("n", dry(2, 30_000)));
        assertAnswer(List.of(1), List.of(), List.of(), List.of(), ask("o", dry(1, 30_000)));
        assertAnswer(List.of(3), List.of(), List.of(), List.of(), ask("p", dry(1, 0)));
    }

    private static MigrationOrder dry(int count, long minAgeMs) {
        MigrationOrder o = sample(count, minAgeMs);
        return new MigrationOrder(o.method(), o.source(), o.target(), o.retention(), List.of(), o.sample(), null, true);
    }

    /** A prompt of 3 blocks: its end first, then what is above it. */
    @Test
    void aSampleTakesPromptsFromTheirEnds() {
        List<Bytes> x = Agent.path("x", 3);
        w.warm(a, "x", x, 0);
        onHost(9);

        MigrationAnswer answer = ask("m", sample(2, 0));

        assertEquals(List.of(new BlockName(Agent.NAMESPACE, x.get(2)), new BlockName(Agent.NAMESPACE, x.get(1))), answer.copied());
    }

    /** 20 blocks: 20 of 192 bytes. A name has 10 characters of 3 bytes and a key of 8 to 32 bytes, or 64 such characters. */
    @Test
    void aSampleWithLongNamesIsShorter() {
        int key = key(1).size();
        assertEquals(20, sampled("€".repeat(10)));
        assertEquals(20 * 192 / (64 * 3 + key), sampled("€".repeat(64)));
    }

    /** How many are taken when 20 are asked for, of 20 that are old enough, in a namespace. */
    private static int sampled(String namespace) {
        AdmissionTest t = new AdmissionTest();
        for (int i = 0; i < 20; i++) {
            t.w.input(new BlocksRecovered(t.a.envelope(), Tier.HOST, namespace,
                    List.of(new PagedBlock(new Block(0, key(i), Bytes.EMPTY), i, 7, 77)), 19 - i));
        }
        MigrationOrder wanted = sample(20, 0);
        MigrationAnswer answer = t.ask("m",
                new MigrationOrder(MigrationMethod.COPY, Tier.HOST, DISK, Retention.DELETE_SOURCE, List.of(), wanted.sample(), null, true));
        return answer.copied().size() + answer.refused().size();
    }

    @Test
    void aSampleOfAGroupTakesItsBlocksOnly() {
        onHost(1);
        MigrationOrder none = new MigrationOrder(MigrationMethod.COPY, Tier.HOST, DISK, Retention.DELETE_SOURCE, List.of(),
                new SampleRule(5, 0, "other"), null, false);
        assertAnswer(List.of(), List.of(), List.of(), List.of(), ask("m", none));
        MigrationOrder its = new MigrationOrder(MigrationMethod.COPY, Tier.HOST, DISK, Retention.DELETE_SOURCE, List.of(),
                new SampleRule(5, 0, "g"), null, false);
        assertAnswer(List.of(1), List.of(), List.of(), List.of(), ask("n", its));
    }

    @Test
    void aDryRunChangesNothing() {
        concurrency(1);
        onHost(1, 2);
        onDisk(3);
        MigrationOrder order = order(MigrationMethod.BOTH, DISK, 1, 2, 3);
        MigrationOrder dry = new MigrationOrder(order.method(), order.source(), order.target(), order.retention(), order.blocks(), null, null, true);

        assertAnswer(List.of(1), List.of(2), List.of(3), List.of(MigrationRefusal.TARGET_SERVING_EXISTS), ask("m", dry));
        assertEquals(List.of("MigrationTaken"), decided.facts().stream().map(f -> f.getClass().getSimpleName()).toList());
        assertEquals(List.of(), decided.commands().stream().filter(CopyBlocks.class::isInstance).toList());
    }
}
