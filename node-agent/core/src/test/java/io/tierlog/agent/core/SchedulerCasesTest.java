/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.agent.core.FakePorts.Kind;
import io.tierlog.agent.core.api.AgentCounter;
import io.tierlog.agent.core.api.AgentInput;
import io.tierlog.agent.core.api.AgentLimits;
import io.tierlog.agent.core.port.Offer;
import io.tierlog.schemas.BlockResult;
import io.tierlog.schemas.BlockStatus;
import io.tierlog.schemas.OperationKind;
import io.tierlog.schemas.OperationReason;
import io.tierlog.schemas.PagedBlock;
import io.tierlog.schemas.RemovalReason;
import io.tierlog.schemas.RequestReason;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.command.PrefetchBlocks;
import io.tierlog.schemas.event.BackUpDone;
import io.tierlog.schemas.event.BlocksEvicted;
import io.tierlog.schemas.event.BlocksStored;
import io.tierlog.schemas.event.CommandRefused;
import io.tierlog.schemas.event.OperationCancelled;
import io.tierlog.schemas.event.OperationStarted;
import io.tierlog.schemas.event.PrefetchDone;
import io.tierlog.schemas.event.PrefetchFailed;
import io.tierlog.schemas.event.RequestCancelled;
import io.tierlog.schemas.event.RequestSubmitted;
import io.tierlog.schemas.event.WriteBackDone;
import io.tierlog.schemas.event.WriteBackFailed;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Fetches, write-backs and backups against each other. Blocks of 2 tokens; H is the number of host pages. */
class SchedulerCasesTest {
    /** 11 tokens: 5 whole blocks, all of which may be reused: (11 - 1) / 2 = 5. */
    private final Prompt eleven = Prompt.range(2, 1, 11);

    private static void onHost(World world, Prompt prompt, int from, int to) {
        int[] pages = java.util.stream.IntStream.range(from, to).toArray();
        String name = "put" + from + prompt.root();
        world.compute(name, prompt, from, pages);
        String writeBack = world.writeBack(name, prompt, from, pages);
        world.endAll(Kind.SAVE);
        world.releasePins(writeBack);
    }

    private static void assertContent(World world, Prompt prompt, BlockResult result) {
        assertArrayEquals(
                FakePorts.content(prompt.namespace(), prompt.keys().get(result.block().index())), world.ports.host[result.page()]);
    }
    @Test
    void b1SuffixComesUnderItsOwnIndexes() {
        World world = World.running(31, 31);
        Prompt prompt = Prompt.range(2, 1, 13); // 6 whole blocks
        onHost(world, prompt, 0, 2);
        world.ports.put(prompt, 0, 6);
        world.submitted("r", prompt);
        RequestSubmitted submitted = world.seen.last(RequestSubmitted.class);
        assertEquals(List.of(0, 1), submitted.hostIndexes());
        assertEquals(2, submitted.storeFrom());
        assertEquals(4, submitted.storeBlocks());
        world.prefetch("r", prompt, 2, 6);
        world.endAll(Kind.READ);
        PrefetchDone done = world.seen.event(PrefetchDone.class);
        assertEquals(List.of(2, 3, 4, 5), done.blocks().stream().map(result -> result.block().index()).toList());
        done.blocks().forEach(result -> assertContent(world, prompt, result));
        Offer offer = world.seen.notices(RecordedOutput.Ready.class).getFirst().offer();
        List<Tier> tiers = List.of(Tier.HOST, Tier.HOST, Tier.STORE, Tier.STORE, Tier.STORE, Tier.STORE);
        assertEquals(new Offer(0, tiers, Offer.Reason.FETCHED, offer.lease()), offer);
    }

