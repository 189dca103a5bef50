/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.agent.core.FakePorts.Kind;
import io.tierlog.agent.core.FakePorts.Unit;
import io.tierlog.agent.core.api.AgentCounter;
import io.tierlog.agent.core.api.AgentInput;
import io.tierlog.agent.core.api.AgentLimits;
import io.tierlog.agent.core.operation.StoreShard;
import io.tierlog.schemas.BlockResult;
import io.tierlog.schemas.BlockStatus;
import io.tierlog.schemas.OperationKind;
import io.tierlog.schemas.OperationReason;
import io.tierlog.schemas.PagedBlock;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.command.CopyBlocks;
import io.tierlog.schemas.command.CopyOrigin;
import io.tierlog.schemas.command.DropBlocks;
import io.tierlog.schemas.event.BlocksEvicted;
import io.tierlog.schemas.event.BlocksStored;
import io.tierlog.schemas.event.CommandRefused;
import io.tierlog.schemas.event.CopyDone;
import io.tierlog.schemas.event.CopyFailed;
import io.tierlog.schemas.event.DropDone;
import io.tierlog.schemas.event.DropFailed;
import io.tierlog.schemas.event.OperationCancelled;
import io.tierlog.schemas.event.OperationStarted;
import io.tierlog.schemas.event.WriteBackDone;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Copies between all pairs of tiers, and the pages of the agent's own that they go through. H host pages, B pages of the agent's own. */
class CopyCasesTest {
    private static List<OperationReason> reasons(List<BlockResult> results) {
        return results.stream().map(BlockResult::reason).toList();
    }

    // --- device

    @Test
    void fromTheDeviceToTheDiskWithAHostOfNoBlocks() {
        CopyWorld c = new CopyWorld(0, 8);
        List<PagedBlock> blocks = c.onDevice();
        String copy = c.copy(Tier.DEVICE, Tier.DISK, blocks);
        OperationStarted started = c.world.seen.last(OperationStarted.class);
        assertEquals(List.of(copy, OperationKind.COPY, List.of()), List.of(started.operation(), started.kind(), started.pages()));
        Unit save = c.world.ports.only(Kind.SAVE);
        assertEquals(List.of(0, 1, 2, 3), CopyWorld.pages(save), "half of the agent's own pages in one unit; the host has none");
        c.world.endAll(Kind.SAVE);
        assertEquals(List.of(), c.world.seen.releasedPages("r"), "nothing has landed on the disk");
        c.endBoth(Kind.SAVE, Kind.DISK_WRITE);
        CopyDone done = c.world.seen.event(CopyDone.class);
        assertEquals(List.of(Tier.DEVICE, Tier.DISK), List.of(done.source(), done.target()));
        assertEquals(5 * FakePorts.BLOCK_BYTES, done.movedBytes());
        for (int i = 0; i < 5; i++) {
            assertEquals(
                    new BlockResult(c.prompt.block(4 - i), BlockStatus.ARRIVED, OperationReason.COMPLETED, -1, i + 1,
                            FakePorts.crc(c.content(4 - i)), Tier.DEVICE),
                    done.blocks().get(i));
            assertTrue(c.world.ports.disk.holds(c.prompt, i));
        }
        assertEquals(List.of(4, 3, 2, 1, 0), c.world.seen.releasedPages("r"));
        assertEquals(5, c.world.core.status().count(AgentCounter.BOUNCED_BLOCKS));
        assertEquals(List.of(0L, 5L), List.of(c.world.free(), c.world.disk().servingBlocks()));
        c.world.assertAtRest();
    }

