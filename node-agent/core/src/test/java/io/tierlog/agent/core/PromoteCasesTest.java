/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.agent.core.FakePorts.Kind;
import io.tierlog.agent.core.api.AgentCounter;
import io.tierlog.agent.core.api.AgentInput;
import io.tierlog.agent.core.api.AgentLimits;
import io.tierlog.agent.core.port.EngineReplies.BlockAnswer;
import io.tierlog.schemas.Block;
import io.tierlog.schemas.BlockResult;
import io.tierlog.schemas.BlockStatus;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.OperationKind;
import io.tierlog.schemas.OperationReason;
import io.tierlog.schemas.PagedBlock;
import io.tierlog.schemas.RemovalReason;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.command.CancelOperation;
import io.tierlog.schemas.command.CommandHeader;
import io.tierlog.schemas.command.PromoteBlocks;
import io.tierlog.schemas.event.BlocksEvicted;
import io.tierlog.schemas.event.BlocksRecovered;
import io.tierlog.schemas.event.CommandRefused;
import io.tierlog.schemas.event.OperationCancelled;
import io.tierlog.schemas.event.OperationStarted;
import io.tierlog.schemas.event.PrefetchDone;
import io.tierlog.schemas.event.PromoteDone;
import io.tierlog.schemas.event.PromoteFailed;
import io.tierlog.schemas.event.PromotionRequested;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Blocks come from the disk to free pages of the host ahead of requests. Blocks of 2 tokens. */
class PromoteCasesTest {
    /** 11 tokens: 5 whole blocks. */
    private final Prompt prompt = Prompt.range(2, 1, 11);

    /** A host of {@code hostPages}, and a disk that holds the whole prompt. */
    private World world(int hostPages) {
        return world(hostPages, AgentLimits.defaults());
    }

    private World world(int hostPages, AgentLimits limits) {
        World.Past past = World.Past.none();
        past.disk().put(prompt, 0, 5);
        return World.withDisk(hostPages, 20, limits, past);
    }

    private static List<PagedBlock> onDisk(World world) {
        return world.seen.event(BlocksRecovered.class).blocks();
    }

    private PromoteBlocks command(World world, int from, int to) {
        return command(world, onDisk(world).subList(from, to));
    }

    private PromoteBlocks command(World world, List<PagedBlock> blocks) {
        String operation = world.operation();
        CommandHeader header = world.header();
        return new PromoteBlocks(world.envelope(), header, operation, "lease-" + operation, 60_000, prompt.namespace(), blocks);
    }

    private static List<BlockStatus> statuses(List<BlockResult> results) {
        return results.stream().map(BlockResult::status).toList();
    }

    @Test
    void whatArrivesServesUnderItsLease() {
        World world = world(31);
        PromoteBlocks command = command(world, 0, 5);
        world.command(command);
        assertEquals(5, world.seen.event(OperationStarted.class).pages().size());
        assertEquals(5, world.disk().pinCount());

        world.end(Kind.DISK_READ, 9);

        PromoteDone done = world.seen.event(PromoteDone.class);
        assertEquals(List.of(command.lease(), List.of()), List.of(done.lease(), done.awaited()));
        assertTrue(done.blocks().stream().allMatch(block -> block.status() == BlockStatus.ARRIVED && block.source() == Tier.DISK));
        assertEquals(List.of(5L, 0L), List.of(world.pins(), world.disk().pinCount()));
        assertEquals(5, world.core.status().count(AgentCounter.PROMOTED_BLOCKS));
        long call = world.submitted("r", prompt);
        assertEquals(5, world.offered(call).sources().size());
        world.cancel("r");
        world.advance(60_000);
        world.assertAtRest();
    }

    /** 5 blocks, 4 free pages: refused as a whole, and nothing that serves has to leave. */
    @Test
    void onlyFreePagesAreTaken() {
        World world = world(6);
        Prompt other = Prompt.range(2, 100, 104);
        world.compute("warm", other, 0, 0, 1);
        world.releasePins(world.writeBack("warm", other, 0, 0, 1));
        world.endAll(Kind.SAVE);
        world.advance(60_000);

        world.command(command(world, 0, 5));

        assertEquals(OperationReason.NO_ROOM, world.seen.event(CommandRefused.class).reason());
        assertEquals(List.of(), world.seen.events(BlocksEvicted.class));
        assertTrue(world.core.serves(Tier.HOST, other.namespace(), other.keys()));
        world.assertAtRest();
    }