    @Test
    void b1BlocksUnderAnotherIndexThanThePromptsAreRefused() {
        World world = World.running(31, 31);
        world.ports.put(eleven, 0, 5);
        world.submitted("r", eleven);
        PrefetchBlocks good = world.prefetchCommand("r", eleven, 0, 3);
        Prompt other = Prompt.range(2, 51, 61);
        world.command(new PrefetchBlocks(
                good.envelope(), good.header(), good.operation(), good.lease(), good.leaseMs(), "r", 1, "m", other.root(),
                other.blocks(0, 3), List.of(Tier.STORE, Tier.STORE, Tier.STORE), List.of(), null));
        assertEquals(OperationReason.UNSUPPORTED, world.seen.event(CommandRefused.class).reason());
        assertEquals(Offer.Reason.FETCH_FAILED, world.seen.notices(RecordedOutput.Ready.class).getFirst().offer().reason());
        assertEquals(31, world.free());
    }
    @Test
    void b2BackupSourceStaysWhileTheNextWriteBackWaitsForPages() {
        World world = World.running(31, 2);
        Prompt one = Prompt.of(2, 1, 2, 3, 4);
        Prompt two = Prompt.of(2, 101, 102, 103, 104);
        world.compute("r1", one, 0, 0, 1);
        String first = world.writeBack("r1", one, 0, 0, 1);
        world.endAll(Kind.SAVE);
        world.backUp(one, first); // queued: its unit is under way
        world.compute("r2", two, 0, 2, 3);
        world.writeBack("r2", two, 0, 2, 3);
        assertEquals(List.of(), world.ports.of(Kind.SAVE), "deferred");
        assertEquals(1, world.core.status().count(AgentCounter.WRITE_BACKS_DEFERRED));
        assertEquals(2, world.core.status().devicePins());
        assertEquals(List.of(), world.seen.releasedPages("r2"));
        world.endAll(Kind.WRITE);
        assertEquals(2, world.seen.event(BlocksStored.class).blocks().size());
        BlocksEvicted evicted = world.seen.event(BlocksEvicted.class);
        assertEquals(RemovalReason.PRESSURE, evicted.reason());
        assertEquals(List.of(1, 0), evicted.blocks().stream().map(block -> block.block().index()).toList(), "from the end of the prefix");
        world.endAll(Kind.SAVE);
        assertEquals(List.of(2, 3), world.seen.releasedPages("r2"));
        for (int i = 0; i < 2; i++) {
            assertArrayEquals(
                    FakePorts.content("m", one.keys().get(i)), world.ports.store.get(FakePorts.name("m", one.keys().get(i))));
        }
        assertEquals(2, world.seen.events(WriteBackDone.class).size());
    }
    @Test
    void b2ADeferralThatFindsTooFewPagesInTimeIsRefused() {
        World world = World.running(31, 2);
        Prompt one = Prompt.of(2, 1, 2, 3, 4);
        Prompt two = Prompt.of(2, 101, 102, 103, 104);
        world.compute("r1", one, 0, 0, 1);
        world.backUp(one, writeBackNow(world, one, "r1"));
        world.compute("r2", two, 0, 2, 3);
        String deferred = world.writeBack("r2", two, 0, 2, 3);
        world.advance(1_999);
        assertEquals(List.of(), world.seen.releasedPages("r2"));
        world.advance(1);
        CommandRefused refused = world.seen.event(CommandRefused.class);
        assertEquals(OperationReason.NO_ROOM, refused.reason());
        assertEquals(deferred, refused.operation());
        assertEquals(List.of(2, 3), world.seen.releasedPages("r2"));
        world.endAll(Kind.WRITE);
        world.assertAtRest();
        assertEquals(List.of(), world.ports.units, "it does not begin afterwards");
    }