    @Test
    void fromTheDeviceToTheStoreWithAFullHost() {
        CopyWorld c = new CopyWorld(5, 2);
        c.onHost();
        c.world.compute("r", c.prompt, 0, 10, 11, 12, 13, 14);
        c.world.reserve(c.prompt, 0, 5); // the host is full, and nothing of it may go
        List<PagedBlock> blocks = IntStream.range(0, 5).mapToObj(i -> c.world.paged(c.prompt, i, 10 + i)).toList();
        c.copy(Tier.DEVICE, Tier.STORE, blocks.reversed());
        assertEquals(List.of(5), CopyWorld.pages(c.world.ports.only(Kind.SAVE)));
        c.endBoth(Kind.SAVE, Kind.WRITE);
        CopyDone done = c.world.seen.event(CopyDone.class);
        assertEquals(List.of(Tier.DEVICE, Tier.STORE), List.of(done.source(), done.target()));
        assertTrue(done.blocks().stream().allMatch(block -> block.page() == -1 && block.generation() == 0 && block.source() == Tier.DEVICE));
        assertTrue(IntStream.range(0, 5).allMatch(c::stored));
        BlocksStored stored = c.world.seen.event(BlocksStored.class);
        assertEquals("store/" + StoreShard.of("m", c.prompt.root(), 8), stored.envelope().aggregate());
        assertEquals(5, stored.blocks().size());
        assertTrue(stored.blocks().stream().allMatch(block -> block.generation() == FakePorts.OBJECT_GENERATION));
        assertEquals(5, c.world.serving(), "nothing on the host has made way");
        assertEquals(List.of(), c.world.seen.events(BlocksEvicted.class));
    }

    @Test
    void aPageOfTheDeviceIsPinnedUntilItsBlockHasLanded() {
        CopyWorld c = new CopyWorld(4, 8);
        c.copy(Tier.DEVICE, Tier.DISK, c.onDevice().subList(0, 2));
        c.world.releaseRequest("r");
        assertEquals(List.of(0, 1, 2), c.world.seen.releasedPages("r"), "only what the copy does not name");
        c.world.endAll(Kind.SAVE);
        assertEquals(3, c.world.seen.releasedPages("r").size());
        c.world.endAll(Kind.DISK_WRITE);
        assertEquals(List.of(0, 1, 2, 4, 3), c.world.seen.releasedPages("r"));
    }

    @Test
    void whatACopyDoesNotNameCanBeWrittenBackAfterwards() {
        CopyWorld c = new CopyWorld(8, 8);
        c.onDevice();
        c.copy(Tier.DEVICE, Tier.DISK, c.device(4, 3));
        c.world.writeBack("r", c.prompt, 0, 0, 1, 2);
        c.world.settle();
        assertEquals(3, c.world.seen.event(WriteBackDone.class).blocks().stream().filter(block -> block.status() == BlockStatus.ARRIVED).count());
        assertEquals(2, c.world.seen.event(CopyDone.class).blocks().stream().filter(block -> block.status() == BlockStatus.ARRIVED).count());
        assertEquals(5, c.world.seen.releasedPages("r").size());
    }

    @Test
    void theDeviceIsCheckedAsForAWriteBack() {
        CopyWorld c = new CopyWorld(4, 8);
        c.onDevice();
        PagedBlock good = c.device(4).getFirst();
        PagedBlock older = new PagedBlock(good.block(), 4, good.generation() + 1, 0);
        PagedBlock elsewhere = new PagedBlock(c.prompt.block(3), 9, 1, 0);
        c.copy(Tier.DEVICE, Tier.DISK, List.of(older, elsewhere));
        assertEquals(
                List.of(OperationReason.STALE_GENERATION, OperationReason.NOT_SERVING),
                reasons(c.world.seen.event(CopyFailed.class).blocks()));
        c.world.command(c.world.copyCommand(c.prompt, Tier.DEVICE, Tier.DISK, List.of(good), new CopyOrigin("unknown", 1, c.prompt.root())));
        assertEquals(OperationReason.NOT_SERVING, c.world.seen.last(CopyFailed.class).reason());
        c.world.command(c.world.copyCommand(c.prompt, Tier.DEVICE, Tier.DISK, List.of(good), null));
        assertEquals(OperationReason.UNSUPPORTED, c.world.seen.event(CommandRefused.class).reason(), "a copy from the device names its request");
        assertEquals(List.of(), c.world.ports.units);
    }

