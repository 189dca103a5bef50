/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.simulation.world;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.agent.core.api.AgentLimits;
import io.tierlog.agent.core.api.AgentPhase;
import io.tierlog.controller.core.api.Limits;
import io.tierlog.controller.core.policy.Policies;
import io.tierlog.controller.core.table.RowKey;
import io.tierlog.controller.core.table.Rows;
import io.tierlog.ops.simulation.engine.Engine;
import io.tierlog.ops.simulation.engine.Prompt;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.event.AgentRegistering;
import io.tierlog.schemas.event.BlocksRecovered;
import io.tierlog.schemas.event.Event;
import io.tierlog.schemas.state.NodeRow;
import io.tierlog.schemas.state.PlacementState;
import java.util.List;
import org.junit.jupiter.api.Test;

/** An agent whose producer gives up goes on as another process and reports what it holds; what it has abandoned is nowhere on the log. */
class LostLogTest {
    private static final int[] TOKENS = {1, 2, 3, 4, 5, 6, 7};
    private static final int BLOCKS = 3;

    private final World world = new World(
            new WorldSettings(1, 2, 1, false, 64, Policies.INITIAL, AgentLimits.defaults(), Limits.of(1), 1_000, false),
            List.of(new SimNode.Spec("n0", 16, 0, new Engine.Config(16, 0, true, 24, 16, 2, List.of(), 0))));
    private final SimNode node = world.nodes().getFirst();

    private AgentProcess withBlocksOnTheHost() {
        world.startController();
        node.start();
        world.advance(2_000);
        node.engine().submit(new Engine.Request("r1", "m", "", TOKENS.clone(), 1, true));
        world.advance(2_000);
        node.engine().finish("r1", "COMPLETED");
        world.advance(5_000);
        AgentProcess process = node.process();
        assertNotNull(process);
        assertTrue(process.serves("m", Prompt.of("m", 2, TOKENS).keys()));
        return process;
    }

    private void submitUnsent(String request) {
        node.engine().submit(new Engine.Request(request, "m", "", TOKENS.clone(), 1, true));
        while (node.engine().step()) {
            // its next step
        }
    }

    private <E extends Event> List<E> onTheLog(Class<E> type) {
        return world.log().events(0).stream().filter(type::isInstance).map(type::cast).toList();
    }

    private NodeRow row() {
        NodeRow row = world.state().get(Rows.NODES, new RowKey.Aggregate(node.aggregate()));
        assertNotNull(row);
        return row;
    }

    private long placementsOf(long incarnation) {
        return world.state().rows(Rows.PLACEMENTS).entrySet().stream()
                .filter(one -> one.getKey().aggregate().equals(node.aggregate()) && one.getKey().tier() == Tier.HOST)
                .filter(one -> one.getValue().state() == PlacementState.SERVING && one.getValue().incarnation() == incarnation)
                .count();
    }

    @Test
    void itIsAnotherProcessWithTheSameBlocks() {
        AgentProcess process = withBlocksOnTheHost();
        submitUnsent("abandoned");
        List<Event> abandoned = node.loseLog(process);
        assertNotNull(abandoned);
        assertFalse(abandoned.isEmpty());
        assertNull(node.loseLog(process), "it is lost once");
        submitUnsent("unreported");
        assertEquals(0, node.unsent(), "what it reports before its core knows is dropped");
        int before = world.log().events(0).size();

        node.noticeLoss(process);
        world.advance(10_000);

        List<Event> after = world.log().events(0).subList(before, world.log().events(0).size());
        AgentRegistering registering = onTheLog(AgentRegistering.class).getLast();
        assertEquals(List.of("n0-2", "n0-1", "agent/n0/n0-2", 1L), List.of(registering.processId(), String.valueOf(registering.replaces()),
                registering.envelope().sender(), registering.envelope().sequence()));
        assertEquals(List.of("n0-2", 2L, true), List.of(row().processId(), row().incarnation(), row().alive()));
        assertTrue(after.stream().noneMatch(event -> event.envelope().sender().equals("agent/n0/n0-1")), "nothing of the process before");
        assertEquals(BLOCKS, onTheLog(BlocksRecovered.class).stream().mapToInt(event -> event.blocks().size()).sum());
        assertEquals(BLOCKS, placementsOf(2));
        node.engine().live().forEach(request -> node.engine().finish(request, "COMPLETED"));
        world.advance(5_000);
        assertEquals(0, node.engine().heldPages());
    }

    /** The first question may be on the log, or not: it asks under one more name, and waits for the silence of the process before. */
    @Test
    void aLossWhileItAsksMakesItAThirdProcess() {
        AgentProcess process = withBlocksOnTheHost();
        world.killController();
        node.loseLog(process);
        node.noticeLoss(process);
        world.settle();
        assertEquals("n0-2", onTheLog(AgentRegistering.class).getLast().processId(), "the question is on the log and has no answer");
        assertEquals(AgentPhase.UNREGISTERED, process.status().phase());

        node.loseLog(process);
        node.noticeLoss(process);
        world.settle();
        assertEquals(List.of("n0-3", "n0-1"), List.of(process.processId(), String.valueOf(onTheLog(AgentRegistering.class).getLast().replaces())));
        world.startController();
        world.advance(120_000);

        assertEquals(List.of("n0-3", 3L, true), List.of(row().processId(), row().incarnation(), row().alive()));
        assertEquals(BLOCKS, placementsOf(3));
    }
}
