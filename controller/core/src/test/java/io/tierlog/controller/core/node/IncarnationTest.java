/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.node;

import static io.tierlog.controller.core.World.assertRefused;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.controller.core.Agent;
import io.tierlog.controller.core.Core;
import io.tierlog.controller.core.World;
import io.tierlog.controller.core.api.Limits;
import io.tierlog.controller.core.api.Outcome;
import io.tierlog.controller.core.decide.DecisionContext;
import io.tierlog.controller.core.evolve.Evolve;
import io.tierlog.controller.core.invariant.TableInvariants;
import io.tierlog.controller.core.table.HeapTables;
import io.tierlog.controller.core.table.RowKey;
import io.tierlog.controller.core.table.Rows;
import io.tierlog.controller.core.table.Tables;
import io.tierlog.schemas.Block;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.Layout;
import io.tierlog.schemas.LayoutKind;
import io.tierlog.schemas.LeaseEndReason;
import io.tierlog.schemas.OperationReason;
import io.tierlog.schemas.OperationState;
import io.tierlog.schemas.PagedBlock;
import io.tierlog.schemas.Policy;
import io.tierlog.schemas.RefusalReason;
import io.tierlog.schemas.RemovalReason;
import io.tierlog.schemas.RequestReason;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.command.CancelOperation;
import io.tierlog.schemas.command.FenceAgent;
import io.tierlog.schemas.command.PrefetchBlocks;
import io.tierlog.schemas.decision.AgentAccepted;
import io.tierlog.schemas.decision.AgentRefused;
import io.tierlog.schemas.decision.BlocksRemoved;
import io.tierlog.schemas.decision.Fact;
import io.tierlog.schemas.decision.LeaseEnded;
import io.tierlog.schemas.decision.NodeEnded;
import io.tierlog.schemas.decision.OperationEnded;
import io.tierlog.schemas.decision.OperationOverdue;
import io.tierlog.schemas.decision.RequestTransitioned;
import io.tierlog.schemas.event.AgentRegistering;
import io.tierlog.schemas.event.EngineAttached;
import io.tierlog.schemas.event.EngineDetached;
import io.tierlog.schemas.event.OperationCancelled;
import io.tierlog.schemas.event.PrefetchDone;
import io.tierlog.schemas.state.PlacementState;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Agents come, go silent, are fenced and come back; operations and leases fall due. */
class IncarnationTest {
    private final World w = new World();
    private final List<Bytes> p = Agent.path("p", 5);

    private PrefetchBlocks fetch(Agent agent) {
        w.input(agent.submit("r", p).store(0, 5).event());
        return w.command(PrefetchBlocks.class);
    }

    @Test
    void theFirstIncarnationIsOne() {
        Agent a = w.register("a", 10);

        AgentAccepted accepted = w.fact(AgentAccepted.class);
        assertEquals(List.of(1L, 0L, "a-1", World.POLICY),
                List.of(accepted.newIncarnation(), accepted.commandSequence(), accepted.processId(), accepted.policy()));
        assertEquals(1, accepted.envelope().incarnation());
        assertEquals("controller/0", accepted.envelope().sender());
        assertEquals("node/a@" + w.offset(), accepted.envelope().cause());
        assertEquals(10, w.host(a).capacityBlocks());
    }

    @Test
    void aRegistrationThatIsTriedAgainGetsTheSameAnswer() {
        Agent a = w.register("a", 10);
        w.input(a.registering());

        assertEquals("AgentAccepted", w.factNames());
        assertEquals(1, w.fact(AgentAccepted.class).newIncarnation());
    }

    /** Silent for 3 ticks of 3: alive. For 4: dead, and the other one may have the name. */
    @Test
    void twoProcessesCannotHaveOneName() {
        Agent a = w.register("a", 10);
        Agent other = new Agent("a", "a-2", 10);
        for (int i = 0; i < 3; i++) {
            w.tick();
        }
        assertRefused(RefusalReason.DUPLICATE_NODE, w.input(other.registering()));
        assertEquals("AgentRefused", w.factNames());
        assertEquals("a-2", w.fact(AgentRefused.class).processId());

        w.tick();
        assertEquals("TimeAdvanced NodeEnded SweepAdvanced", w.factNames());
        w.register(other);
        assertEquals(2, other.incarnation);
        assertRefused(RefusalReason.STALE_INCARNATION, w.input(a.heartbeat()));
    }