    @Test
    void blocksThatHaveLeftTheDeviceContinueWhenTheEngineIsGone() {
        CopyWorld c = new CopyWorld(4, 4); // units of 2
        c.copy(Tier.DEVICE, Tier.STORE, c.onDevice());
        c.world.end(Kind.SAVE, 2); // blocks 4 and 3 are carried, 2 and 1 on their way, 0 waits
        c.world.on(new AgentInput.SessionClosed(World.SESSION, false));
        c.world.settle();
        assertEquals(
                List.of(OperationReason.COMPLETED, OperationReason.COMPLETED, OperationReason.ENGINE_GONE, OperationReason.ENGINE_GONE,
                        OperationReason.ENGINE_GONE),
                reasons(c.world.seen.event(CopyDone.class).blocks()));
        assertTrue(c.stored(4) && c.stored(3) && !c.stored(2));
        c.world.assertAtRest();
    }

    @Test
    void aSaveThatTheEngineWaitsForEndsWithACopyPastTheHost() {
        CopyWorld c = new CopyWorld(4, 8);
        c.world.submitted("r", c.prompt);
        c.world.prefilled("r");
        c.world.seal("r", c.prompt, 0, 0, 1);
        long call = c.world.save("r", c.prompt, 0, 0, 1);
        c.copy(Tier.DEVICE, Tier.DISK, c.device(1, 0));
        c.endBoth(Kind.SAVE, Kind.DISK_WRITE);
        assertTrue(c.world.seen.reply(call, RecordedOutput.Saved.class).blocks().stream().allMatch(block -> block.done()));
    }

    // --- disk

    @Test
    void fromTheDiskToTheStore() {
        CopyWorld c = CopyWorld.withDisk(3, 8);
        String copy = c.copy(Tier.DISK, Tier.STORE, c.disk(4, 3, 2, 1, 0));
        assertEquals(c.disk(4, 3, 2, 1, 0), c.world.seen.last(OperationStarted.class).pages(), "what has no page is on the disk");
        assertEquals(5, c.world.core.disk().pinCount());
        assertEquals(List.of(3, 4, 5, 6), CopyWorld.pages(c.world.ports.of(Kind.DISK_READ).getFirst()), "behind the pages of the host");
        c.world.command(c.world.diskDropCommand(c.prompt, c.disk(4), Tier.UNKNOWN));
        assertEquals(OperationReason.PINNED, c.world.seen.event(DropFailed.class).reason());
        c.endBoth(Kind.DISK_READ, Kind.WRITE);
        CopyDone done = c.world.seen.event(CopyDone.class);
        assertEquals(List.of(copy, Tier.DISK, Tier.STORE), List.of(done.operation(), done.source(), done.target()));
        assertEquals(
                new BlockResult(c.prompt.block(4), BlockStatus.ARRIVED, OperationReason.COMPLETED, -1, 0, FakePorts.crc(c.content(4)), Tier.DISK),
                done.blocks().getFirst());
        for (int i = 0; i < 5; i++) {
            assertArrayEquals(c.content(i), c.world.ports.store.get(FakePorts.name("m", c.prompt.keys().get(i))));
        }
        List<BlocksStored> told = c.world.seen.events(BlocksStored.class);
        assertEquals(5, told.stream().mapToInt(one -> one.blocks().size()).sum());
        for (BlocksStored one : told) { // without a root, each block's own key names the shard
            one.blocks().forEach(block -> assertEquals(
                    "store/" + StoreShard.of("m", block.block().key(), 8), one.envelope().aggregate()));
        }
        c.world.dropSeen(c.world.diskDropCommand(c.prompt, c.disk(4), Tier.STORE));
        c.world.endAll(Kind.DISK_DROP);
        assertEquals(BlockStatus.GONE, c.world.seen.event(DropDone.class).blocks().getFirst().status());
        c.world.assertAtRest();
    }

