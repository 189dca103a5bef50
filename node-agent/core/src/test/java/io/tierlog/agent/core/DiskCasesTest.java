/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.agent.core.FakePorts.Kind;
import io.tierlog.agent.core.api.AgentCounter;
import io.tierlog.agent.core.api.AgentInput;
import io.tierlog.agent.core.api.AgentLimits;
import io.tierlog.agent.core.disk.DiskState;
import io.tierlog.schemas.BlockResult;
import io.tierlog.schemas.BlockStatus;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.OperationKind;
import io.tierlog.schemas.OperationReason;
import io.tierlog.schemas.PagedBlock;
import io.tierlog.schemas.RemovalReason;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.command.CopyBlocks;
import io.tierlog.schemas.event.BlocksEvicted;
import io.tierlog.schemas.event.CommandRefused;
import io.tierlog.schemas.event.CopyDone;
import io.tierlog.schemas.event.CopyFailed;
import io.tierlog.schemas.event.DropDone;
import io.tierlog.schemas.event.DropFailed;
import io.tierlog.schemas.event.OperationCancelled;
import io.tierlog.schemas.event.OperationStarted;
import io.tierlog.schemas.event.WriteBackDone;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Copies to the disk, and drops from it and on the strength of it. Blocks of 2 tokens; H host pages, K blocks on the disk. */
class DiskCasesTest {
    /** 11 tokens: 5 whole blocks. */
    private final Prompt prompt = Prompt.range(2, 1, 11);

    /** Blocks 0..4 of the prompt on the host, without pins. */
    private List<BlockResult> onHost(World world) {
        world.compute("warm", prompt, 0, 0, 1, 2, 3, 4);
        String writeBack = world.writeBack("warm", prompt, 0, 0, 1, 2, 3, 4);
        world.endAll(Kind.SAVE);
        world.releasePins(writeBack);
        return world.seen.last(WriteBackDone.class).blocks();
    }

    private static List<PagedBlock> copies(CopyDone done) {
        return done.blocks().stream()
                .filter(result -> result.status() != BlockStatus.FAILED)
                .map(result -> new PagedBlock(result.block(), result.page(), result.generation(), result.crc32c()))
                .toList();
    }

    private List<PagedBlock> copied(World world) {
        world.copy(prompt, onHost(world).reversed());
        world.endAll(Kind.DISK_WRITE);
        return copies(world.seen.last(CopyDone.class));
    }

    // --- copies

    @Test
    void whatIsCopiedServesFromItsDoneEventOnAndTheHostKeepsIt() {
        World world = World.withDisk(31, 20);
        List<BlockResult> host = onHost(world);
        String copy = world.copy(prompt, host.reversed());
        OperationStarted started = world.seen.last(OperationStarted.class);
        assertEquals(List.of(copy, OperationKind.COPY), List.of(started.operation(), started.kind()));
        assertEquals(host.getLast().page(), started.pages().getFirst().page(), "source pages, deepest first");
        assertEquals(5, world.pins(), "the sources");
        assertEquals(List.of(5L, 0L), List.of(world.disk().fillingBlocks(), world.disk().servingBlocks()));
        world.endAll(Kind.DISK_WRITE);
        CopyDone done = world.seen.event(CopyDone.class);
        assertEquals(List.of(Tier.HOST, Tier.DISK), List.of(done.source(), done.target()));
        assertEquals(5 * FakePorts.BLOCK_BYTES, done.movedBytes());
        for (int i = 0; i < 5; i++) {
            BlockResult result = done.blocks().get(i);
            assertEquals(prompt.block(4 - i), result.block());
            assertEquals(
                    new BlockResult(prompt.block(4 - i), BlockStatus.ARRIVED, OperationReason.COMPLETED, -1, i + 1,
                            FakePorts.crc(FakePorts.content("m", prompt.keys().get(4 - i))), Tier.HOST),
                    result);
        }
        assertEquals(List.of(15L, 5L, 26L), List.of(world.disk().freeBlocks(), world.disk().servingBlocks(), world.free()));
        world.assertAtRest();
    }

