/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.agent.core.FakePorts.Kind;
import io.tierlog.agent.core.api.AgentLimits;
import io.tierlog.agent.core.operation.StoreShard;
import io.tierlog.schemas.BlockResult;
import io.tierlog.schemas.BlockStatus;
import io.tierlog.schemas.OperationKind;
import io.tierlog.schemas.OperationReason;
import io.tierlog.schemas.PagedBlock;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.command.DropBlocks;
import io.tierlog.schemas.event.BackUpDone;
import io.tierlog.schemas.event.BlocksMissing;
import io.tierlog.schemas.event.BlocksStored;
import io.tierlog.schemas.event.CopyDone;
import io.tierlog.schemas.event.DropDone;
import io.tierlog.schemas.event.DropFailed;
import io.tierlog.schemas.event.OperationCancelled;
import io.tierlog.schemas.event.WriteBackDone;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** Drops that rely on the store: it is asked before anything leaves, and all else is checked when it has answered. */
class StoreCheckTest {
    private static final Prompt PROMPT = Prompt.range(2, 1, 10); // blocks 0 to 4

    private static List<BlockResult> onHost(World world) {
        world.compute("warm", PROMPT, 0, 0, 1, 2, 3, 4);
        String writeBack = world.writeBack("warm", PROMPT, 0, 0, 1, 2, 3, 4);
        world.endAll(Kind.SAVE);
        world.releasePins(writeBack);
        return world.seen.last(WriteBackDone.class).blocks();
    }

    private static List<PagedBlock> onDisk(World world) {
        world.copy(PROMPT, onHost(world).reversed());
        world.endAll(Kind.DISK_WRITE);
        return world.seen.last(CopyDone.class).blocks().stream()
                .map(block -> new PagedBlock(block.block(), block.page(), block.generation(), block.crc32c())).toList();
    }

    private static DropBlocks drop(World world, List<BlockResult> host) {
        return world.dropCommand(PROMPT, host.reversed(), Tier.STORE);
    }

    private static List<OperationReason> reasons(List<BlockResult> blocks) {
        return blocks.stream().map(BlockResult::reason).toList();
    }

    @Test
    void nothingLeavesBeforeTheStoreHasAnswered() {
        World world = World.running(31, 31);
        DropBlocks drop = drop(world, onHost(world));
        world.ports.put(PROMPT, 0, 5);
        world.command(drop);
        assertEquals(List.of(5L, 1), List.of(world.serving(), world.ports.of(Kind.PROBE).size()));
        world.answerProbes();
        DropDone done = world.seen.event(DropDone.class);
        assertEquals(0, world.serving());
        assertEquals(Set.of(Tier.STORE), done.blocks().stream().map(BlockResult::source).collect(Collectors.toSet()));
        world.assertAtRest();
    }

    /** A report that the store lacks it may have come late: without this one the shard would deny for ever what the store holds. */
    @Test
    void aBackUpReportsWhatTheStoreHadAlready() {
        World world = World.running(31, 31);
        world.compute("warm", PROMPT, 0, 0, 1);
        String writeBack = world.writeBack("warm", PROMPT, 0, 0, 1);
        world.endAll(Kind.SAVE);
        world.ports.put(PROMPT, 0, 1);
        world.backUp(PROMPT, writeBack);
        world.endAll(Kind.WRITE);
        assertEquals(List.of(BlockStatus.ALREADY_THERE, BlockStatus.ARRIVED),
                world.seen.event(BackUpDone.class).blocks().stream().map(BlockResult::status).toList());
        assertEquals(List.of(FakePorts.OBJECT_GENERATION, FakePorts.OBJECT_GENERATION),
                world.seen.event(BlocksStored.class).blocks().stream().map(PagedBlock::generation).toList());
    }

    /** Deepest first: the store has 4 and 2, lacks 3. So 4 goes, 3 stays, and what 3 extends stays with it. */
    @Test
    void aBlockThatTheStoreLacksStaysAndIsReportedAsMissing() {
        World world = World.running(31, 31);
        DropBlocks drop = drop(world, onHost(world));
        world.ports.put(PROMPT, 4, 5);
        world.ports.put(PROMPT, 2, 3);
        world.command(drop);
        world.answerProbes();
        DropDone done = world.seen.event(DropDone.class);
        assertEquals(List.of(OperationReason.COMPLETED, OperationReason.NOT_IN_STORE, OperationReason.PINNED, OperationReason.PINNED,
                OperationReason.PINNED), reasons(done.blocks()));
        assertEquals(4, world.serving());
        List<BlocksMissing> missing = world.seen.events(BlocksMissing.class);
        Set<String> shards = new TreeSet<>();
        int all = AgentLimits.defaults().storeShards();
        for (int block : List.of(0, 1, 3)) {
            shards.add("store/" + StoreShard.of("m", PROMPT.keys().get(block), all));
        }
        assertEquals(shards, missing.stream().map(event -> event.envelope().aggregate()).collect(Collectors.toCollection(TreeSet::new)));
        assertEquals(Set.of(0, 1, 3), missing.stream().flatMap(event -> event.blocks().stream()).map(block -> block.block().index())
                .collect(Collectors.toSet()));
    }

