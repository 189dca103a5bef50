/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.agent.core.FakePorts.Kind;
import io.tierlog.agent.core.api.AgentCounter;
import io.tierlog.agent.core.api.AgentInput;
import io.tierlog.agent.core.api.AgentInput.FoundOnDisk;
import io.tierlog.agent.core.api.AgentLimits;
import io.tierlog.agent.core.port.Offer;
import io.tierlog.schemas.Block;
import io.tierlog.schemas.BlockResult;
import io.tierlog.schemas.BlockStatus;
import io.tierlog.schemas.OperationReason;
import io.tierlog.schemas.PagedBlock;
import io.tierlog.schemas.RemovalReason;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.command.PrefetchBlocks;
import io.tierlog.schemas.event.AgentHeartbeat;
import io.tierlog.schemas.event.BlocksEvicted;
import io.tierlog.schemas.event.BlocksRecovered;
import io.tierlog.schemas.event.BlocksSeenStored;
import io.tierlog.schemas.event.CommandRefused;
import io.tierlog.schemas.event.DropFailed;
import io.tierlog.schemas.event.PrefetchDone;
import io.tierlog.schemas.event.PrefetchFailed;
import io.tierlog.schemas.event.RequestSubmitted;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What a start finds on the disk, and fetches from it. Blocks of 2 tokens. */
class DiskFetchTest {
    /** 11 tokens: 5 whole blocks, all of which may be reused. */
    private final Prompt prompt = Prompt.range(2, 1, 11);

    /** A node whose disk holds blocks from..to-1 from an earlier process. */
    private World found(int from, int to) {
        World.Past past = World.Past.none();
        past.disk().put(prompt, from, to);
        return World.withDisk(31, 20, past);
    }

    private static RequestSubmitted submission(World world) {
        return world.seen.last(RequestSubmitted.class);
    }

    private static Offer ready(World world) {
        return world.seen.notices(RecordedOutput.Ready.class).getLast().offer();
    }

    // --- submission

    @Test
    void theStoreIsProbedFromTheFirstBlockThatNeitherHostNorDiskHolds() {
        World world = found(0, 2);
        world.ports.put(prompt, 0, 4);
        world.submit("r", prompt, 0);
        assertEquals(3, world.ports.only(Kind.PROBE).keys().size(), "blocks 2 to 4");
        assertEquals(2, world.disk().pinCount());
        world.settle();
        RequestSubmitted submitted = submission(world);
        assertEquals(List.of(0, 1), submitted.diskIndexes());
        assertEquals(List.of(List.of(), 2, 2, false),
                List.of(submitted.hostIndexes(), submitted.storeFrom(), submitted.storeBlocks(), submitted.answered()));
    }

    @Test
    void aHoleOnTheDiskEndsWhatIsContiguous() {
        World.Past past = World.Past.none();
        past.disk().put(prompt, 0, 1);
        past.disk().put(prompt, 2, 4);
        World world = World.withDisk(31, 20, past);
        world.submitted("r", prompt);
        assertEquals(List.of(0, 2, 3), submission(world).diskIndexes());
        assertEquals(List.of(1, 0), List.of(submission(world).storeFrom(), submission(world).storeBlocks()));
        assertFalse(submission(world).answered(), "block 0 can be fetched");
    }

    @Test
    void whatLiesBehindAHoleAloneIsOfNoUse() {
        World world = found(1, 5);
        long call = world.submitted("r", prompt);
        assertEquals(Offer.Reason.NOTHING_BELOW, world.offered(call).reason());
        assertTrue(submission(world).answered());
        world.cancel("r");
        world.assertAtRest();
    }

    @Test
    void aPromptThatIsAllOnTheDiskWaitsWithoutAskingTheStore() {
        World world = found(0, 5);
        world.submit("r", prompt, 0);
        assertEquals(List.of(), world.ports.units);
        assertEquals(List.of(5, 0), List.of(submission(world).storeFrom(), submission(world).storeBlocks()));
        assertFalse(submission(world).answered());
        world.advance(200);
        assertEquals(Offer.none(0, Offer.Reason.WAIT_EXPIRED), ready(world));
        assertEquals(0, world.disk().pinCount());
    }