    /** No request has used it: under pressure it leaves before blocks that were used earlier. */
    @Test
    void whatWasPromotedIsTheFirstToGo() {
        World world = world(6);
        Prompt other = Prompt.range(2, 100, 102);
        world.compute("warm", other, 0, 0);
        world.releasePins(world.writeBack("warm", other, 0, 0));
        world.endAll(Kind.SAVE);
        world.command(command(world, 0, 1));
        world.end(Kind.DISK_READ, 9);
        world.advance(60_000);
        world.ports.put(prompt, 1, 5);
        Prompt third = Prompt.range(2, 200, 210);
        world.ports.put(third, 0, 5);

        world.submitted("r", third);
        world.prefetch("r", third, 0, 5);

        BlocksEvicted gone = world.seen.event(BlocksEvicted.class);
        assertEquals(List.of(prompt.keys().getFirst()), gone.blocks().stream().map(block -> block.block().key()).toList());
        world.endAll(Kind.READ);
        world.cancel("r");
    }

    /** A host of 6 pages with one block of another prompt, which the store has too and which has no pin, and block 0 of the prompt, promoted. */
    private World warmAndPromoted(Prompt other) {
        World world = world(6);
        world.ports.put(other, 0, 1);
        world.submitted("warm", other);
        world.prefetch("warm", other, 0, 1);
        world.endAll(Kind.READ);
        world.cancel("warm");
        world.advance(60_000);
        world.command(command(world, 0, 1));
        world.end(Kind.DISK_READ, 9);
        return world;
    }

    /** Both are held elsewhere too: a block that no request used leaves before blocks that were used earlier. */
    @Test
    void whatWasPromotedIsColderThanWhatWasUsedBefore() {
        World world = warmAndPromoted(Prompt.range(2, 100, 104));
        world.advance(60_000);

        fetch(world, 5);

        assertEquals(List.of(prompt.keys().getFirst()), evicted(world));
    }

    /** While it is leased another block goes, though that was used; with nothing else to go, the lease yields, and the request has its pages. */
    @Test
    void theLeaseYieldsToARequestThatFindsTooFewPages() {
        Prompt other = Prompt.range(2, 100, 104);
        World world = warmAndPromoted(other);
        assertEquals(1, world.pins());

        fetch(world, 5);
        assertEquals(List.of(other.keys().getFirst()), evicted(world));

        world = warmAndPromoted(other);
        fetch(world, 6);
        assertEquals(2, evicted(world).size());
        assertTrue(evicted(world).contains(prompt.keys().getFirst()));
        assertEquals(6, world.seen.events(OperationStarted.class).getLast().pages().size());
    }

    /** 3 pages, 2 of them leased: the next promotion of 3 blocks is refused, and no lease yields for it. */
    @Test
    void noLeaseYieldsToAPromotion() {
        World world = world(3);
        world.command(command(world, 0, 2));
        world.end(Kind.DISK_READ, 9);

        world.command(command(world, 2, 5));

        assertEquals(OperationReason.NO_ROOM, world.seen.event(CommandRefused.class).reason());
        assertEquals(List.of(), world.seen.events(BlocksEvicted.class));
        assertEquals(2, world.pins());
    }

    private static List<Bytes> evicted(World world) {
        return world.seen.events(BlocksEvicted.class).stream().flatMap(gone -> gone.blocks().stream()).map(block -> block.block().key()).toList();
    }

    /** A request fetches so many blocks of a prompt from the store. */
    private static void fetch(World world, int blocks) {
        Prompt third = Prompt.range(2, 200, 200 + 2 * blocks);
        world.ports.put(third, 0, blocks);
        world.submitted("r", third);
        world.prefetch("r", third, 0, blocks);
    }

    @Test
    void whatTheDiskHoldsOtherwiseIsNotPromoted() {
        World world = world(31);
        PagedBlock first = onDisk(world).getFirst();
        PagedBlock stale = new PagedBlock(first.block(), -1, first.generation() + 1, first.crc32c());
        PagedBlock other = new PagedBlock(prompt.block(4), -1, 99, 0);

        world.command(command(world, List.of(stale, other)));

        PromoteFailed failed = world.seen.event(PromoteFailed.class);
        assertEquals(OperationReason.STALE_GENERATION, failed.reason());
        world.assertAtRest();
    }

    /** A damaged copy leaves the disk; of its chain what comes before it serves, what comes after it goes back. */
    @Test
    void aHoleEndsTheChain() {
        World world = world(31);
        world.ports.disk.rot(prompt, 2);
        world.command(command(world, 0, 5));

        world.end(Kind.DISK_READ, 9);

        assertEquals(RemovalReason.CHECKSUM, world.seen.event(BlocksEvicted.class).reason());
        PromoteDone done = world.seen.event(PromoteDone.class);
        assertEquals(List.of(BlockStatus.ARRIVED, BlockStatus.ARRIVED, BlockStatus.FAILED, BlockStatus.FAILED, BlockStatus.FAILED),
                statuses(done.blocks()));
        assertEquals(OperationReason.PREFIX_GONE, done.blocks().getLast().reason());
        assertEquals(2, world.pins());
    }

