/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.controller.core.SmallWorld.Side;
import io.tierlog.controller.core.api.DecideResult;
import io.tierlog.controller.core.api.Input;
import io.tierlog.controller.core.api.Outcome;
import io.tierlog.controller.core.invariant.TableInvariants;
import io.tierlog.controller.core.operation.OperationResult;
import io.tierlog.controller.core.state.OperationRows;
import io.tierlog.controller.core.state.RequestStates;
import io.tierlog.controller.core.table.HeapTables;
import io.tierlog.controller.core.table.RowKey;
import io.tierlog.controller.core.table.Rows;
import io.tierlog.controller.core.table.Table;
import io.tierlog.schemas.BlockResult;
import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.PagedBlock;
import io.tierlog.schemas.RefusalReason;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.WireRecord;
import io.tierlog.schemas.WireType;
import io.tierlog.schemas.command.FenceAgent;
import io.tierlog.schemas.decision.BlocksPlaced;
import io.tierlog.schemas.decision.Fact;
import io.tierlog.schemas.event.AgentRegistering;
import io.tierlog.schemas.event.BlocksSealed;
import io.tierlog.schemas.event.Event;
import io.tierlog.schemas.event.LoadBackDone;
import io.tierlog.schemas.event.PrefetchDone;
import io.tierlog.schemas.event.Tick;
import io.tierlog.schemas.event.WriteBackDone;
import io.tierlog.schemas.state.NodeRow;
import io.tierlog.schemas.state.PlacementRow;
import io.tierlog.schemas.state.TierRow;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** What holds in every small world. A failure names the way there. */
final class SmallWorldRules {
    private final Core core;

    SmallWorldRules(Core core) {
        this.core = core;
    }

    /** After one step. */
    void check(SmallWorld world) {
        SmallWorld before = world.before();
        Event event = world.input();
        DecideResult decided = world.decided();
        if (before == null || event == null || decided == null) {
            return;
        }
        told(world, () -> {
            decidingIsAFunction(before, world, event, decided);
            theFoldOfTheFactsIsTheState(before, world, decided);
            assertEquals(List.of(), TableInvariants.check(world.tables(), 0));
            assertTrue(event instanceof Tick || decided.facts().stream().allMatch(f -> f.envelope().aggregate().equals(event.envelope().aggregate())),
                    () -> "facts of one node: " + decided.facts());
            whatIsPlacedWasReported(event, decided);
            aSecondDeliveryIsRefused(world);
            anotherIncarnationIsRefused(world, event);
        });
    }

    private void decidingIsAFunction(SmallWorld before, SmallWorld world, Event event, DecideResult decided) {
        Input input = SmallWorld.recorded(event, world.offset());
        DecideResult first = core.decide(before.tables(), input);
        assertEquals(first, core.decide(before.tables(), input));
        assertEquals(first.facts(), decided.facts().subList(0, first.facts().size()));
    }

    private static void theFoldOfTheFactsIsTheState(SmallWorld before, SmallWorld world, DecideResult decided) {
        HeapTables folded = SmallWorld.copy(before.tables());
        decided.facts().forEach(fact -> Core.evolve(folded, (Fact) throughTheLog(WireType.of(fact), fact)));
        for (Table<?, ?> table : Rows.ALL) {
            assertEquals(world.tables().rows(table), folded.rows(table), table::name);
        }
    }

    @SuppressWarnings("unchecked") // the type is that of the value
    private static <T extends WireRecord> WireRecord throughTheLog(WireType<T> type, WireRecord value) {
        return type.decode(type.encode((T) value));
    }

    /** I8: every serving placement was reported by an agent, with that page and generation. */
    private static void whatIsPlacedWasReported(Event event, DecideResult decided) {
        Set<PagedBlock> reported = reported(event).collect(Collectors.toSet());
        for (Fact fact : decided.facts()) {
            if (fact instanceof BlocksPlaced placed) {
                assertTrue(reported.containsAll(placed.blocks()), () -> placed + " was not reported by " + event);
            }
        }
    }

    private static Stream<PagedBlock> reported(Event event) {
        return switch (event) {
            case BlocksSealed e -> e.blocks().stream();
            case PrefetchDone e -> came(e.blocks());
            case WriteBackDone e -> came(e.blocks());
            case LoadBackDone e -> came(e.blocks());
            default -> Stream.empty();
        };
    }

    private static Stream<PagedBlock> came(List<BlockResult> results) {
        return results.stream().filter(OperationResult::isDone).map(r -> new PagedBlock(r.block(), r.page(), r.generation(), r.crc32c()));
    }

    /** Whatever has led here comes again: it is refused, moves nothing, and commands nothing but to fence a process. */
    private void aSecondDeliveryIsRefused(SmallWorld world) {
        List<SmallWorld> path = world.path();
        for (int i = 0; i < path.size(); i++) {
            Event event = path.get(i).input();
            boolean last = i + 1 == path.size();
            // A clock that was set back ticks on, and a process that has gone may register again: with later numbers, these two are not repeats.
            if (event != null && (last || !(event instanceof AgentRegistering || event instanceof Tick))) {
                refused(world, event, null);
            }
        }
    }