    @Test
    void aCopyIsNotReliedOnBeforeItsDoneEvent() {
        World world = World.withDisk(31, 20);
        List<BlockResult> host = onHost(world);
        world.copy(prompt, host.reversed());
        world.copy(prompt, host.reversed()); // another operation, at the same time
        assertEquals(OperationReason.NOT_SERVING, world.seen.event(CopyFailed.class).reason());
        assertEquals(1, world.ports.of(Kind.DISK_WRITE).size());
        world.endAll(Kind.DISK_WRITE);
        world.copy(prompt, host.reversed());
        CopyDone again = world.seen.last(CopyDone.class);
        assertTrue(again.blocks().stream().allMatch(result -> result.status() == BlockStatus.ALREADY_THERE));
        assertEquals(List.of(1L, 2L, 3L, 4L, 5L), again.blocks().stream().map(BlockResult::generation).toList());
        assertEquals(0, again.movedBytes());
        assertEquals(List.of(), world.ports.units);
    }

    @Test
    void aPlacementThatHasLeftMeanwhileIsNotReported() {
        World world = World.withDisk(31, 20);
        List<BlockResult> host = onHost(world);
        world.copy(prompt, List.of(host.get(4)));
        world.endAll(Kind.DISK_WRITE);
        List<PagedBlock> there = copies(world.seen.event(CopyDone.class));
        world.copy(prompt, List.of(host.get(4), host.get(3)));
        world.dropSeen(world.diskDropCommand(prompt, there, Tier.STORE));
        world.endAll(Kind.DISK_DROP);
        world.endAll(Kind.DISK_WRITE);
        assertEquals(
                List.of(OperationReason.NOT_SERVING, OperationReason.COMPLETED),
                world.seen.last(CopyDone.class).blocks().stream().map(BlockResult::reason).toList());
        assertEquals(1, world.disk().servingBlocks());
    }

    @Test
    void aPageThatHoldsSomethingElseByNowIsNotCopied() {
        World world = World.withDisk(31, 20);
        BlockResult last = onHost(world).getLast();
        BlockResult another = new BlockResult(
                last.block(), last.status(), last.reason(), last.page(), last.generation() + 1, 0, Tier.UNKNOWN);
        BlockResult nowhere = new BlockResult(
                Prompt.range(2, 51, 52).block(0), last.status(), last.reason(), last.page(), last.generation(), 0, Tier.UNKNOWN);
        world.copy(prompt, List.of(another, nowhere, last));
        world.endAll(Kind.DISK_WRITE);
        assertEquals(
                List.of(OperationReason.STALE_GENERATION, OperationReason.NOT_SERVING, OperationReason.COMPLETED),
                world.seen.event(CopyDone.class).blocks().stream().map(BlockResult::reason).toList());
        assertEquals(1, world.ports.disk.size());
    }

    @Test
    void aFullDiskRefusesBlockByBlockAndEvictsNothing() {
        World world = World.withDisk(31, 3); // 5 blocks, 3 fit
        world.copy(prompt, onHost(world).reversed());
        world.endAll(Kind.DISK_WRITE);
        assertEquals(
                List.of(OperationReason.COMPLETED, OperationReason.COMPLETED, OperationReason.COMPLETED, OperationReason.NO_ROOM,
                        OperationReason.NO_ROOM),
                world.seen.event(CopyDone.class).blocks().stream().map(BlockResult::reason).toList());
        assertEquals(0, world.disk().freeBlocks());
        assertEquals(List.of(), world.seen.events(BlocksEvicted.class));
        Prompt other = Prompt.of(2, 91, 92);
        world.compute("other", other, 0, 9);
        String writeBack = world.writeBack("other", other, 0, 9);
        world.endAll(Kind.SAVE);
        world.releasePins(writeBack);
        world.copy(other, world.seen.last(WriteBackDone.class).blocks());
        assertEquals(OperationReason.NO_ROOM, world.seen.event(CopyFailed.class).reason());
        world.assertAtRest();
    }

    @Test
    void aFullDiskIsReportedPerBlockAndItsCapacityComesBack() {
        World world = World.withDisk(31, 20);
        world.ports.disk.full = true;
        world.copy(prompt, onHost(world).reversed());
        world.endAll(Kind.DISK_WRITE);
        CopyFailed failed = world.seen.event(CopyFailed.class);
        assertEquals(OperationReason.NO_ROOM, failed.reason());
        assertTrue(failed.blocks().stream().allMatch(result -> result.generation() == 0 && result.source() == Tier.UNKNOWN));
        assertEquals(20, world.disk().freeBlocks());
        world.assertAtRest();
    }