    private static String writeBackNow(World world, Prompt prompt, String request) {
        int[] pages = java.util.stream.IntStream.range(0, prompt.keys().size()).toArray();
        String writeBack = world.writeBack(request, prompt, 0, pages);
        world.endAll(Kind.SAVE);
        return writeBack;
    }
    @Test
    void b2ADeferredWriteBackCanBeCancelled() {
        World world = World.running(31, 2);
        Prompt one = Prompt.of(2, 1, 2, 3, 4);
        Prompt two = Prompt.of(2, 101, 102, 103, 104);
        world.compute("r1", one, 0, 0, 1);
        world.backUp(one, writeBackNow(world, one, "r1"));
        world.compute("r2", two, 0, 2, 3);
        String deferred = world.writeBack("r2", two, 0, 2, 3);
        world.cancelOperation(deferred, OperationKind.WRITE_BACK);
        assertEquals(deferred, world.seen.event(OperationCancelled.class).operation());
        assertEquals(List.of(2, 3), world.seen.releasedPages("r2"));
        world.endAll(Kind.WRITE);
        world.assertAtRest();
    }
    @Test
    @Timeout(10)
    void aQueuedWriteBackWithABlockThatServesTriesOnce() {
        World world = World.running(31, 3);
        Prompt one = Prompt.of(2, 1, 2, 3, 4);
        Prompt longer = Prompt.of(2, 1, 2, 3, 4, 5, 6, 7, 8);
        Prompt other = Prompt.of(2, 91, 92);
        world.compute("r1", one, 0, 0, 1);
        world.releasePins(writeBackNow(world, one, "r1"));
        world.compute("r3", other, 0, 9);
        String third = world.writeBack("r3", other, 0, 9);
        world.endAll(Kind.SAVE);
        world.compute("r2", longer, 0, 2, 3, 4);
        world.writeBack("r2", longer, 0, 2, 3, 4); // 0 and 1 serve; 2 finds no page while r3's page is pinned
        assertEquals(List.of(), world.ports.of(Kind.SAVE));
        world.releasePins(third);
        assertEquals(1, world.ports.only(Kind.SAVE).size());
    }
    @Test
    void aWriteBackLargerThanTheHostIsRefusedAtOnce() {
        World world = World.running(31, 4);
        world.compute("r", eleven, 0, 0, 1, 2, 3, 4);
        world.writeBack("r", eleven, 0, 0, 1, 2, 3, 4);
        assertEquals(OperationReason.NO_ROOM, world.seen.event(CommandRefused.class).reason());
        assertEquals(5, world.seen.releasedPages("r").size());
        world.assertAtRest();
    }
    @Test
    void b3aAPlacementThatIsBuiltOnMustServeWithItsGeneration() {
        World world = World.running(31, 31);
        Prompt prompt = Prompt.range(2, 1, 13);
        onHost(world, prompt, 0, 2);
        world.ports.put(prompt, 2, 6);
        world.submitted("r", prompt);
        PagedBlock stale = new PagedBlock(prompt.block(1), 1, 77, 0);
        world.command(world.prefetchCommand("r", prompt, 2, 6, stale));
        assertEquals(OperationReason.PREFIX_GONE, world.seen.event(CommandRefused.class).reason());
        Offer offer = world.seen.notices(RecordedOutput.Ready.class).getFirst().offer();
        assertEquals(2, offer.sources().size(), "what is pinned is offered, nothing under another index");
        assertEquals(29, world.free());
    }
    @Test
    void b3aThePrefixOfAWaitingRequestCannotBeEvicted() {
        World world = World.running(31, 2);
        Prompt prompt = Prompt.range(2, 1, 13);
        onHost(world, prompt, 0, 2);
        world.ports.put(prompt, 2, 6);
        world.submitted("r", prompt);
        Prompt other = Prompt.range(2, 51, 54);
        world.compute("s", other, 0, 10, 11);
        world.writeBack("s", other, 0, 10, 11);
        assertEquals(List.of(), world.seen.events(BlocksEvicted.class));
        assertEquals(1, world.core.status().count(AgentCounter.WRITE_BACKS_DEFERRED));
    }
    @Test
    void b3bWhatServesByThenIsNotFetchedAgain() {
        World world = World.running(31, 31);
        Prompt prompt = Prompt.range(2, 1, 13);
        world.ports.put(prompt, 0, 6);
        world.submitted("r", prompt);
        world.ports.storeReachable = false; // another request computes 0 and 1, and they are on the host first
        onHost(world, prompt, 0, 2);
        world.prefetch("r", prompt, 0, 6);
        assertEquals(4, world.ports.only(Kind.READ).size(), "exactly 2..5");
        world.endAll(Kind.READ);
        PrefetchDone done = world.seen.event(PrefetchDone.class);
        assertEquals(
                List.of(BlockStatus.ALREADY_THERE, BlockStatus.ALREADY_THERE, BlockStatus.ARRIVED, BlockStatus.ARRIVED,
                        BlockStatus.ARRIVED, BlockStatus.ARRIVED),
                done.blocks().stream().map(BlockResult::status).toList());
        done.blocks().forEach(result -> assertContent(world, prompt, result));
        assertEquals(6, world.seen.notices(RecordedOutput.Ready.class).getFirst().offer().sources().size());
        assertEquals(25, world.free());
    }
    @Test
    void b3bWhatServesByThenIsOfferedAndPinnedWithoutAFetch() {
        World world = World.running(31, 31);
        world.ports.put(eleven, 0, 5);
        world.submitted("r", eleven);
        world.ports.storeReachable = false;
        onHost(world, eleven, 0, 2);
        assertEquals(0, world.pins());
        world.resume("r", RequestReason.BELOW_THRESHOLD);
        assertEquals(2, ready(world).sources().size());
        assertEquals(2, world.pins());
        world.prefilled("r");
        world.assertAtRest();
    }
    @Test
    void b4SharedPrefixesAreWrittenOnce() {
        World world = World.running(31, 31);
        Prompt one = Prompt.of(2, 1, 2, 3, 4, 5, 6, 7, 8);
        Prompt two = Prompt.of(2, 1, 2, 3, 4, 11, 12, 13, 14);
        world.compute("r1", one, 0, 0, 1, 2, 3);
        world.compute("r2", two, 0, 4, 5, 6, 7);
        String first = world.writeBack("r1", one, 0, 0, 1, 2, 3);
        String second = world.writeBack("r2", two, 0, 4, 5, 6, 7);
        world.endAll(Kind.SAVE);
        assertEquals(31 - 6, world.free(), "6 distinct blocks; the second joined 0 and 1");
        world.backUp(one, first);
        world.backUp(two, second);
        world.endAll(Kind.WRITE);
        assertEquals(6, world.ports.store.size());
        world.assertAtRest();
    }
    @Test
    void b5TheMatchedPrefixIsNotEvictedForItsOwnSuffix() {
        World world = World.running(31, 4);
        onHost(world, eleven, 0, 2);
        world.ports.put(eleven, 2, 5);
        world.submitted("r", eleven);
        world.prefetch("r", eleven, 2, 5); // 3 pages, 2 free
        assertEquals(OperationReason.NO_ROOM, world.seen.event(CommandRefused.class).reason());
        assertEquals(List.of(), world.ports.of(Kind.READ));
        assertEquals(List.of(), world.seen.events(BlocksEvicted.class));
        Offer offer = world.seen.notices(RecordedOutput.Ready.class).getFirst().offer();
        Offer prefix = new Offer(0, List.of(Tier.HOST, Tier.HOST), Offer.Reason.NO_ROOM, offer.lease());
        assertEquals(prefix, offer, "prefix of 4 tokens, the rest computed");
    }
    @Test
    void b6FinishThenAbortBeforeTheWriteBack() {
        World world = World.running(31, 31);
        world.compute("r1", eleven, 0, 0, 1, 2, 3, 4);
        world.cancel("r1");
        assertEquals(0, world.offered(world.submitted("r2", eleven)).sources().size());
        world.releaseRequest("r1");
        assertEquals(List.of(0, 1, 2, 3, 4), world.seen.releasedPages("r1"));
    }
    @Test
    void b7AbortWhileTheWriteBackRuns() {
        World world = World.running(31, 31);
        world.submitted("r", eleven);
        world.prefilled("r");
        world.seal("r", eleven, 0, 0, 1, 2, 3, 4);
        String writeBack = world.writeBack("r", eleven, 0, 0, 1, 2, 3); // write-through
        world.cancel("r");
        assertEquals(List.of(4), world.seen.releasedPages("r"), "the others are being copied");
        assertEquals(27, world.free());
        world.endAll(Kind.SAVE);
        assertEquals(List.of(4, 0, 1, 2, 3), world.seen.releasedPages("r"));
        WriteBackDone done = world.seen.event(WriteBackDone.class);
        assertEquals(writeBack, done.operation());
        done.blocks().forEach(result -> assertContent(world, eleven, result));
        world.finish("r"); // nothing throws
        world.releasePins(writeBack);
        world.assertAtRest();
    }
    @Test
    void b8AFailedWriteBackLeavesNothingOnTheHost() {
        World world = World.running(31, 31);
        world.compute("r", eleven, 0, 0, 1, 2, 3, 4);
        world.writeBack("r", eleven, 0, 0, 1, 2, 3, 4);
        world.end(Kind.SAVE, 0, OperationReason.DEVICE_FAULT);
        assertEquals(OperationReason.DEVICE_FAULT, world.seen.event(WriteBackFailed.class).reason());
        assertEquals(31, world.free());
        assertEquals(5, world.seen.releasedPages("r").size());
        world.assertAtRest();
    }
    @Test
    void b8SomeBlocksFail() {
        World world = World.running(31, 31);
        world.compute("r", eleven, 0, 0, 1, 2, 3, 4);
        String writeBack = world.writeBack("r", eleven, 0, 0, 1, 2, 3, 4);
        world.end(Kind.SAVE, 2, OperationReason.DEVICE_FAULT);
        assertEquals(29, world.free());
        BackUpDone done = backedUp(world, writeBack);
        assertEquals(2, done.blocks().size());
    }