    @Test
    void aReportedPlacementStaysUntilTheRequestHasItsOffer() {
        World world = found(0, 5);
        world.submit("r", prompt, 0);
        PagedBlock last = new PagedBlock(prompt.block(4), -1, 5, 0);
        world.dropSeen(world.diskDropCommand(prompt, List.of(last), Tier.STORE));
        assertEquals(OperationReason.PINNED, world.seen.event(DropFailed.class).reason());
        world.advance(200);
        world.dropSeen(world.diskDropCommand(prompt, List.of(last), Tier.STORE));
        world.settle();
        assertEquals(4, world.disk().servingBlocks());
    }

    // --- fetches

    @Test
    void eachBlockIsReadFromTheNearestCopy() {
        World world = found(0, 3);
        world.ports.put(prompt, 0, 5);
        world.submitted("r", prompt);
        world.prefetch("r", prompt, 0, 5); // the hints say STORE for all
        assertEquals(3, world.ports.only(Kind.DISK_READ).size());
        assertEquals(2, world.ports.only(Kind.READ).size());
        world.end(Kind.READ, 9);
        world.end(Kind.DISK_READ, 9);
        PrefetchDone done = world.seen.event(PrefetchDone.class);
        List<Tier> sources = List.of(Tier.DISK, Tier.DISK, Tier.DISK, Tier.STORE, Tier.STORE);
        assertEquals(sources, done.blocks().stream().map(BlockResult::source).toList());
        assertEquals(new Offer(0, sources, Offer.Reason.FETCHED, ready(world).lease()), ready(world));
        assertEquals(3, world.core.status().count(AgentCounter.FETCHED_FROM_DISK));
        world.load("r", prompt, 0, 10, 11, 12, 13, 14);
        world.endAll(Kind.LOAD);
        for (int i = 0; i < 5; i++) {
            world.assertOnDevice(prompt, i, 10 + i);
        }
        assertEquals(List.of(3L, 0L), List.of(world.disk().servingBlocks(), world.disk().pinCount()), "the copies stay on the disk");
        world.finish("r");
        world.assertAtRest();
    }

    @Test
    void aDamagedCopyIsReadFromTheStoreAndLeavesTheDisk() {
        World world = found(0, 5);
        world.ports.put(prompt, 0, 5);
        world.ports.disk.rot(prompt, 2);
        world.submitted("r", prompt);
        world.prefetch("r", prompt, 0, 5);
        world.end(Kind.DISK_READ, 9);
        BlocksEvicted gone = world.seen.event(BlocksEvicted.class);
        assertEquals(List.of(Tier.DISK, RemovalReason.CHECKSUM), List.of(gone.tier(), gone.reason()));
        assertEquals(List.of(new PagedBlock(prompt.block(2), -1, 3, FakePorts.crc(FakePorts.content("m", prompt.keys().get(2))))),
                gone.blocks());
        assertEquals(List.of(), world.seen.events(PrefetchDone.class));
        assertEquals(1, world.ports.only(Kind.READ).size());
        world.end(Kind.READ, 9);
        List<Tier> sources = List.of(Tier.DISK, Tier.DISK, Tier.STORE, Tier.DISK, Tier.DISK);
        assertEquals(sources, world.seen.event(PrefetchDone.class).blocks().stream().map(BlockResult::source).toList());
        assertEquals(sources, ready(world).sources());
        assertEquals(1, world.disk().leavingBlocks());
        world.endAll(Kind.DISK_DROP);
        assertEquals(List.of(4L, 16L), List.of(world.disk().servingBlocks(), world.disk().freeBlocks()));
    }

    @Test
    void aCopyThatIsNotThereIsReadFromTheStoreToo() {
        World world = found(0, 5);
        world.ports.put(prompt, 0, 4);
        world.ports.disk.lose(prompt, 3);
        world.ports.disk.lose(prompt, 4);
        world.submitted("r", prompt);
        world.prefetch("r", prompt, 0, 5);
        world.settle();
        assertEquals(2, world.seen.events(BlocksEvicted.class).size());
        PrefetchDone done = world.seen.event(PrefetchDone.class);
        assertEquals(OperationReason.NOT_FOUND, done.blocks().getLast().reason(), "the store lacks it");
        assertEquals(4, ready(world).sources().size());
        assertEquals(3, world.disk().servingBlocks());
    }