    @Test
    void aRottenPageIsNotCopiedAndStopsServing() {
        World world = World.withDisk(31, 20);
        BlockResult last = onHost(world).getLast();
        world.ports.host[last.page()][3] ^= 1;
        world.copy(prompt, List.of(last));
        world.endAll(Kind.DISK_WRITE);
        assertEquals(OperationReason.CHECKSUM, world.seen.event(CopyFailed.class).reason());
        BlocksEvicted gone = world.seen.event(BlocksEvicted.class);
        assertEquals(List.of(Tier.HOST, RemovalReason.CHECKSUM), List.of(gone.tier(), gone.reason()));
        assertEquals(0, world.ports.disk.size());
    }

    @Test
    void aWriteOfUnknownOutcomeKeepsItsPagesAndIsNeverServed() {
        World world = World.withDisk(31, 20);
        List<BlockResult> host = onHost(world);
        world.copy(prompt, List.of(host.getLast()));
        FakePorts.Unit unit = world.ports.only(Kind.DISK_WRITE);
        world.end(Kind.DISK_WRITE, 0, OperationReason.UNKNOWN);
        assertEquals(OperationReason.IO, world.seen.event(CopyFailed.class).reason());
        assertEquals(List.of(1L, 1L), List.of(world.pins(), world.disk().quarantinedBlocks()));
        world.copy(prompt, List.of(host.getLast()));
        assertEquals(OperationReason.NOT_SERVING, world.seen.last(CopyFailed.class).reason());
        // It comes down after all; whatever it is, it leaves the disk before the key is written again.
        world.ports.disk.put(prompt, 4, 5);
        world.on(FakePorts.input(unit, List.of(FakePorts.arrived(0))));
        assertEquals(List.of(0L, 1L), List.of(world.pins(), world.disk().leavingBlocks()));
        world.endAll(Kind.DISK_DROP);
        assertEquals(0, world.ports.disk.size());
        assertEquals(20, world.disk().freeBlocks());
    }

    @Test
    void aDiskThatReturnsAnotherChecksumFailsTheBlock() {
        World world = World.withDisk(31, 20);
        world.copy(prompt, List.of(onHost(world).getLast()));
        FakePorts.Unit unit = world.ports.only(Kind.DISK_WRITE);
        world.ports.end(unit, 1, OperationReason.IO);
        world.on(FakePorts.input(unit, List.of(new AgentInput.UnitResult(BlockStatus.ARRIVED, OperationReason.COMPLETED, 77, 9))));
        assertEquals(OperationReason.COPY_RESULT_MISMATCH, world.seen.event(CopyFailed.class).reason());
        world.endAll(Kind.DISK_DROP);
        assertEquals(List.of(20L, 0), List.of(world.disk().freeBlocks(), world.ports.disk.size()));
    }

    /** Units of so many blocks, one of each kind at a time. */
    private static World slow(int blocks) {
        AgentLimits limits = AgentLimits.defaults().with(new AgentLimits.Units(blocks, 1, 1, 1, 1)).with(new AgentLimits.Disk(1, 1, 10));
        World world = new World(31, 31, 20, limits, World.Past.none());
        world.on(new AgentInput.DiskFound(List.of(), true));
        world.register();
        world.attach();
        return world;
    }

    @Test
    void aCancelledCopyNamesBlocksOnTheTarget() {
        World world = slow(2);
        List<BlockResult> host = onHost(world);
        String copy = world.copy(prompt, host.reversed()); // units of 2, one at a time
        world.cancelOperation(copy, OperationKind.COPY);
        assertEquals(5, world.pins(), "two pages are still read");
        world.endAll(Kind.DISK_WRITE);
        OperationCancelled end = world.seen.event(OperationCancelled.class);
        assertEquals(
                List.of(BlockStatus.ARRIVED, BlockStatus.ARRIVED, BlockStatus.FAILED, BlockStatus.FAILED, BlockStatus.FAILED),
                end.blocks().stream().map(BlockResult::status).toList());
        assertEquals(List.of(2L, 18L), List.of(world.disk().servingBlocks(), world.disk().freeBlocks()));
        world.assertAtRest();
    }