    /** Who holds the lock of the last process of the node need not wait until that one has been silent for long enough. */
    @Test
    void aProcessThatKnowsTheLastToHaveEndedTakesItsPlaceAtOnce() {
        Agent a = w.register("a", 10);
        Agent wrong = new Agent("a", "a-2", 10);
        wrong.replaces = "a-0";
        assertRefused(RefusalReason.DUPLICATE_NODE, w.input(wrong.registering()));

        Agent next = new Agent("a", "a-3", 10);
        next.replaces = "a-1";
        w.register(next);
        assertEquals("NodeEnded AgentAccepted SweepAdvanced", w.factNames());
        assertEquals(2, next.incarnation);
        assertRefused(RefusalReason.STALE_INCARNATION, w.input(a.heartbeat()));
    }

    /** A forged command with a high number makes an agent refuse all later ones: its heartbeat shows it, and it registers again. */
    @Test
    void aHeartbeatAboveTheLastCommandIsRefusedAndFencesTheNode() {
        Agent a = w.register("a", 10);
        long issued = fetch(a).header().commandSequence();
        w.input(a.heartbeat(issued));
        assertEquals("NodeSeen", w.factNames());

        assertRefused(RefusalReason.FUTURE_COMMAND, w.input(a.heartbeat(issued + 1)));
        assertEquals(RemovalReason.NODE_LOST, w.fact(NodeEnded.class).reason());
        assertEquals(0, w.command(FenceAgent.class).header().commandSequence());
        w.register(new Agent("a", "a-2", 10));
    }

    @Test
    void anEventOfAProcessThatIsNotRegisteredIsRefused() {
        Agent a = w.register("a", 10);
        Agent forged = new Agent("a", "a-2", 10);
        forged.incarnation = a.incarnation;
        forged.heartbeat();
        forged.heartbeat();

        assertRefused(RefusalReason.WRONG_SENDER, w.input(forged.stopping()));
        assertEquals("InputRefused", w.factNames());
        w.input(a.heartbeat());
        assertEquals("NodeSeen", w.factNames(), "the numbers of the registered process go on");
    }

    @Test
    void aRegistrationForAnotherProcessIsRefused() {
        Agent a = new Agent("a", "a-1", 10);
        AgentRegistering e = a.registering();
        Envelope from = e.envelope();
        Envelope wrong = new Envelope(from.aggregate(), "agent/b/a-1", 0, 1, 0, 0, null, null, null);
        assertRefused(RefusalReason.WRONG_SENDER, w.input(e.withEnvelope(wrong)));
        assertEquals("InputRefused", w.factNames());
    }

    /** It registered and stopped before a controller ran, so it does not know its incarnation. */
    @Test
    void aProcessThatStopsBeforeItsAnswerDoesNotHoldTheNode() {
        Agent a = new Agent("a", "a-1", 10);
        w.input(a.registering());
        w.input(a.stopping());
        assertEquals(RemovalReason.NODE_STOPPED, w.fact(NodeEnded.class).reason());

        Agent next = new Agent("a", "a-2", 10);
        w.register(next);
        assertEquals(2, next.incarnation);
        assertRefused(RefusalReason.STALE_INCARNATION, w.input(a.stopping()));
        assertTrue(w.node(next).alive());
    }

    @Test
    void anyEventKeepsANodeAlive() {
        Agent a = w.register("a", 10);
        for (int i = 0; i < 10; i++) {
            w.tick();
            w.input(a.heartbeat());
        }
        assertTrue(w.node(a).alive());
    }

    /** The controller was away for an hour: time jumps, ticks do not. */
    @Test
    void aPauseOfTheControllerEndsNoNode() {
        Agent a = w.register("a", 10);
        w.tick(3_600_000);
        assertTrue(w.node(a).alive());
    }

