/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.simulation.swarm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.ops.simulation.engine.Prompt;
import io.tierlog.ops.simulation.world.AgentProcess;
import io.tierlog.ops.simulation.world.SimNode;
import io.tierlog.ops.simulation.world.World;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Only what happens is counted. */
class FaultsTest {
    private static final Set<FaultKind> OF_DISKS = EnumSet.of(FaultKind.DISK_SLOW, FaultKind.DISK_FULL, FaultKind.DISK_WRITE_LOST,
            FaultKind.DISK_WRITE_TORN, FaultKind.DISK_WRITE_MISDIRECTED, FaultKind.DISK_BIT_FLIPPED, FaultKind.DISK_BLOCK_LOST, FaultKind.DISK_LOST,
            FaultKind.AGENT_CRASH_TORN);
    private static final Set<FaultKind> OF_WRITES = EnumSet.of(FaultKind.DISK_WRITE_LOST, FaultKind.DISK_WRITE_TORN,
            FaultKind.DISK_WRITE_MISDIRECTED, FaultKind.STORE_WRITE_TORN, FaultKind.AGENT_CRASH_TORN);

    private static Stage stage(World world, Set<FaultKind> kinds) {
        world.nodes().forEach(SimNode::start);
        Choices choices = Choices.drawn(1);
        choices.begin();
        return new Stage(choices, new FaultPlan(kinds, 1_000, 0, false), world);
    }

    private static int strikes(Stage stage) {
        Faults faults = new Faults(stage, new Operators(stage, () -> Prompt.of("m", EpisodeSettings.BLOCK_TOKENS, new int[] {1, 2, 3, 4})));
        int struck = 0;
        for (int i = 0; i < 500; i++) {
            struck += faults.strike() ? 1 : 0;
        }
        return struck;
    }

    /** A world in which every choice is the simplest has no disks. */
    @Test
    void noDiskIsStruckWhereThereIsNone() {
        World world = EpisodeSettings.world(Choices.replayed(List.of(new int[0])), false);
        assertTrue(world.nodes().stream().allMatch(node -> node.spec().diskBlocks() == 0));
        Stage stage = stage(world, OF_DISKS);

        assertEquals(0, strikes(stage));
        assertEquals(Map.of(), stage.faults);
    }

    @Test
    void aLieForWhichNoWriteComesIsNotCounted() {
        World world = EpisodeSettings.world(Choices.drawn(1), false);
        assertFalse(world.nodes().stream().allMatch(node -> node.spec().diskBlocks() == 0));
        Stage stage = stage(world, OF_WRITES);

        int struck = strikes(stage);

        assertTrue(struck > 0 && struck <= 4 * (1 + world.nodes().size()), () -> struck + " lies wait");
        assertTrue(world.nodes().stream().allMatch(node -> node.process() != null), "nothing was being written when an agent was to die");
        assertEquals(Map.of(), stage.faults);
    }

    @Test
    void liesHappenWhereWritesArrive() {
        Set<FaultKind> counted = EnumSet.noneOf(FaultKind.class);
        for (long seed = 1; seed <= 6; seed++) {
            Episode.Result result = Episode.run(Choices.drawn(seed), OF_WRITES, false);
            assertNull(result.failure());
            counted.addAll(result.faults().keySet());
        }
        assertTrue(OF_WRITES.containsAll(counted) && counted.size() >= 3, counted::toString);
    }

    @Test
    void agentsLoseTheLogWhenTheirPatienceIsOver() {
        World world = EpisodeSettings.world(Choices.drawn(1), false);
        Stage stage = stage(world, EnumSet.of(FaultKind.LOG_LOST));

        assertTrue(strikes(stage) > world.nodes().size());
        assertTrue(world.nodes().stream().allMatch(stage::isMute));
        assertEquals(Map.of(), stage.faults);
        stage.endAllTroubles();
        assertEquals(Map.of(FaultKind.LOG_LOST, (long) world.nodes().size()), stage.faults, "once each, until it begins again");

        world.startController();
        world.advance(60_000);
        assertTrue(world.nodes().stream().noneMatch(stage::isMute));
        for (SimNode node : world.nodes()) {
            AgentProcess process = node.process();
            assertNotNull(process);
            assertEquals(node.name() + "-2", process.processId());
            assertTrue(process.status().onTheLog());
        }
    }
}