    @Test
    void aNodeWithoutADiskRefusesCopies() {
        World world = World.running(31, 31);
        world.copy(prompt, onHost(world));
        assertEquals(OperationReason.UNSUPPORTED, world.seen.event(CommandRefused.class).reason());
        assertEquals(1, world.core.status().usage().size());
    }

    @Test
    void copiesBetweenOtherTiersAreRefused() {
        World world = World.withDisk(31, 20);
        CopyBlocks good = world.copyCommand(prompt, onHost(world));
        for (List<Tier> pair : List.of(
                List.of(Tier.STORE, Tier.DISK), List.of(Tier.DISK, Tier.DISK), List.of(Tier.HOST, Tier.HOST), List.of(Tier.DISK, Tier.HOST),
                List.of(Tier.DEVICE, Tier.HOST), List.of(Tier.UNKNOWN, Tier.STORE), List.of(Tier.HOST, Tier.UNKNOWN))) {
            world.command(new CopyBlocks(
                    good.envelope(), world.header(), world.operation(), pair.getFirst(), pair.getLast(), good.namespace(), good.blocks(), null));
            assertEquals(OperationReason.UNSUPPORTED, world.seen.last(CommandRefused.class).reason());
        }
        assertEquals(7, world.seen.events(CommandRefused.class).size());
        assertEquals(List.of(), world.ports.units);
    }

    // --- drops

    @Test
    void theHostEvictsBlocksThatTheDiskServesAndNoOthers() {
        World world = World.withDisk(31, 20);
        List<BlockResult> host = onHost(world);
        world.copy(prompt, List.of(host.get(4)));
        world.command(world.dropCommand(prompt, List.of(host.get(4)), Tier.DISK));
        assertEquals(OperationReason.PINNED, world.seen.last(DropFailed.class).reason(), "it is being copied");
        world.endAll(Kind.DISK_WRITE);
        world.command(world.dropCommand(prompt, List.of(host.get(4), host.get(3)), Tier.DISK));
        assertEquals(
                List.of(OperationReason.COMPLETED, OperationReason.LAST_COPY),
                world.seen.event(DropDone.class).blocks().stream().map(BlockResult::reason).toList());
        assertEquals(27, world.free());
        world.command(world.diskDropCommand(prompt, copies(world.seen.event(CopyDone.class)), Tier.HOST));
        assertEquals(OperationReason.LAST_COPY, world.seen.last(DropFailed.class).reason(), "the host does not have it");
        assertEquals(1, world.disk().servingBlocks());
    }

    @Test
    void c10TwoCopiesEachDroppedBecauseTheOtherIsThere() {
        World world = World.withDisk(31, 20);
        List<BlockResult> host = onHost(world);
        world.copy(prompt, List.of(host.get(4)));
        world.endAll(Kind.DISK_WRITE);
        world.command(world.diskDropCommand(prompt, copies(world.seen.event(CopyDone.class)), Tier.HOST));
        world.command(world.dropCommand(prompt, List.of(host.get(4)), Tier.DISK)); // the drop from the disk is under way
        assertEquals(OperationReason.LAST_COPY, world.seen.event(DropFailed.class).reason());
        world.endAll(Kind.DISK_DROP);
        assertEquals(Tier.DISK, world.seen.event(DropDone.class).tier());
        assertEquals(List.of(5L, 0), List.of(world.serving(), world.ports.disk.size()));
    }