    /** A clock that was set back still ticks; time stands. */
    @Test
    void timeNeverGoesBackwards() {
        w.tick(10_000);
        long before = w.timeMsOfLog();
        w.tick(-5_000);
        assertEquals(before, w.timeMsOfLog());
        assertEquals("TimeAdvanced", w.factNames());
        w.tick(5_000);
        assertRefused(RefusalReason.REPEATED, w.last);
    }

    @ParameterizedTest
    @CsvSource({"HYBRID,1,LAYOUT_UNSUPPORTED", "STATE_SPACE,1,LAYOUT_UNSUPPORTED", "UNKNOWN,1,LAYOUT_UNSUPPORTED",
            "MLA,2,LAYOUT_UNSUPPORTED", "MLA,0,LAYOUT_INVALID"})
    void layoutsThatCannotBeServedAreRefused(LayoutKind kind, int nodesPerInstance, RefusalReason reason) {
        Agent a = new Agent("a", "a-1", 10);
        assertRefused(reason, w.input(a.registering(new Layout("l", kind, 4, 2, 4_096, 1, "bf16", false), nodesPerInstance)));
        assertEquals(reason, w.fact(AgentRefused.class).reason());
        assertNull(w.tables.get(Rows.NODES, new RowKey.Aggregate("node/a")));
    }

    @Test
    void aLayoutWithoutTokensIsInvalid() {
        assertRefused(RefusalReason.LAYOUT_INVALID, w.input(new Agent("a", "a-1", 10)
                .registering(new Layout("l", LayoutKind.MLA, 4, 0, 4_096, 1, "bf16", false), 1)));
    }

    @Test
    void onlyWhatSeveralRanksHoldIsReplicated() {
        assertRefused(RefusalReason.LAYOUT_INVALID, w.input(new Agent("a", "a-1", 10)
                .registering(new Layout("l", LayoutKind.MLA, 4, 2, 4_096, 1, "bf16", true), 1)));
    }

    @Test
    void aNameThatIsNoneIsRefused() {
        assertRefused(RefusalReason.OVER_LIMIT, w.input(new Agent("a b", "a-1", 10).registering()));
        assertRefused(RefusalReason.OVER_LIMIT, w.input(new Agent("", "a-1", 10).registering()));
    }

    @Test
    void anUnregisteredAgentIsRefused() {
        Agent a = new Agent("a", "a-1", 10);
        a.incarnation = 1;
        assertRefused(RefusalReason.NODE_UNKNOWN, w.input(a.heartbeat()));
        assertEquals(0, w.command(FenceAgent.class).currentIncarnation());
    }

    @Test
    void anIncarnationThatWasNeverGivenOutIsRefused() {
        Agent a = w.register("a", 10);
        a.incarnation = 2;
        assertRefused(RefusalReason.FUTURE_INCARNATION, w.input(a.heartbeat()));
        assertEquals(List.of(), w.last.commands());
    }

    /** A node that was declared dead sends again: it is fenced, and its bytes count for nothing. */
    @Test
    void aDeadNodeThatSpeaksIsFenced() {
        Agent a = w.register("a", 10);
        w.warm(a, "warm", p, 0);
        w.input(a.stopping());
        assertEquals(RemovalReason.NODE_STOPPED, w.fact(NodeEnded.class).reason());

        assertRefused(RefusalReason.STALE_INCARNATION, w.input(a.sealed("r", 1, Agent.paged(p, 0, 5, 0))));
        FenceAgent fence = w.command(FenceAgent.class);
        assertEquals(List.of(1L, 0L, 0L),
                List.of(fence.envelope().incarnation(), fence.currentIncarnation(), fence.header().commandSequence()));
        assertEquals("InputRefused", w.factNames());
    }