    /** A fetch and a read join what is promoted: no block is read twice, and the end names the joined blocks. */
    @Test
    void othersJoinIt() {
        World world = world(31);
        world.command(command(world, 0, 3));
        world.submitted("r", prompt);
        world.prefetch("r", prompt, 0, 2);
        long call = world.read(prompt, 10, 2, 20);
        long other = world.read(prompt, 10, 4, 21);
        assertEquals(1, world.ports.units.stream().filter(unit -> unit.kind() == Kind.DISK_READ).count());

        assertEquals(
                List.of(new BlockAnswer(false, OperationReason.NOT_SERVING)),
                world.seen.reply(other, RecordedOutput.Read.class).blocks(),
                "+0 ms");
        world.end(Kind.DISK_READ, 9);

        assertEquals(List.of(0, 1, 2), world.seen.event(PromoteDone.class).awaited());
        assertEquals(List.of(BlockStatus.ALREADY_THERE, BlockStatus.ALREADY_THERE),
                statuses(world.seen.event(PrefetchDone.class).blocks()));
        world.endAll(Kind.LOAD);
        assertEquals(List.of(new BlockAnswer(true, OperationReason.COMPLETED)), world.seen.reply(call, RecordedOutput.Read.class).blocks());
    }

    /** And it joins a fetch that runs. */
    @Test
    void itJoinsAFetch() {
        World world = world(31);
        world.submitted("r", prompt);
        world.prefetch("r", prompt, 0, 5);
        world.command(command(world, 0, 5));
        assertEquals(1, world.ports.units.stream().filter(unit -> unit.kind() == Kind.DISK_READ).count());

        world.end(Kind.DISK_READ, 9);

        assertTrue(world.seen.event(PromoteDone.class).blocks().stream().allMatch(block -> block.status() == BlockStatus.ALREADY_THERE));
        assertEquals(List.of(), world.seen.event(PromoteDone.class).awaited());
    }

    /** 5 blocks that are only on the disk, none promoted in time: one wait of 10 ms for all, and one deadline. */
    @Test
    void oneBudgetForTheWholeRead() {
        World world = world(31);
        world.command(command(world, 0, 5));
        long call = world.read(prompt, 10, 0, 20, 21, 22, 23, 24);

        world.advance(9);
        assertFalse(world.seen.replies.containsKey(call));
        world.advance(1);

        assertEquals(Collections.nCopies(5, new BlockAnswer(false, OperationReason.MOVED_ON)),
                world.seen.reply(call, RecordedOutput.Read.class).blocks());
        world.end(Kind.DISK_READ, 9);
        assertEquals(List.of(), world.seen.event(PromoteDone.class).awaited(), "no operation waits");
    }

    /**
     * A read of what only the disk has is answered at once, and requests promotion: again after 1, 2, 4 and 4 s while reads continue, and at once
     * after a pause.
     */
    @Test
    void aReadRequestsPromotionOfBlocksThatOnlyTheDiskHas() {
        World world = world(31);
        long call = world.read(prompt, 10_000, 0, 20, 21, 22, 23, 24);
        assertEquals(Collections.nCopies(5, new BlockAnswer(false, OperationReason.NOT_SERVING)),
                world.seen.reply(call, RecordedOutput.Read.class).blocks());
        PromotionRequested asked = world.seen.event(PromotionRequested.class);
        assertEquals(List.of("node/a", prompt.namespace(), onDisk(world).stream().map(PagedBlock::block).toList()),
                List.of(asked.envelope().aggregate(), asked.namespace(), asked.blocks()));

        List<Integer> asks = new ArrayList<>();
        for (int ms = 0; ms < 12_000; ms += 50) {
            int before = world.seen.events(PromotionRequested.class).size();
            world.read(prompt, 0, 0, 20, 21, 22, 23, 24);
            if (world.seen.events(PromotionRequested.class).size() > before) {
                asks.add(ms);
            }
            world.advance(50);
        }
        assertEquals(List.of(1_000, 3_000, 7_000, 11_000), asks);
        assertEquals(25, world.core.status().count(AgentCounter.PROMOTIONS_ASKED));
        world.advance(60_000);
        world.read(prompt, 0, 0, 20);
        world.advance(1_000);
        world.read(prompt, 0, 0, 20);
        assertEquals(7, world.seen.events(PromotionRequested.class).size(), "after a pause it is a second again");
    }