    @Test
    void theOtherChecksAreMadeWhenTheAnswerComes() {
        World world = World.running(31, 31);
        DropBlocks drop = drop(world, onHost(world));
        world.ports.put(PROMPT, 0, 5);
        world.command(drop);
        List<FakePorts.Unit> probe = world.ports.of(Kind.PROBE);
        world.submit("late", PROMPT, 0); // pins blocks 0 to 3, which it may load
        world.on(world.ports.endProbe(probe.getFirst()));
        assertEquals(List.of(OperationReason.COMPLETED, OperationReason.PINNED, OperationReason.PINNED, OperationReason.PINNED,
                OperationReason.PINNED), reasons(world.seen.event(DropDone.class).blocks()));
        assertEquals(4, world.serving());
    }

    @Test
    void aStoreThatIsAwayIsNoEvidence() {
        World world = World.running(31, 31);
        DropBlocks drop = drop(world, onHost(world));
        world.ports.put(PROMPT, 0, 5);
        world.ports.storeReachable = false;
        world.command(drop);
        world.answerProbes();
        DropFailed failed = world.seen.event(DropFailed.class);
        assertEquals(OperationReason.STORE_UNAVAILABLE, failed.reason());
        assertEquals(List.of(), world.seen.events(BlocksMissing.class));
        assertEquals(5, world.serving());
    }

    @Test
    void aCancelledDropHasTakenNothing() {
        World world = World.running(31, 31);
        DropBlocks drop = drop(world, onHost(world));
        world.ports.put(PROMPT, 0, 5);
        world.command(drop);
        world.cancelOperation(drop.operation(), OperationKind.DROP);
        world.answerProbes();
        OperationCancelled cancelled = world.seen.event(OperationCancelled.class);
        assertEquals(Set.of(BlockStatus.FAILED), cancelled.blocks().stream().map(BlockResult::status).collect(Collectors.toSet()));
        assertEquals(5, world.serving());
        world.command(drop);
        assertEquals(2, world.seen.events(OperationCancelled.class).size(), "answered from the journal");
    }

    @Test
    void theSameFromTheDisk() {
        World world = World.withDisk(31, 20);
        List<PagedBlock> copies = onDisk(world);
        world.ports.put(PROMPT, 4, 5);
        DropBlocks drop = world.diskDropCommand(PROMPT, copies, Tier.STORE);
        world.command(drop);
        assertEquals(5, world.disk().servingBlocks());
        world.answerProbes();
        assertEquals(List.of(1L, 4L), List.of(world.disk().leavingBlocks(), world.disk().servingBlocks()));
        world.endAll(Kind.DISK_DROP);
        DropDone done = world.seen.event(DropDone.class);
        assertEquals(List.of(OperationReason.COMPLETED, OperationReason.NOT_IN_STORE), reasons(done.blocks()).subList(0, 2));
        assertEquals(Tier.STORE, done.blocks().getFirst().source());
    }

    /** Units of two blocks: 4 3, 2 1, 0. The first lacks 3, the second 2 and then 1, which is probed again by itself. */
    @Test
    void probesAreBoundedAndGoOnBehindAGap() {
        AgentLimits.Units two = new AgentLimits.Units(2, 2, 2, 2, 2);
        World world = World.running(31, 31, AgentLimits.defaults().with(two));
        DropBlocks drop = drop(world, onHost(world));
        world.ports.put(PROMPT, 4, 5);
        world.ports.put(PROMPT, 0, 1);
        world.command(drop);
        world.ports.of(Kind.PROBE).forEach(unit -> assertTrue(unit.keys().size() <= 2));
        world.answerProbes();
        DropDone done = world.seen.event(DropDone.class);
        assertEquals(List.of(OperationReason.COMPLETED, OperationReason.NOT_IN_STORE, OperationReason.PINNED, OperationReason.PINNED,
                OperationReason.PINNED), reasons(done.blocks()));
        assertEquals(Set.of(1, 2, 3), world.seen.events(BlocksMissing.class).stream().flatMap(event -> event.blocks().stream())
                .map(block -> block.block().index()).collect(Collectors.toSet()));
    }
}