    @Test
    void aDropFromTheDiskChecksGenerationChildrenAndTheReliedOnPlacement() {
        World world = World.withDisk(31, 20);
        List<PagedBlock> copies = copied(world); // of blocks 4, 3, 2, 1, 0 under generations 1..5
        PagedBlock last = copies.getFirst();
        world.dropSeen(world.diskDropCommand(prompt, List.of(copies.get(1)), Tier.STORE));
        assertEquals(OperationReason.PINNED, world.seen.last(DropFailed.class).reason(), "block 4 extends it");
        world.dropSeen(world.diskDropCommand(
                prompt, List.of(new PagedBlock(last.block(), -1, last.generation() + 1, 0)), Tier.STORE));
        assertEquals(OperationReason.STALE_GENERATION, world.seen.last(DropFailed.class).reason());
        world.command(world.diskDropCommand(prompt, List.of(last), Tier.DISK));
        assertEquals(OperationReason.LAST_COPY, world.seen.last(DropFailed.class).reason());
        world.dropSeen(world.diskDropCommand(prompt, List.of(last, copies.get(1)), Tier.STORE));
        assertEquals(List.of(2L, 3L), List.of(world.disk().leavingBlocks(), world.disk().servingBlocks()));
        assertEquals(List.of(), world.seen.events(DropDone.class), "the disk is not idle");
        world.endAll(Kind.DISK_DROP);
        DropDone done = world.seen.event(DropDone.class);
        assertEquals(List.of(1L, 2L), done.blocks().stream().map(BlockResult::generation).toList());
        assertEquals(17, world.disk().freeBlocks());
        assertEquals(5, world.serving(), "on the host");
        world.command(world.diskDropCommand(prompt, List.of(last), Tier.UNKNOWN));
        assertEquals(2, world.seen.events(DropDone.class).size(), "it is gone: that is a fact");
    }

    @Test
    void bytesThatDoNotLeaveAreDroppedAgainAndNoLookupFindsThemMeanwhile() {
        World world = World.withDisk(31, 20);
        List<PagedBlock> copies = copied(world);
        world.dropSeen(world.diskDropCommand(prompt, List.of(copies.getFirst()), Tier.STORE));
        world.end(Kind.DISK_DROP, 0, OperationReason.IO);
        assertEquals(BlockStatus.GONE, world.seen.event(DropDone.class).blocks().getFirst().status());
        assertEquals(1, world.disk().leavingBlocks());
        world.command(world.dropCommand(prompt, List.of(world.seen.last(WriteBackDone.class).blocks().getLast()), Tier.DISK));
        assertEquals(OperationReason.LAST_COPY, world.seen.event(DropFailed.class).reason(), "what leaves is nothing to rely on");
        world.end(Kind.DISK_DROP, 0, OperationReason.IO); // once more at once, then each second
        assertEquals(List.of(), world.ports.of(Kind.DISK_DROP));
        world.advance(1_000);
        world.endAll(Kind.DISK_DROP);
        assertFalse(world.ports.disk.holds(prompt, 4));
        assertEquals(16, world.disk().freeBlocks());
        assertEquals(2, world.core.status().count(AgentCounter.DISK_DROPS_REPEATED));
    }

    @Test
    void aBlockHasNoSecondPlacementBeforeTheLogHasTheEndOfTheFirst() {
        World world = slow(1);
        List<BlockResult> host = onHost(world);
        world.copy(prompt, host.reversed());
        world.endAll(Kind.DISK_WRITE);
        List<PagedBlock> copies = copies(world.seen.event(CopyDone.class));
        world.dropSeen(world.diskDropCommand(prompt, copies.subList(0, 2), Tier.STORE)); // units of one block
        world.end(Kind.DISK_DROP, 1);
        world.copy(prompt, List.of(host.get(4)));
        assertEquals(OperationReason.NOT_SERVING, world.seen.event(CopyFailed.class).reason(), "its bytes have left, its drop has not ended");
        world.endAll(Kind.DISK_DROP);
        world.copy(prompt, List.of(host.get(4)));
        world.endAll(Kind.DISK_WRITE);
        assertEquals(4, world.disk().servingBlocks());
    }

    @Test
    void i10NoBlockIsCopiedUnderOneThatLeaves() {
        World world = World.withDisk(31, 20);
        List<BlockResult> host = onHost(world);
        world.copy(prompt, List.of(host.get(3)));
        world.endAll(Kind.DISK_WRITE);
        world.dropSeen(world.diskDropCommand(prompt, copies(world.seen.event(CopyDone.class)), Tier.STORE));
        world.copy(prompt, List.of(host.get(4)));
        assertEquals(OperationReason.NOT_SERVING, world.seen.event(CopyFailed.class).reason());
        world.endAll(Kind.DISK_DROP);
        world.copy(prompt, List.of(host.get(4)));
        world.endAll(Kind.DISK_WRITE);
        assertEquals(1, world.disk().servingBlocks());
    }