    @Test
    void aDiskThatFailsKeepsItsCopyForAnotherTime() {
        World world = found(0, 5);
        world.ports.put(prompt, 0, 5);
        world.submitted("r", prompt);
        world.prefetch("r", prompt, 0, 5);
        world.end(Kind.DISK_READ, 0, OperationReason.IO);
        world.settle();
        assertEquals(List.of(), world.seen.events(BlocksEvicted.class));
        assertEquals(5, ready(world).sources().stream().filter(Tier.STORE::equals).count());
        assertEquals(5, world.core.status().count(AgentCounter.DISK_READS_FALLEN_BACK));
        assertEquals(5, world.disk().servingBlocks());
    }

    @Test
    void aPlacementOfAnotherGenerationThanTheLogHasIsNotUsed() {
        World world = found(0, 5);
        world.submitted("r", prompt);
        world.prefetch("r", prompt, 0, 5);
        FakePorts.Unit unit = world.ports.only(Kind.DISK_READ);
        List<AgentInput.UnitResult> results = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            int crc = FakePorts.crc(FakePorts.content("m", prompt.keys().get(i)));
            results.add(new AgentInput.UnitResult(
                    BlockStatus.ARRIVED, OperationReason.COMPLETED, crc, i == 1 ? 77 : i + 1));
        }
        world.ports.units.remove(unit);
        world.on(FakePorts.input(unit, results));
        world.settle();
        assertEquals(prompt.block(1), world.seen.event(BlocksEvicted.class).blocks().getFirst().block());
        assertEquals(1, ready(world).sources().size(), "the store has nothing");
    }

    @Test
    void aCancelledFetchFromTheDiskDoesNotTurnToTheStore() {
        World world = found(0, 5);
        world.ports.put(prompt, 0, 5);
        world.submitted("r", prompt);
        world.prefetch("r", prompt, 0, 5);
        world.cancel("r");
        world.end(Kind.DISK_READ, 0, OperationReason.IO);
        assertEquals(List.of(), world.ports.units);
        assertEquals(31, world.free());
        world.assertAtRest();
    }

    @Test
    void aPlacementBeingReadStaysWhenNoRequestWaits() {
        World world = found(0, 5);
        world.submitted("r", prompt);
        world.prefetch("r", prompt, 0, 5);
        world.advance(200);
        assertEquals(Offer.Reason.WAIT_EXPIRED, ready(world).reason());
        PagedBlock last = new PagedBlock(prompt.block(4), -1, 5, 0);
        world.dropSeen(world.diskDropCommand(prompt, List.of(last), Tier.STORE));
        assertEquals(OperationReason.PINNED, world.seen.event(DropFailed.class).reason());
        world.settle();
        assertEquals(5, world.seen.event(PrefetchDone.class).blocks().size());
        assertEquals(0, world.disk().pinCount());
    }

    @Test
    void aCopyOfTheSameKeyAtAnotherPlaceIsNotTheBlock() {
        World.Past past = World.Past.none();
        World world = new World(31, 31, 20, AgentLimits.defaults(), past);
        Block elsewhere = new Block(3, prompt.keys().getFirst(), prompt.keys().get(2));
        world.on(new AgentInput.DiskFound(List.of(new FoundOnDisk("m", elsewhere, 1, 7, FakePorts.BLOCK_BYTES)), true));
        world.register();
        world.attach();
        world.ports.put(prompt, 0, 5);
        world.submitted("r", prompt);
        assertEquals(List.of(), submission(world).diskIndexes());
        world.prefetch("r", prompt, 0, 5);
        assertEquals(List.of(), world.ports.of(Kind.DISK_READ));
        world.settle();
        assertEquals(5, ready(world).sources().size());
    }

    @Test
    void aBlockFromTheDiskDoesNotCountAsStored() {
        World.Past past = World.Past.none();
        Prompt one = Prompt.of(2, 1, 2, 3);
        past.disk().put(one, 0, 1);
        World world = World.withDisk(1, 20, past);
        world.submitted("r", one);
        world.prefetch("r", one, 0, 1);
        world.settle();
        world.finish("r");
        world.command(world.diskDropCommand(one, List.of(new PagedBlock(one.block(0), -1, 1, 0)), Tier.HOST));
        world.settle();
        Prompt other = Prompt.of(2, 91, 92);
        world.compute("s", other, 0, 5);
        world.writeBack("s", other, 0, 5); // the one page of the host must be given to it
        assertEquals(1, world.core.status().count(AgentCounter.LAST_COPIES_EVICTED));
    }

    @Test
    void aFetchThatFailsAltogetherReportsIt() {
        World world = found(0, 5);
        world.submitted("r", prompt);
        world.prefetch("r", prompt, 0, 5);
        world.end(Kind.DISK_READ, 0, OperationReason.IO);
        world.settle();
        assertEquals(OperationReason.NOT_FOUND, world.seen.event(PrefetchFailed.class).reason());
        assertEquals(Offer.none(0, Offer.Reason.FETCH_FAILED), ready(world));
    }

    @Test
    void aSourceThatIsNeitherDiskNorStoreIsRefused() {
        World world = found(0, 5);
        world.submitted("r", prompt);
        PrefetchBlocks good = world.prefetchCommand("r", prompt, 0, 2);
        world.command(new PrefetchBlocks(
                good.envelope(), good.header(), good.operation(), good.lease(), 1, "r", 1, "m", good.root(), good.blocks(),
                List.of(Tier.DISK, Tier.UNKNOWN), List.of(), null));
        assertEquals(OperationReason.UNSUPPORTED, world.seen.event(CommandRefused.class).reason());
    }

    @Test
    void aReadOfUnknownOutcomeKeepsItsHostPages() {
        World world = found(0, 5);
        world.submitted("r", prompt);
        world.prefetch("r", prompt, 0, 5);
        FakePorts.Unit unit = world.ports.only(Kind.DISK_READ);
        world.end(Kind.DISK_READ, 0, OperationReason.UNKNOWN);
        assertEquals(5, world.core.status().usage().getFirst().quarantinedBlocks());
        List<AgentInput.UnitResult> known = java.util.Collections.nCopies(5, FakePorts.failed(OperationReason.IO));
        world.on(new AgentInput.StoreUnitEnded(unit.id(), known));
        assertEquals(5, world.core.status().usage().getFirst().quarantinedBlocks(), "of another port");
        world.on(FakePorts.input(unit, known));
        assertEquals(31, world.free());
        world.assertAtRest();
    }

    // --- what a start finds

    @Test
    void foundPlacementsAreReportedInStepsAndServeOnlyThen() {
        World.Past past = World.Past.none();
        past.disk().put(prompt, 0, 5);
        World world = new World(31, 31, 20, AgentLimits.defaults().with(new AgentLimits.Disk(4, 2, 2)), past);
        world.on(new AgentInput.DiskFound(past.disk().found().subList(0, 2), false));
        world.register();
        world.attach();
        assertEquals(List.of(), world.seen.events(BlocksRecovered.class), "not everything is known");
        world.on(new AgentInput.DiskFound(past.disk().found().subList(2, 5), true)); // 5 = 2 + 2 + 1
        assertEquals(2, world.disk().servingBlocks());
        assertEquals(3, world.disk().fillingBlocks());
        long early = world.submit("early", prompt, 0); // takes the next step itself, after it has looked
        assertEquals(List.of(0, 1), world.core.status().waitingRequests() == 1 ? List.of(0, 1) : List.of(early));
        assertEquals(3, world.ports.only(Kind.PROBE).keys().size());
        world.advance(0);
        List<BlocksRecovered> steps = world.seen.events(BlocksRecovered.class);
        assertEquals(List.of(3L, 1L, 0L), steps.stream().map(BlocksRecovered::remainingBlocks).toList());
        assertEquals(
                List.of(0, 1, 2, 3, 4), steps.stream().flatMap(step -> step.blocks().stream()).map(b -> b.block().index()).toList());
        assertEquals(List.of(-1, 3L), List.of(steps.get(1).blocks().getFirst().page(), steps.get(1).blocks().getFirst().generation()));
        assertEquals(5, world.disk().servingBlocks());
    }

    @Test
    void blocksThatTheStoreHasAreReportedOnceTheLogHasThePlacements() {
        World.Past past = World.Past.none();
        past.disk().put(prompt, 0, 2);
        World world = new World(31, 31, 20, AgentLimits.defaults(), past);
        world.on(new AgentInput.DiskFound(past.disk().found(), true));
        world.on(new AgentInput.SeenInStore("m", List.of(prompt.block(0))));
        assertFalse(world.core.status().diskOpen());
        assertEquals(List.of(), world.seen.events(BlocksSeenStored.class));
        world.seen.congested = true;
        world.register();
        world.advance(5_000);
        assertEquals(List.of(), world.seen.events(BlocksSeenStored.class), "the log does not take it");

        world.seen.congested = false;
        world.advance(10);
        assertTrue(world.core.status().diskOpen());
        assertEquals(List.of(prompt.block(0)), world.seen.event(BlocksSeenStored.class).blocks());
        long recovered = world.seen.event(BlocksRecovered.class).envelope().sequence();
        assertTrue(recovered < world.seen.event(BlocksSeenStored.class).envelope().sequence());
        world.assertAtRest();
    }

    @Test
    void blocksThatTheStoreHasAreReportedInSteps() {
        World.Past past = World.Past.none();
        past.disk().put(prompt, 0, 3);
        World world = new World(31, 31, 20, AgentLimits.defaults().with(new AgentLimits.Disk(4, 2, 2)), past);
        world.on(new AgentInput.DiskFound(past.disk().found(), true));
        world.register();
        world.advance(0);
        world.on(new AgentInput.SeenInStore("m", prompt.blocks(0, 3))); // 3 = 2 + 1
        assertEquals(List.of(2, 1), world.seen.events(BlocksSeenStored.class).stream().map(e -> e.blocks().size()).toList());
    }

    @Test
    void eachRecordIsOfOneNamespace() {
        World world = new World(31, 31, 20, AgentLimits.defaults(), World.Past.none());
        List<FoundOnDisk> found = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            found.add(new FoundOnDisk(i % 2 == 0 ? "m" : "n", prompt.block(i), i + 1, 7, FakePorts.BLOCK_BYTES));
        }
        world.on(new AgentInput.DiskFound(found, true));
        world.register();
        world.advance(0);
        assertEquals(List.of("m", "n"), world.seen.events(BlocksRecovered.class).stream().map(BlocksRecovered::namespace).toList());
        assertEquals(List.of(2L, 0L), world.seen.events(BlocksRecovered.class).stream().map(BlocksRecovered::remainingBlocks).toList());
    }

    @Test
    void untilAllIsReportedTheDiskWritesAndDropsNothing() {
        World.Past past = World.Past.none();
        past.disk().put(prompt, 0, 5);
        World world = new World(31, 31, 20, AgentLimits.defaults(), past);
        world.register();
        world.attach();
        world.on(new AgentInput.DiskFound(past.disk().found(), false));
        world.copy(prompt, List.of(new BlockResult(prompt.block(4), BlockStatus.ARRIVED, OperationReason.COMPLETED, 0, 1, 0, Tier.DEVICE)));
        world.dropSeen(world.diskDropCommand(prompt, List.of(new PagedBlock(prompt.block(4), -1, 5, 0)), Tier.STORE));
        assertEquals(
                List.of(OperationReason.QUEUE_FULL, OperationReason.QUEUE_FULL),
                world.seen.events(CommandRefused.class).stream().map(CommandRefused::reason).toList());
        world.seen.congested = true;
        world.on(new AgentInput.DiskFound(List.of(), true));
        world.advance(5_000);
        assertEquals(List.of(), world.seen.events(BlocksRecovered.class), "the log does not take it");
        world.seen.congested = false;
        world.advance(10);
        assertEquals(0, world.seen.event(BlocksRecovered.class).remainingBlocks());
    }

    @Test
    void ofTwoCopiesOfOneBlockTheHigherGenerationCounts() {
        World world = new World(31, 31, 20, AgentLimits.defaults(), World.Past.none());
        world.on(new AgentInput.DiskFound(
                List.of(
                        new FoundOnDisk("m", prompt.block(0), 9, 79, FakePorts.BLOCK_BYTES),
                        new FoundOnDisk("m", prompt.block(0), 4, 74, FakePorts.BLOCK_BYTES)),
                true));
        world.register();
        BlocksRecovered told = world.seen.event(BlocksRecovered.class);
        assertEquals(List.of(new PagedBlock(prompt.block(0), -1, 9, 79)), told.blocks());
        assertEquals(0, told.remainingBlocks());
    }

    @Test
    void whatHasNoPlaceInTheTierLeavesTheDiskDeepestFirst() {
        World.Past past = World.Past.none();
        past.disk().put(prompt, 0, 5);
        List<FoundOnDisk> found = new ArrayList<>(past.disk().found());
        FoundOnDisk first = found.getFirst();
        Prompt other = Prompt.of(2, 91, 92);
        past.disk().put(other, 0, 1);
        found.add(new FoundOnDisk("m", other.block(0), 6, 1, 2 * FakePorts.BLOCK_BYTES)); // of another layout
        World world = new World(31, 31, 3, AgentLimits.defaults(), past); // the disk has become smaller
        world.on(new AgentInput.DiskFound(found.reversed(), true));
        world.register();
        world.settle();
        assertEquals(
                List.of(0, 1, 2),
                world.seen.event(BlocksRecovered.class).blocks().stream().map(block -> block.block().index()).toList());
        assertEquals(3, world.ports.disk.size());
        assertEquals(3, world.core.status().count(AgentCounter.DISK_COPIES_GIVEN_UP));
        assertTrue(world.ports.disk.holds(prompt, first.block().index()));
    }

    @Test
    void aRestartServesNoBlockThatWasNotWritten() {
        World world = World.withDisk(31, 20);
        world.compute("warm", prompt, 0, 0, 1, 2, 3, 4);
        String writeBack = world.writeBack("warm", prompt, 0, 0, 1, 2, 3, 4);
        world.endAll(Kind.SAVE);
        world.copy(prompt, world.seen.last(io.tierlog.schemas.event.WriteBackDone.class).blocks());
        world.releasePins(writeBack);
        world.ports.disk.lies.add(FakeDisk.Lie.TORN);
        world.ports.end(world.ports.only(Kind.DISK_WRITE), 3, OperationReason.IO); // killed: block 0 is torn, 1 and 2 are down
        World next = World.withDisk(31, 20, world.past());
        next.ports.put(prompt, 0, 5);
        next.submitted("r", prompt);
        assertEquals(List.of(0, 1, 2), submission(next).diskIndexes());
        assertEquals(List.of(3, 2), List.of(submission(next).storeFrom(), submission(next).storeBlocks()));
        next.prefetch("r", prompt, 0, 5);
        next.settle();
        assertEquals(List.of(Tier.STORE, Tier.DISK, Tier.DISK, Tier.STORE, Tier.STORE), ready(next).sources());
        next.load("r", prompt, 0, 10, 11, 12, 13, 14);
        next.endAll(Kind.LOAD);
        for (int i = 0; i < 5; i++) {
            next.assertOnDevice(prompt, i, 10 + i);
        }
        // A completion of the process before has no effect here.
        next.on(new AgentInput.DiskUnitEnded(1, List.of(FakePorts.arrived(7))));
        assertEquals(2, next.disk().servingBlocks());
    }

    @Test
    void theHeartbeatHasTheDiskBesideTheHost() {
        World world = found(0, 5);
        world.advance(1_000);
        AgentHeartbeat heartbeat = world.seen.last(AgentHeartbeat.class);
        assertEquals(List.of(Tier.HOST, Tier.DISK), heartbeat.usage().stream().map(use -> use.tier()).toList());
        assertEquals(List.of(20L, 5L), List.of(heartbeat.usage().getLast().capacityBlocks(), heartbeat.usage().getLast().servingBlocks()));
    }
}