    private BackUpDone backedUp(World world, String writeBack) {
        world.backUp(eleven, writeBack);
        assertEquals(2, world.pins(), "the backup's; the write-back's is released");
        world.endAll(Kind.WRITE);
        world.assertAtRest();
        return world.seen.event(BackUpDone.class);
    }
    @Test
    void b8AnUnknownOutcomeQuarantinesUntilTheStreamIsIdle() {
        World world = World.running(31, 31);
        world.compute("r", eleven, 0, 0, 1, 2, 3, 4);
        world.writeBack("r", eleven, 0, 0, 1, 2, 3, 4);
        world.end(Kind.SAVE, 3, OperationReason.UNKNOWN);
        assertEquals(2, world.core.status().usage().getFirst().quarantinedBlocks());
        assertEquals(26, world.free());
        assertEquals(List.of(0, 1, 2), world.seen.releasedPages("r"), "3 and 4 may still be read");
        // a later copy of the same stream has ended: so has all before it
        Prompt other = Prompt.range(2, 51, 52);
        world.compute("s", other, 0, 9);
        world.writeBack("s", other, 0, 9);
        world.endAll(Kind.SAVE);
        assertEquals(0, world.core.status().usage().getFirst().quarantinedBlocks());
        assertEquals(27, world.free(), "31 - 3 - 1");
        assertEquals(5, world.seen.releasedPages("r").size());
    }