    @Test
    void whatTheStoreHasIsAlreadyThere() {
        CopyWorld c = CopyWorld.withDisk(3, 8);
        c.world.ports.put(c.prompt, 3, 5);
        c.copy(Tier.DISK, Tier.STORE, c.disk(4, 3, 2));
        c.endBoth(Kind.DISK_READ, Kind.WRITE);
        CopyDone done = c.world.seen.event(CopyDone.class);
        assertEquals(
                List.of(BlockStatus.ALREADY_THERE, BlockStatus.ALREADY_THERE, BlockStatus.ARRIVED),
                done.blocks().stream().map(BlockResult::status).toList());
        assertEquals(FakePorts.BLOCK_BYTES, done.movedBytes());
        assertEquals(3, c.world.seen.events(BlocksStored.class).stream().mapToInt(one -> one.blocks().size()).sum(), "what was there too");
        c.world.assertAtRest();
    }

    @Test
    void aCopyOfAnotherGenerationOrNoneIsNotRead() {
        CopyWorld c = CopyWorld.withDisk(3, 8);
        PagedBlock other = new PagedBlock(c.prompt.block(4), -1, 77, 0);
        Prompt stranger = Prompt.range(2, 51, 52);
        c.copy(Tier.DISK, Tier.STORE, List.of(other, new PagedBlock(stranger.block(0), -1, 1, 0)));
        assertEquals(
                List.of(OperationReason.STALE_GENERATION, OperationReason.NOT_SERVING),
                reasons(c.world.seen.event(CopyFailed.class).blocks()));
        assertEquals(List.of(), c.world.ports.units);
        assertEquals(5, c.world.disk().servingBlocks());
    }

    @Test
    void aRottenCopyLeavesTheDiskAndIsWrittenNowhere() {
        CopyWorld c = CopyWorld.withDisk(3, 8);
        c.world.ports.disk.rot(c.prompt, 4);
        c.copy(Tier.DISK, Tier.STORE, c.disk(4, 3));
        c.endBoth(Kind.DISK_READ, Kind.WRITE);
        assertEquals(List.of(OperationReason.CHECKSUM, OperationReason.COMPLETED), reasons(c.world.seen.event(CopyDone.class).blocks()));
        assertEquals(c.prompt.block(4), c.world.seen.event(BlocksEvicted.class).blocks().getFirst().block());
        assertFalse(c.stored(4));
        c.world.endAll(Kind.DISK_DROP);
        c.world.assertAtRest();
    }

    @Test
    void aDiskThatReturnsAnotherChecksumThanTheLogHasFailsTheBlock() {
        CopyWorld c = CopyWorld.withDisk(3, 8);
        c.copy(Tier.DISK, Tier.STORE, c.disk(4));
        Unit read = c.world.ports.only(Kind.DISK_READ);
        c.world.ports.end(read, 1, OperationReason.IO);
        c.world.on(FakePorts.input(read, List.of(new AgentInput.UnitResult(BlockStatus.ARRIVED, OperationReason.COMPLETED, 99, 5))));
        assertEquals(OperationReason.CHECKSUM, c.world.seen.event(CopyFailed.class).reason());
        assertEquals(1, c.world.seen.events(BlocksEvicted.class).size());
        assertEquals(List.of(), c.world.ports.of(Kind.WRITE));
    }

    @Test
    void aPlacementThatTheDiskHasLostOrRewrittenIsALostSource() {
        CopyWorld c = CopyWorld.withDisk(3, 8);
        c.copy(Tier.DISK, Tier.STORE, c.disk(4, 3));
        c.world.ports.disk.lose(c.prompt, 4);
        c.world.ports.disk.put(c.prompt, 3, 4); // under generation 6
        c.world.endAll(Kind.DISK_READ);
        assertEquals(
                List.of(OperationReason.SOURCE_LOST, OperationReason.SOURCE_LOST), reasons(c.world.seen.event(CopyFailed.class).blocks()));
        assertEquals(2, c.world.seen.events(BlocksEvicted.class).size());
    }