    /** C13: the earlier incarnation is fenced at once: its request, operation and lease end, its placements no longer count. */
    @Test
    void aHigherIncarnationFencesTheLower() {
        Agent a = w.register("a", 100);
        w.warm(a, "warm", Agent.path("q", 2), 50);
        fetch(a);
        for (int i = 0; i < 3; i++) {
            w.tick();
        }
        long commands = w.node(a).commandSequence();
        Agent b = new Agent("a", "a-2", 100);
        w.policy(new Policy(2, World.POLICY.writePolicy(), 0.9, 0.8, 0.9, 0.8, true, 100, 1_000, 5_000, 0, true, null, null));
        w.register(b);

        assertEquals("NodeEnded AgentAccepted RequestTransitioned OperationEnded LeaseEnded BlocksRemoved BlocksRemoved SweepAdvanced",
                w.factNames());
        assertEquals(commands, w.fact(AgentAccepted.class).commandSequence(), "the count of commands goes on");
        assertEquals(RequestReason.NODE_LOST, w.fact(RequestTransitioned.class).reason());
        assertEquals(OperationState.FENCED, w.fact(OperationEnded.class).state());
        assertEquals(LeaseEndReason.NODE_LOST, w.fact(LeaseEnded.class).reason());
        assertEquals(0, w.host(b).usedBlocks());
        assertEquals(0, ((HeapTables) w.tables).rows(Rows.PLACEMENTS).size());
        assertEquals(0, ((HeapTables) w.tables).rows(Rows.ORDER).size());
        assertRefused(RefusalReason.STALE_INCARNATION, w.input(a.heartbeat()));
        assertEquals(2, w.command(FenceAgent.class).currentIncarnation());
    }

    /**
     * C13: the cleanup takes two rows at a time, request and operation. So the lease of the ended incarnation ends when the same attempt has
     * another one, which stays the attempt's and ends with its prefill.
     */
    @Test
    void theLeaseOfAnEndedIncarnationLeavesTheAttemptItsNewOne() {
        World small = new World(new HeapTables(), Limits.DEFAULTS.withBlocksPerDecision(2));
        small.policy(new Policy(1, World.POLICY.writePolicy(), 0.9, 0.8, 0.9, 0.8, true, 2, 1_000, 5_000, 3, true, null, null));
        Agent a = small.register("a", 10);
        small.input(a.submit("r", p).store(0, 5).event());
        String first = small.command(PrefetchBlocks.class).lease();
        Agent b = new Agent("a", "a-2", 10);
        b.replaces = "a-1";
        small.register(b);
        small.input(b.submit("r", p).store(0, 5).event());
        String second = small.command(PrefetchBlocks.class).lease();
        assertEquals(List.of(), small.facts.stream().filter(LeaseEnded.class::isInstance).toList());

        small.tick();

        assertEquals(first, small.fact(LeaseEnded.class).lease());
        assertEquals(second, Objects.requireNonNull(small.request(b, "r")).lease());
        small.input(b.prefilled("r", 1));
        assertEquals(second, small.fact(LeaseEnded.class).lease());
    }

    /** The new incarnation places blocks while the old one's placements are still there: they are overwritten, and not cleaned up. */
    @Test
    void staleCopiesAreOverwrittenFreely() {
        World small = new World(new HeapTables(), Limits.DEFAULTS.withBlocksPerDecision(100));
        Agent a = small.register("a", 100);
        small.warm(a, "warm", p, 0);
        Tables frozen = small.tables;
        Envelope about = DecisionContext.of(frozen, small.limits, small.log.getLast(), Evolve::apply).envelope("node/a", 1);
        Core.evolve(frozen, new NodeEnded(about, 1, RemovalReason.NODE_LOST));
        AgentAccepted accepted = small.facts.stream().filter(AgentAccepted.class::isInstance).map(AgentAccepted.class::cast).findFirst()
                .orElseThrow();
        Core.evolve(frozen, new AgentAccepted(about, "a", "a-2", 2, accepted.tiers(), accepted.layoutDigest(),
                accepted.configurationDigest(), 9, accepted.policy(), null, false));
        Agent b = new Agent("a", "a-2", 100);
        b.incarnation = 2;
        assertEquals(List.of(), TableInvariants.check(frozen, 0));

        small.warm(b, "again", p.subList(0, 3), 20);
        assertEquals(3, small.host(b).usedBlocks());
        small.tick();

        BlocksRemoved removed = small.facts(BlocksRemoved.class).stream().filter(f -> f.tier() == Tier.HOST).findFirst().orElseThrow();
        assertEquals(List.of(3, 4), World.indexes(removed.blocks()));
        assertEquals(3, small.host(b).usedBlocks());
    }