    @Test
    void b9WhatWasFetchedForAWaitingRequestIsNotEvictedByAnother() {
        World world = World.running(31, 5);
        Prompt other = Prompt.range(2, 51, 61);
        world.ports.put(eleven, 0, 5);
        world.ports.put(other, 0, 5);
        world.submitted("r1", eleven);
        world.submitted("r2", other);
        world.prefetch("r1", eleven, 0, 5);
        world.endAll(Kind.READ);
        world.prefetch("r2", other, 0, 5);
        assertEquals(OperationReason.NO_ROOM, world.seen.event(CommandRefused.class).reason());
        world.load("r1", eleven, 0, 0, 1, 2, 3, 4);
        world.endAll(Kind.LOAD);
        for (int i = 0; i < 5; i++) {
            world.assertOnDevice(eleven, i, i);
        }
        world.assertAtRest();
    }

    // --- B11: store has 0..4, H = 31, 11 tokens

    private World fetching() {
        World world = World.running(31, 31);
        world.ports.put(eleven, 0, 5);
        world.submitted("r", eleven);
        world.prefetch("r", eleven, 0, 5);
        assertEquals(26, world.free());
        return world;
    }

    private static Offer ready(World world) {
        assertEquals(1, world.seen.notices(RecordedOutput.Ready.class).size());
        return world.seen.notices(RecordedOutput.Ready.class).getFirst().offer();
    }

    @Test
    void b11AllArrive() {
        World world = fetching();
        world.end(Kind.READ, 5);
        assertEquals(5, ready(world).sources().size(), "prefix 10");
        assertEquals(26, world.free());
        PrefetchDone done = world.seen.event(PrefetchDone.class);
        assertEquals("lease-" + done.operation(), done.lease());
        assertEquals(5, world.pins());
    }

    @Test
    void b11ThreeArrive() {
        World world = fetching();
        world.end(Kind.READ, 3);
        assertEquals(3, ready(world).sources().size(), "prefix 6");
        assertEquals(Offer.Reason.FETCH_FAILED, ready(world).reason());
        assertEquals(28, world.free());
    }

    @Test
    void b11AHoleEndsTheRun() {
        World world = fetching();
        world.ports.store.remove(FakePorts.name("m", eleven.keys().get(1)));
        world.end(Kind.READ, 5);
        assertEquals(1, ready(world).sources().size());
        assertEquals(30, world.free(), "what arrived behind the hole is given back");
        assertEquals(
                List.of(OperationReason.COMPLETED, OperationReason.NOT_FOUND, OperationReason.PREFIX_GONE, OperationReason.PREFIX_GONE,
                        OperationReason.PREFIX_GONE),
                world.seen.event(PrefetchDone.class).blocks().stream().map(BlockResult::reason).toList());
    }