    @Test
    void i10ABlockStaysUntilTheLogHasTheEndOfTheOneThatExtendsIt() {
        World world = World.withDisk(31, 20);
        List<PagedBlock> copies = copied(world);
        world.dropSeen(world.diskDropCommand(prompt, List.of(copies.get(0)), Tier.STORE));
        world.dropSeen(world.diskDropCommand(prompt, List.of(copies.get(1)), Tier.STORE));
        assertEquals(OperationReason.PINNED, world.seen.event(DropFailed.class).reason(), "the drop of block 4 has not ended");
        world.dropSeen(world.diskDropCommand(prompt, List.of(copies.get(0)), Tier.STORE));
        assertEquals(OperationReason.NOT_SERVING, world.seen.last(DropFailed.class).reason(), "the first drop reports it");
        world.end(Kind.DISK_DROP, 0, OperationReason.IO); // the bytes stay, but the log has seen
        world.dropSeen(world.diskDropCommand(prompt, List.of(copies.get(1)), Tier.STORE));
        world.settle();
        assertEquals(List.of(17L, 3L), List.of(world.disk().freeBlocks() + world.disk().leavingBlocks(), world.disk().servingBlocks()));
    }

    @Test
    void aCancelledDropHasDroppedTheBlocksItNames() {
        World world = slow(1);
        List<PagedBlock> copies = copied(world);
        var drop = world.diskDropCommand(prompt, copies.subList(0, 2), Tier.STORE);
        world.dropSeen(drop);
        world.cancelOperation(drop.operation(), OperationKind.DROP);
        assertEquals(1, world.ports.of(Kind.DISK_DROP).size(), "of the first block");
        world.settle();
        assertEquals(
                List.of(BlockStatus.GONE, BlockStatus.GONE),
                world.seen.event(OperationCancelled.class).blocks().stream().map(BlockResult::status).toList());
        assertEquals(List.of(17L, 3), List.of(world.disk().freeBlocks(), world.ports.disk.size()));
    }

    @Test
    void underPressureTheHostEvictsFirstBlocksThatTheDiskHoldsToo() {
        World world = World.withDisk(2, 20);
        Prompt one = Prompt.of(2, 1, 2);
        Prompt two = Prompt.of(2, 51, 52);
        Prompt three = Prompt.of(2, 91, 92);
        for (Prompt each : List.of(one, two)) {
            world.compute("r" + each.root(), each, 0, 0);
            String writeBack = world.writeBack("r" + each.root(), each, 0, 0);
            world.endAll(Kind.SAVE);
            world.releasePins(writeBack);
        }
        world.copy(two, world.seen.last(WriteBackDone.class).blocks());
        world.endAll(Kind.DISK_WRITE);
        world.compute("r3", three, 0, 5);
        world.writeBack("r3", three, 0, 5); // one page must go: of the colder one or of the one that is on the disk
        BlocksEvicted evicted = world.seen.event(BlocksEvicted.class);
        assertEquals(List.of(two.root()), evicted.blocks().stream().map(block -> block.block().key()).toList());
        assertEquals(0, world.core.status().count(AgentCounter.LAST_COPIES_EVICTED));
    }

    @Test
    void everyChangeOfACopyIsInTheTable() {
        int legal = 0;
        for (DiskState from : DiskState.values()) {
            for (DiskState to : DiskState.values()) {
                legal += from.mayBecome(to) ? 1 : 0;
            }
        }
        assertEquals(7, legal);
        World world = World.withDisk(31, 20);
        copied(world);
        var copy = world.core.disk().serving("m", prompt.root()).orElseThrow();
        org.junit.jupiter.api.Assertions.assertThrows(IllegalStateException.class, () -> world.core.disk().remove(copy));
        org.junit.jupiter.api.Assertions.assertThrows(IllegalStateException.class, () -> world.core.disk().write(copy));
        org.junit.jupiter.api.Assertions.assertThrows(
                IllegalStateException.class, () -> world.core.disk().reserve("m", prompt.block(0)));
        assertEquals(Bytes.EMPTY, copy.block().parent());
        assertArrayEquals(new long[] {5, 0}, new long[] {world.disk().servingBlocks(), world.disk().pinCount()});
    }
}