    @Test
    void aSourceThatIsCondemnedMeanwhileIsLostAndItsTargetDoesNotServe() {
        CopyWorld c = CopyWorld.withDisk(3, 8);
        c.copy(Tier.DISK, Tier.STORE, c.disk(4));
        c.world.endAll(Kind.DISK_READ);
        c.world.ports.disk.rot(c.prompt, 4);
        c.copy(Tier.DISK, Tier.STORE, c.disk(4)); // finds it rotten
        c.world.endAll(Kind.DISK_READ);
        assertEquals(OperationReason.CHECKSUM, c.world.seen.event(CopyFailed.class).reason());
        c.world.endAll(Kind.WRITE);
        assertEquals(OperationReason.SOURCE_LOST, c.world.seen.last(CopyFailed.class).reason());
        assertEquals(List.of(), c.world.seen.events(BlocksStored.class));
        assertEquals(1, c.world.core.status().count(AgentCounter.COPY_SOURCES_LOST));
        c.world.endAll(Kind.DISK_DROP);
        c.world.assertAtRest();
    }

    @Test
    void aDiskThatFailsOnceIsReadAnotherTime() {
        CopyWorld c = CopyWorld.withDisk(3, 8);
        c.copy(Tier.DISK, Tier.STORE, c.disk(4));
        c.world.end(Kind.DISK_READ, 0, OperationReason.IO);
        assertEquals(OperationReason.IO, c.world.seen.event(CopyFailed.class).reason());
        assertEquals(5, c.world.disk().servingBlocks());
        c.copy(Tier.DISK, Tier.STORE, c.disk(4));
        c.endBoth(Kind.DISK_READ, Kind.WRITE);
        assertTrue(c.stored(4));
    }

    // --- host

    @Test
    void fromTheHostToTheStoreAsABackUpDoes() {
        CopyWorld c = new CopyWorld(8, 0);
        List<PagedBlock> host = c.onHost();
        c.world.ports.put(c.prompt, 4, 5);
        c.world.command(c.world.copyCommand(c.prompt, Tier.HOST, Tier.STORE, host, new CopyOrigin("", 0, c.prompt.root())));
        assertEquals(5, c.world.pins());
        c.world.endAll(Kind.WRITE);
        CopyDone done = c.world.seen.event(CopyDone.class);
        assertEquals(List.of(Tier.HOST, Tier.STORE), List.of(done.source(), done.target()));
        assertEquals(BlockStatus.ALREADY_THERE, done.blocks().getFirst().status());
        assertEquals(4 * FakePorts.BLOCK_BYTES, done.movedBytes());
        BlocksStored stored = c.world.seen.event(BlocksStored.class);
        assertEquals(5, stored.blocks().size());
        assertEquals("store/" + StoreShard.of("m", c.prompt.root(), 8), stored.envelope().aggregate());
        c.world.dropSeen(new DropBlocks(
                c.world.envelope(), c.world.header(), c.world.operation(), Tier.HOST, "m", host, Tier.STORE));
        assertEquals(8, c.world.free());
        c.world.assertAtRest();
    }

    @Test
    void aSourceOnTheHostThatIsLostBeforeTheEndDropsItsTarget() {
        AgentLimits slow = AgentLimits.defaults().with(new AgentLimits.Units(1, 4, 4, 2, 4)).with(new AgentLimits.Disk(2, 1, 10));
        CopyWorld c = new CopyWorld(8, slow, 0);
        List<PagedBlock> host = c.onHost();
        c.copy(Tier.HOST, Tier.STORE, host.subList(0, 1));
        c.copy(Tier.HOST, Tier.DISK, host.subList(0, 2)); // units of one block; two units in all are under way
        c.world.end(Kind.DISK_WRITE, 1); // block 4 is down, 3 is under way
        c.world.ports.host[host.getFirst().page()][3] ^= 1;
        c.world.endAll(Kind.WRITE); // finds block 4 rotten on the host
        assertEquals(OperationReason.CHECKSUM, c.world.seen.event(CopyFailed.class).reason());
        c.world.endAll(Kind.DISK_WRITE);
        assertEquals(List.of(OperationReason.SOURCE_LOST, OperationReason.COMPLETED), reasons(c.world.seen.event(CopyDone.class).blocks()));
        c.world.endAll(Kind.DISK_DROP);
        assertFalse(c.world.ports.disk.holds(c.prompt, 4));
        assertTrue(c.world.ports.disk.holds(c.prompt, 3));
        c.world.assertAtRest();
    }