    /** C14: 10,000 copies of a node that ends: no decision takes more than 1,000, and another node's request is answered meanwhile. */
    @Test
    void aNodeIsSweptInSteps() {
        HeapTables tables = new HeapTables();
        World big = new World(tables, Limits.DEFAULTS);
        Agent a = big.register("a", 100_000);
        Agent b = big.register("b", 100);
        for (int i = 0; i < 10; i++) {
            big.input(a.sealed("none", 1, pages(i)));
        }
        assertEquals(10_000, tables.rows(Rows.PLACEMENTS).size());

        big.input(a.stopping());
        int steps = 0;
        int left = 10_000;
        while (left > 0) {
            int now = (int) tables.rows(Rows.PLACEMENTS).keySet().stream().filter(key -> key.aggregate().equals("node/a")).count();
            assertTrue(left - now <= 1_000, "swept " + (left - now));
            assertTrue(now < left);
            left = now;
            steps++;
            if (left > 0) {
                big.input(b.submit("r" + steps, p).store(0, 5).event());
                assertEquals(Outcome.APPLIED, big.last.outcome());
                big.input(b.cancelled("r" + steps, 1));
                big.tick();
            }
        }
        assertEquals(10, steps);
        assertEquals(10_000, big.facts.stream().mapToInt(f -> f instanceof BlocksRemoved removed ? removed.blocks().size() : 0).sum());
        big.tick();
        assertNull(big.node(a).sweep());
    }

    private static List<PagedBlock> pages(int batch) {
        List<PagedBlock> pages = new ArrayList<>();
        for (int i = 0; i < 1_000; i++) {
            Bytes key = Agent.key(batch * 1_000L + i);
            pages.add(new PagedBlock(new Block(0, key, Bytes.EMPTY), i, 1, 0));
        }
        return pages;
    }

    /** Issued at 0 + 1,000 ms: late at 1,000, cancelled again at every 1,000 after; its places stay until the agent has answered. */
    @Test
    void anOverdueOperationIsCancelledUntilItEnds() {
        Agent a = w.register("a", 10);
        w.tick();
        PrefetchBlocks fetch = fetch(a);
        w.input(a.heartbeat());
        w.tick(999);
        assertEquals("TimeAdvanced", w.factNames());

        w.tick(1);
        assertEquals("TimeAdvanced OperationOverdue", w.factNames());
        CancelOperation cancel = w.command(CancelOperation.class);
        assertEquals(fetch.operation(), cancel.operation());
        assertEquals(w.fact(OperationOverdue.class).commandSequence(), cancel.header().commandSequence());
        assertEquals(fetch.header().commandSequence() + 1, cancel.header().commandSequence());
        w.input(a.heartbeat());
        w.tick(1_000);
        assertEquals(2, w.fact(OperationOverdue.class).cancels());
        assertEquals(5, w.host(a).usedBlocks());

        w.input(new OperationCancelled(a.envelope(), fetch.operation(), OperationReason.NEVER_STARTED, "", List.of()));
        assertEquals("OperationEnded LeaseEnded RequestTransitioned", w.factNames());
        assertEquals(List.of(OperationState.CANCELLED, OperationReason.NEVER_STARTED, 5), List.of(w.fact(OperationEnded.class).state(),
                w.fact(OperationEnded.class).reason(), w.fact(OperationEnded.class).failedBlocks()));
        assertEquals(0, w.host(a).usedBlocks());
        w.tick(1_000);
        assertEquals("TimeAdvanced", w.factNames());
    }

    @Test
    void aLeaseExpires() {
        Agent a = w.register("a", 10);
        w.tick();
        PrefetchBlocks fetch = fetch(a);
        w.input(new PrefetchDone(a.envelope(), fetch.operation(), fetch.lease(), Agent.NAMESPACE, Agent.fetched(fetch.blocks(), 0), 0, 0));
        w.tick(4_999);
        assertEquals("TimeAdvanced", w.factNames());
        w.tick(1);
        assertEquals(LeaseEndReason.EXPIRED, w.fact(LeaseEnded.class).reason());
        assertEquals(0, Objects.requireNonNull(w.copy(a, Tier.HOST, p.get(4))).holds());
        w.input(a.prefilled("r", 1));
        assertEquals("RequestTransitioned", w.factNames());
    }