    @Test
    void b11NoneArrives() {
        World world = fetching();
        world.end(Kind.READ, 0);
        assertEquals(0, ready(world).sources().size());
        assertEquals(31, world.free());
        assertEquals(OperationReason.IO, world.seen.event(PrefetchFailed.class).reason());
        world.assertAtRest();
    }

    @Test
    void b11RequestCancelledWhileRunning() {
        World world = fetching();
        world.cancel("r");
        assertEquals(26, world.free());
        assertEquals(List.of(), world.seen.events(OperationCancelled.class), "bytes may be moving");
        world.end(Kind.READ, 5);
        assertEquals(31, world.free());
        assertEquals(OperationReason.CANCELLED, world.seen.event(OperationCancelled.class).reason());
        assertEquals(List.of(), world.seen.notices(RecordedOutput.Ready.class));
        world.assertAtRest();
    }

    @Test
    void b11OperationCancelledWhileRunning() {
        World world = fetching();
        String operation = world.seen.event(OperationStarted.class).operation();
        world.cancelOperation(operation, OperationKind.PREFETCH);
        assertEquals(26, world.free());
        world.end(Kind.READ, 5);
        assertEquals(31, world.free());
        assertEquals(0, ready(world).sources().size(), "the request continues at once");
        world.cancelOperation(operation, OperationKind.PREFETCH);
        assertEquals(2, world.seen.events(OperationCancelled.class).size(), "the terminal event is repeated");
    }

    @Test
    void wrongBytesInTheStoreAreNotServed() {
        World world = fetching();
        byte[] rotten = world.ports.store.get(FakePorts.name("m", eleven.keys().get(2)));
        world.ports.store.put(FakePorts.name("m", eleven.keys().get(2)), Arrays.copyOf(rotten, 3));
        world.end(Kind.READ, 5);
        assertEquals(2, ready(world).sources().size());
        assertEquals(OperationReason.CHECKSUM, world.seen.event(PrefetchDone.class).blocks().get(2).reason());
        assertEquals(29, world.free());
    }

    // --- B13

    @Test
    void b13LateAndRepeatedCompletionsChangeNothing() {
        World world = fetching();
        FakePorts.Unit read = world.ports.only(Kind.READ);
        world.end(Kind.READ, 5);
        int events = world.seen.events.size();
        world.on(FakePorts.input(read, List.of(FakePorts.failed(OperationReason.IO))));
        world.on(new AgentInput.StoreUnitEnded(999, List.of(FakePorts.arrived(1))));
        world.on(new AgentInput.CopiesEnded(read.id(), List.of(FakePorts.arrived(1))));
        world.on(new AgentInput.StoreProbed(read.id(), 5, true));
        world.on(new AgentInput.DiskUnitEnded(999, List.of()));
        assertEquals(events, world.seen.events.size());
        assertEquals(5, world.core.status().count(AgentCounter.LATE_COMPLETIONS));
        assertEquals(26, world.free());
    }

    @Test
    void b14BasicRequest() {
        World world = World.running(31, 31);
        Prompt one = Prompt.of(2, 1, 2, 3, 4);
        world.ports.put(one, 5, 5);
        world.compute("r1", one, 0, 0, 1);
        world.releasePins(writeBackNow(world, one, "r1"));
        assertEquals(29, world.free());
        // the same prompt: 1 block matches, since the last token is computed again
        assertEquals(1, world.offered(world.submit("r2", one, 0)).sources().size());
        world.load("r2", one, 0, 5);
        world.endAll(Kind.LOAD);
        world.prefilled("r2");
        world.seal("r2", one, 1, 6);
        world.finish("r2");
        world.releaseRequest("r2"); // block 1 is on the host: nothing to write back
        assertEquals(List.of(5, 6), world.seen.releasedPages("r2"));
        assertEquals(29, world.free());
        Prompt three = Prompt.of(2, 1, 2, 3, 4, 5, 6);
        assertEquals(2, world.offered(world.submitted("r3", three)).sources().size());
        world.load("r3", three, 0, 7, 8);
        world.endAll(Kind.LOAD);
        world.prefilled("r3");
        world.seal("r3", three, 2, 9);
        world.finish("r3");
        String last = world.writeBack("r3", three, 2, 9);
        world.endAll(Kind.SAVE);
        world.releasePins(last);
        assertEquals(28, world.free());
        world.assertAtRest();
    }