    private void anotherIncarnationIsRefused(SmallWorld world, Event event) {
        if (!(event instanceof Tick || event instanceof AgentRegistering)) {
            refused(world, with(event, -1), RefusalReason.STALE_INCARNATION);
            NodeRow row = Objects.requireNonNull(world.tables().get(Rows.NODES, new RowKey.Aggregate(event.envelope().aggregate())));
            refused(world, with(event, row.incarnation() - event.envelope().incarnation() + 1), RefusalReason.FUTURE_INCARNATION);
        }
    }

    private static Event with(Event event, long more) {
        Envelope e = event.envelope();
        return event.withEnvelope(
                new Envelope(e.aggregate(), e.sender(), e.incarnation() + more, e.sequence() + 100, 0, e.timeMs(), null, null, null));
    }

    private void refused(SmallWorld world, Event event, @Nullable RefusalReason why) {
        DecideResult again = core.decide(world.tables(), SmallWorld.recorded(event, world.offset() + 1));
        Outcome.Refused refused = assertInstanceOf(Outcome.Refused.class, again.outcome(), () -> "again " + event);
        assertEquals(1, again.facts().size(), () -> "again " + event + ": " + again.facts());
        assertTrue(again.commands().stream().allMatch(FenceAgent.class::isInstance), () -> "again " + event + ": " + again.commands());
        assertTrue(why == null || refused.reason() == why, () -> refused + " is not " + why + ": " + event);
    }

    /** Agents answer all that they receive, requests end, time goes on: then nothing is under way, held or requested. */
    void comesToRest(SmallWorld world) {
        SmallWorld rest = world;
        for (int i = 0; i < 5; i++) {
            for (String node : List.of("a", "b")) {
                rest = answered(rest, node);
                rest = alive(rest, node) ? Objects.requireNonNull(SmallMove.CANCELLED.play(core, rest, side(rest, node))) : rest;
                rest = answered(rest, node);
            }
            rest = rest.tick(core);
        }
        SmallWorld still = rest;
        told(still, () -> {
            for (String node : List.of("a", "b")) {
                restsAt(still, node);
            }
        });
    }

    private SmallWorld answered(SmallWorld world, String node) {
        SmallWorld now = world;
        for (int i = 0; alive(now, node) && !side(now, node).open().isEmpty(); i++) {
            int count = i;
            told(now, () -> assertTrue(count < 20, "the work ends"));
            now = Objects.requireNonNull(SmallMove.DONE.play(core, now, side(now, node)));
        }
        return now;
    }

    private static Side side(SmallWorld world, String node) {
        return node.equals("a") ? world.a() : world.b();
    }

    private static boolean alive(SmallWorld world, String node) {
        NodeRow row = world.tables().get(Rows.NODES, new RowKey.Aggregate("node/" + node));
        return row != null && row.alive() && row.incarnation() == side(world, node).incarnation();
    }

    private static void restsAt(SmallWorld world, String node) {
        String aggregate = "node/" + node;
        NodeRow row = world.tables().get(Rows.NODES, new RowKey.Aggregate(aggregate));
        if (row == null) {
            return;
        }
        assertEquals(null, row.sweep(), () -> "swept: " + row);
        world.tables().rows(Rows.REQUESTS).forEach((key, request) -> assertTrue(
                !key.aggregate().equals(aggregate) || RequestStates.isEnd(request.state()), () -> "I5 " + request));
        world.tables().rows(Rows.OPERATIONS).forEach((key, operation) -> assertTrue(
                !key.aggregate().equals(aggregate) || !OperationRows.isUnfinished(operation.state()), () -> "I12 " + operation));
        world.tables().rows(Rows.LEASES).forEach((key, lease) -> assertTrue(!key.aggregate().equals(aggregate), () -> "I1 " + lease));
        for (TierRow tier : row.tiers()) {
            assertTrue(!row.alive() || (tier.leavingBlocks() == 0 && tier.drops() == 0), () -> "I6 " + tier);
            assertTrue(!row.alive() || tier.tier() != Tier.HOST || tier.usedBlocks() < 2, () -> "the high mark of 2 stands: " + tier);
        }
        world.tables().rows(Rows.PLACEMENTS).forEach((key, copy) -> assertTrue(
                !key.aggregate().equals(aggregate) || isAtRest(row, copy), () -> "I1 " + key + " " + copy));
    }

    private static boolean isAtRest(NodeRow node, PlacementRow copy) {
        return node.alive() && copy.incarnation() == node.incarnation() && copy.holds() == 0 && copy.operation() == null;
    }

    private static void told(SmallWorld world, Runnable checks) {
        try {
            checks.run();
        } catch (AssertionError | RuntimeException e) {
            String way = world.path().stream().map(SmallWorld::how).collect(Collectors.joining(", "));
            throw new AssertionError("After " + way + ": " + e.getMessage(), e);
        }
    }
}
