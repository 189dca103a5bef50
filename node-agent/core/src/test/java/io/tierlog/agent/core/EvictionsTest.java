/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.agent.core.FakePorts.Kind;
import io.tierlog.agent.core.api.AgentLimits;
import io.tierlog.schemas.OperationReason;
import io.tierlog.schemas.RemovalReason;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.event.BlocksEvicted;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What an operator wants gone: from the end of a prefix, and nothing that is in use. Prompts of 4 blocks of 2 tokens. */
class EvictionsTest {
    private final Prompt prompt = Prompt.range(2, 1, 9);

    /** Four blocks on the host, without a pin. */
    private World fourOnHost() {
        World world = fourOnHost(World.running(31, 8));
        assertEquals(4, world.free());
        return world;
    }

    private World fourOnHost(World world) {
        world.compute("r", prompt, 0, 0, 1, 2, 3);
        String operation = world.writeBack("r", prompt, 0, 0, 1, 2, 3);
        world.endAll(Kind.SAVE);
        world.backUp(prompt, operation);
        world.endAll(Kind.WRITE);
        return world;
    }

    /** Four blocks leave a host of four for another prompt, and a record names three. */
    @Test
    void evictionsUnderPressureAreReportedInPieces() {
        World world = fourOnHost(World.running(31, 4, AgentLimits.defaults().with(new AgentLimits.Disk(1, 1, 3))));
        Prompt other = Prompt.range(2, 51, 59);
        world.compute("s", other, 0, 4, 5, 6, 7);
        world.writeBack("s", other, 0, 4, 5, 6, 7);

        List<List<Integer>> pieces = world.seen.events(BlocksEvicted.class).stream()
                .map(event -> event.blocks().stream().map(block -> block.block().index()).toList())
                .toList();
        assertEquals(List.of(List.of(3, 2, 1), List.of(0)), pieces);
    }

    @Test
    void namedBlocksLeaveFromTheEndOfThePrefixAndTheLogHasIt() {
        World world = fourOnHost();
        List<OperationReason> answers = world.core.evict(Tier.HOST, "m", List.of(prompt.keys().get(2), prompt.keys().get(3)));
        world.core.check();
        assertEquals(List.of(OperationReason.COMPLETED, OperationReason.COMPLETED), answers);
        List<BlocksEvicted> evicted = world.seen.events(BlocksEvicted.class);
        assertEquals(List.of(3, 2), evicted.stream().map(event -> event.blocks().getFirst().block().index()).toList());
        assertTrue(evicted.stream().allMatch(event -> event.reason() == RemovalReason.PRESSURE && event.tier() == Tier.HOST));
        assertEquals(6, world.free());
        assertFalse(world.core.serves(Tier.HOST, "m", prompt.keys()));
        assertTrue(world.core.serves(Tier.HOST, "m", prompt.keys().subList(0, 2)));
    }

    /** Blocks 0 to 3, and 2 stays because 3 is not named. Missing blocks are reported as not serving. */
    @Test
    void aBlockStaysWhenABlockThatExtendsItStays() {
        World world = fourOnHost();
        assertEquals(
                List.of(OperationReason.PINNED, OperationReason.NOT_SERVING),
                world.core.evict(Tier.HOST, "m", List.of(prompt.keys().get(2), Prompt.range(2, 51, 53).keys().getFirst())));
        assertEquals(4, world.free());
    }

    @Test
    void pinnedBlocksStay() {
        World world = fourOnHost();
        world.submit("s", prompt, 0); // pins what it finds
        assertEquals(
                List.of(OperationReason.PINNED, OperationReason.PINNED),
                world.core.evict(Tier.HOST, "m", List.of(prompt.keys().get(2), prompt.keys().get(3))));
        assertEquals(List.of(), world.seen.events(BlocksEvicted.class));
    }

    @Test
    void fromTheDiskTheBytesGoToo() {
        World world = World.withDisk(8, 8);
        world.ports.disk.put(prompt, 0, 2);
        World next = World.withDisk(8, 8, world.past());
        assertTrue(next.core.serves(Tier.DISK, "m", prompt.keys().subList(0, 2)));
        assertEquals(List.of(OperationReason.PINNED), next.core.evict(Tier.DISK, "m", List.of(prompt.keys().getFirst())));
        assertEquals(
                List.of(OperationReason.COMPLETED, OperationReason.COMPLETED),
                next.core.evict(Tier.DISK, "m", prompt.keys().subList(0, 2)));
        next.endAll(Kind.DISK_DROP);
        assertEquals(0, next.ports.disk.size());
        assertEquals(8, next.disk().freeBlocks());
    }

    @Test
    void onlyTheTiersOfTheAgentCanBeNamed() {
        World world = World.running(31, 8);
        assertThrows(IllegalArgumentException.class, () -> world.core.evict(Tier.STORE, "m", prompt.keys()));
    }
}