    /** Nothing is asked for what is on the host or on its way there, has another index, is on no disk, or while the log takes no more. */
    @Test
    void aReadRequestsNoOtherPromotion() {
        World world = world(31);
        world.command(command(world, 0, 2));
        world.read(prompt, 0, 0, 20, 21);
        world.end(Kind.DISK_READ, 9);
        world.read(prompt, 0, 0, 22, 23);
        world.read(Prompt.range(2, 50, 60), 0, 0, 24, 25);
        world.on(new AgentInput.ReadCalled(world.call(), World.SESSION, prompt.namespace(),
                List.of(new AgentInput.DeviceBlock(4, onDisk(world).get(3).block().key(), 26, 1)), -1));
        world.seen.congested = true;
        world.read(prompt, 0, 2, 27);
        assertEquals(List.of(), world.seen.events(PromotionRequested.class));
        world.seen.congested = false;
        world.read(prompt, 0, 2, 27);
        assertEquals(List.of(2), world.seen.event(PromotionRequested.class).blocks().stream().map(Block::index).toList());
    }

    /** 300 blocks: records of 128, 128 and 44. */
    @Test
    void aReadRequestsPromotionInBoundedRecords() {
        Prompt many = Prompt.range(2, 1, 601);
        World.Past past = World.Past.none();
        past.disk().put(many, 0, 300);
        World world = new World(300, 31, 400, AgentLimits.defaults(), past);
        world.on(new AgentInput.DiskFound(past.disk().found(), true));
        world.register();
        world.attach();
        world.read(many, 0, 0, IntStream.range(0, 300).toArray());
        assertEquals(List.of(128, 128, 44), world.seen.events(PromotionRequested.class).stream().map(asked -> asked.blocks().size()).toList());
    }

    /** Two blocks are remembered, and five are read: the oldest are forgotten first, and asked for again at once. */
    @Test
    void requestedPromotionsAreRememberedWithinABound() {
        World world = world(31, AgentLimits.defaults().with(new AgentLimits.Promotions(128, 2, 1_000, 4_000)));
        world.read(prompt, 0, 0, 20, 21, 22, 23, 24);
        world.read(prompt, 0, 0, 20, 21, 22, 23, 24);
        world.read(prompt, 0, 3, 20, 21);
        world.advance(100);
        world.read(prompt, 0, 3, 20, 21);
        assertEquals(List.of(List.of(0, 1, 2, 3, 4), List.of(0, 1, 2, 3, 4)), world.seen.events(PromotionRequested.class).stream()
                .map(asked -> asked.blocks().stream().map(Block::index).toList())
                .toList());
    }

    /** 32 readers read one key 10 times each while it is promoted: it is read from the disk once, and its one event wakes all of them. */
    @Test
    void manyReadersOfOneKey() {
        World world = world(31);
        world.command(command(world, 0, 1));
        List<Long> calls = new ArrayList<>();
        for (int i = 0; i < 320; i++) {
            long call = world.read(prompt, 10_000, 0, i % 31);
            if (!world.seen.replies.containsKey(call)) {
                calls.add(call);
            }
        }
        assertTrue(calls.size() >= 31, () -> calls.size() + " wait: a page of the device takes part in one read at a time");
        assertEquals(1, world.ports.units.stream().filter(unit -> unit.kind() == Kind.DISK_READ).count());

        world.end(Kind.DISK_READ, 9);
        world.endAll(Kind.LOAD);

        assertEquals(List.of(0), world.seen.event(PromoteDone.class).awaited());
        calls.forEach(call -> assertEquals(List.of(new BlockAnswer(true, OperationReason.COMPLETED)),
                world.seen.reply(call, RecordedOutput.Read.class).blocks()));
    }

    /** What lands after a cancel goes back. */
    @Test
    void cancelled() {
        World world = world(31);
        PromoteBlocks command = command(world, 0, 5);
        world.command(command);
        world.command(new CancelOperation(world.envelope(), world.header(), command.operation(), OperationKind.PROMOTE));

        world.end(Kind.DISK_READ, 9);

        assertEquals(OperationReason.CANCELLED, world.seen.event(OperationCancelled.class).reason());
        world.assertAtRest();
    }

    /** The same command once more is answered once more, and runs once. */
    @Test
    void aRepeatRunsOnce() {
        World world = world(31);
        PromoteBlocks command = command(world, 0, 5);
        world.command(command);
        world.command(command);
        world.end(Kind.DISK_READ, 9);
        world.command(command);

        assertEquals(2, world.seen.events(PromoteDone.class).size());
        assertEquals(5, world.core.status().count(AgentCounter.PROMOTED_BLOCKS));
    }
}