    /** What has ended is forgotten after a minute, and its timers with it. */
    @Test
    void endedRowsAreForgotten() {
        HeapTables tables = (HeapTables) w.tables;
        Agent a = w.register("a", 10);
        w.warm(a, "warm", p, 0);
        w.input(a.submit("open", p).answered().event());
        for (int i = 0; i < 70; i++) {
            w.tick();
            w.input(a.heartbeat());
        }
        assertEquals(0, tables.rows(Rows.OPERATIONS).size());
        assertEquals(List.of("open"), tables.rows(Rows.REQUESTS).keySet().stream().map(RowKey.Text::id).toList());
        w.input(a.cancelled("open", 1));
        for (int i = 0; i < 130; i++) {
            w.tick();
            w.input(a.heartbeat());
        }
        assertEquals(0, tables.rows(Rows.REQUESTS).size());
        assertEquals(0, tables.rows(Rows.TIMERS).size());
    }

    @Test
    void anEngineThatLeavesTakesItsDeviceBlocks() {
        Agent a = w.register("a", 10);
        w.input(new EngineAttached(a.envelope(), "e", 64, Agent.digest(), Map.of()));
        assertEquals("EngineJoined", w.factNames());
        w.warm(a, "warm", p, 0);
        assertEquals(PlacementState.SERVING, w.state(a, Tier.DEVICE, p.get(0)));

        w.input(new EngineDetached(a.envelope(), "e", false));

        assertEquals("EngineLeft BlocksRemoved SweepAdvanced", w.factNames());
        assertEquals(PlacementState.ABSENT, w.state(a, Tier.DEVICE, p.get(0)));
        assertEquals(PlacementState.SERVING, w.state(a, Tier.HOST, p.get(0)));
        assertRefused(RefusalReason.REPEATED, w.input(new EngineDetached(a.envelope(), "e", false)));
    }

    /** The sweep takes two blocks at a time; that the others count no more is true at once. */
    @Test
    void deviceCopiesOfAnEngineThatLeftCountNoMoreAtOnce() {
        World small = new World(new HeapTables(), Limits.DEFAULTS.withBlocksPerDecision(2));
        Agent a = small.register("a", 10);
        small.input(new EngineAttached(a.envelope(), "e", 64, Agent.digest(), Map.of()));
        small.input(a.submit("r", p).answered().event());
        small.input(a.sealed("r", 1, Agent.paged(p, 0, 5, 0)));
        assertEquals(PlacementState.SERVING, small.state(a, Tier.DEVICE, p.get(4)));

        small.input(new EngineDetached(a.envelope(), "e", false));

        assertEquals(2, small.fact(BlocksRemoved.class).blocks().size());
        p.forEach(key -> assertEquals(PlacementState.ABSENT, small.state(a, Tier.DEVICE, key)));
    }

    @Test
    void anEngineWithOtherLayoutsIsRefused() {
        Agent a = w.register("a", 10);
        byte[] other = new byte[32];
        other[0] = 1;
        assertRefused(RefusalReason.CONFIGURATION_MISMATCH,
                w.input(new EngineAttached(a.envelope(), "e", 64, Bytes.wrapUnshared(other), Map.of())));
    }

    @Test
    void everyInputOfAnEndedIncarnationIsRefusedAndNothingThrows() {
        Agent a = w.register("a", 10);
        PrefetchBlocks fetch = fetch(a);
        w.input(a.stopping());
        w.input(new PrefetchDone(a.envelope(), fetch.operation(), fetch.lease(), Agent.NAMESPACE, Agent.fetched(fetch.blocks(), 0), 0, 0));
        assertInstanceOf(Outcome.Refused.class, w.last.outcome());
        List<Fact> ended = w.facts.stream().filter(OperationEnded.class::isInstance).toList();
        assertEquals(1, ended.size());
    }
}