    // --- repeats and cancels

    @Test
    void aCommandThatComesThreeTimesMovesTheBytesOnce() {
        CopyWorld c = CopyWorld.withDisk(3, 8);
        CopyBlocks command = c.command(Tier.DISK, Tier.STORE, c.disk(4, 3));
        c.world.command(command);
        c.world.command(command);
        c.endBoth(Kind.DISK_READ, Kind.WRITE);
        c.world.command(command);
        List<CopyDone> ends = c.world.seen.events(CopyDone.class);
        assertEquals(2, ends.size(), "the end, and once more");
        assertEquals(ends.getFirst().blocks(), ends.getLast().blocks());
        assertEquals(ends.getFirst().durationMicros(), ends.getLast().durationMicros());
        assertEquals(List.of(2L, 2L), List.of(
                c.world.core.status().count(AgentCounter.BOUNCED_BLOCKS), c.world.core.status().count(AgentCounter.COPIED_TO_STORE)));
        assertEquals(List.of(), c.world.ports.units);
    }

    @Test
    void aCancelledCopyStopsBetweenItsLegsAndNamesBlocksOnTheTarget() {
        CopyWorld c = CopyWorld.withDisk(3, 4);
        String copy = c.copy(Tier.DISK, Tier.STORE, c.disk(4, 3, 2, 1, 0)); // units of 2 through 4 pages
        c.world.end(Kind.DISK_READ, 2); // 4 and 3 go to the store, 2 and 1 are read, 0 waits
        assertEquals(1, c.world.ports.of(Kind.WRITE).size());
        c.world.cancelOperation(copy, OperationKind.COPY);
        assertEquals(List.of(), c.world.seen.events(OperationCancelled.class), "bytes move");
        c.world.settle();
        OperationCancelled end = c.world.seen.event(OperationCancelled.class);
        assertEquals(
                List.of(OperationReason.COMPLETED, OperationReason.COMPLETED, OperationReason.CANCELLED, OperationReason.CANCELLED,
                        OperationReason.CANCELLED),
                reasons(end.blocks()));
        assertEquals(2, c.world.seen.events(BlocksStored.class).stream().mapToInt(one -> one.blocks().size()).sum());
        assertFalse(c.stored(2));
        c.world.assertAtRest();
    }

    @Test
    void aCancelledCopyGivesBackItsPagesAndOthersGoOn() {
        AgentLimits slow = AgentLimits.defaults().with(new AgentLimits.Disk(1, 1, 10)).withBounceBlocks(4);
        CopyWorld c = new CopyWorld(8, slow, 5);
        String first = c.copy(Tier.DISK, Tier.STORE, c.disk(4, 3)); // one unit in all is under way
        c.copy(Tier.DISK, Tier.STORE, c.disk(2));
        c.world.end(Kind.DISK_READ, 2); // 4 and 3 begin their second leg
        c.world.cancelOperation(first, OperationKind.COPY);
        c.world.settle();
        assertEquals(4, c.bounce().free());
        assertEquals(1, c.world.seen.event(CopyDone.class).blocks().size());
        c.world.assertAtRest();
    }

    @Test
    void aCancelThatComesFirstIsNeverStarted() {
        CopyWorld c = CopyWorld.withDisk(3, 8);
        CopyBlocks command = c.command(Tier.DISK, Tier.STORE, c.disk(4));
        c.world.cancelOperation(command.operation(), OperationKind.COPY);
        assertEquals(OperationReason.NEVER_STARTED, c.world.seen.event(OperationCancelled.class).reason());
        c.world.command(new CopyBlocks(
                command.envelope(), c.world.header(), command.operation(), command.source(), command.target(), command.namespace(),
                command.blocks(), null));
        assertEquals(OperationReason.STALE_COMMAND, c.world.seen.event(CommandRefused.class).reason());
        assertEquals(List.of(), c.world.ports.units);
    }
}