    @Test
    void b14TwoFinishTogether() {
        World world = World.running(31, 31);
        Prompt one = Prompt.of(2, 1, 2, 3, 4);
        Prompt two = Prompt.of(2, 1, 2, 5, 6);
        world.compute("r1", one, 0, 0, 1);
        world.compute("r2", two, 0, 2, 3);
        String first = world.writeBack("r1", one, 0, 0, 1);
        String second = world.writeBack("r2", two, 0, 2, 3);
        List<FakePorts.Unit> saves = world.ports.of(Kind.SAVE);
        world.on(world.ports.end(saves.get(1), 9, OperationReason.IO)); // the second lands first, and waits for the block it joined
        assertEquals(List.of(), world.seen.events(WriteBackDone.class));
        world.on(world.ports.end(saves.get(0), 9, OperationReason.IO));
        assertEquals(2, world.seen.events(WriteBackDone.class).size());
        assertEquals(28, world.free(), "3 blocks in all");
        world.releasePins(first);
        assertEquals(2, world.pins(), "the second's pins on both its blocks stay");
        world.releasePins(second);
        world.assertAtRest();
    }

    @Test
    void aJoinedFetchContinuesWhenItsRequestIsCancelled() {
        World world = World.running(31, 31);
        world.ports.put(eleven, 0, 5);
        world.submitted("r1", eleven);
        world.submitted("r2", eleven);
        world.prefetch("r1", eleven, 0, 5);
        world.prefetch("r2", eleven, 0, 5);
        assertEquals(26, world.free(), "fetched once");
        world.cancel("r1");
        world.endAll(Kind.READ);
        assertNull(world.seen.events(PrefetchDone.class).getFirst().lease());
        assertEquals(5, ready(world).sources().size());
        assertEquals("r2", world.seen.notices(RecordedOutput.Ready.class).getFirst().request());
        assertEquals(RequestReason.CLIENT_CANCELLED, world.seen.event(RequestCancelled.class).reason());
        world.load("r2", eleven, 0, 0, 1, 2, 3, 4);
        world.endAll(Kind.LOAD);
        world.assertAtRest();
    }

    @Test
    void aJoinOfAFetchThatFailsFailsWithIt() {
        World world = World.running(31, 31);
        world.ports.put(eleven, 0, 5);
        world.submitted("r1", eleven);
        world.submitted("r2", eleven);
        world.prefetch("r1", eleven, 0, 3);
        world.prefetch("r2", eleven, 0, 5);
        assertEquals(2, world.ports.of(Kind.READ).size());
        world.end(Kind.READ, 2); // r1: 0 and 1 arrive
        assertEquals(1, world.seen.notices(RecordedOutput.Ready.class).size());
        world.end(Kind.READ, 2); // r2: 3 and 4 arrive, but 2 did not
        assertEquals(2, world.seen.notices(RecordedOutput.Ready.class).size());
        assertEquals(2, world.seen.notices(RecordedOutput.Ready.class).get(1).offer().sources().size());
        assertEquals(29, world.free());
    }

    @Test
    void loadsComeBeforeSaves() {
        AgentLimits one = AgentLimits.defaults().with(new AgentLimits.Units(1, 1, 1, 2, 1));
        World world = World.running(31, 31, one);
        onHost(world, eleven, 0, 5);
        world.submit("r", eleven, 0);
        world.load("r", eleven, 0, 5, 6, 7);
        Prompt other = Prompt.range(2, 51, 61);
        world.compute("s", other, 0, 10, 11, 12, 13, 14);
        world.writeBack("s", other, 0, 10, 11, 12, 13, 14);
        assertEquals(1, world.ports.of(Kind.LOAD).size());
        assertEquals(1, world.ports.of(Kind.SAVE).size(), "while loads queue, one save");
        world.end(Kind.LOAD, 1);
        world.end(Kind.LOAD, 1);
        assertEquals(2, world.ports.of(Kind.SAVE).size(), "the last load is under way, none queues");
        world.settle();
        assertTrue(world.free() == 31 - 10);
    }
}
