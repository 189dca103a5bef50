/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.agent.core.FakePorts.Kind;
import io.tierlog.agent.core.api.AgentCounter;
import io.tierlog.agent.core.api.AgentInput;
import io.tierlog.agent.core.api.AgentInput.Attempt;
import io.tierlog.agent.core.api.AgentLimits;
import io.tierlog.agent.core.api.AgentPhase;
import io.tierlog.agent.core.port.EngineReplies.Refusal;
import io.tierlog.agent.core.port.Offer;
import io.tierlog.schemas.BlockResult;
import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.OperationKind;
import io.tierlog.schemas.OperationReason;
import io.tierlog.schemas.PagedBlock;
import io.tierlog.schemas.RequestReason;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.command.CommandHeader;
import io.tierlog.schemas.command.DropBlocks;
import io.tierlog.schemas.command.FenceAgent;
import io.tierlog.schemas.command.PrefetchBlocks;
import io.tierlog.schemas.command.ReleasePins;
import io.tierlog.schemas.command.WriteBackBlocks;
import io.tierlog.schemas.event.AgentHeartbeat;
import io.tierlog.schemas.event.AgentStopping;
import io.tierlog.schemas.event.BackUpFailed;
import io.tierlog.schemas.event.BlocksStored;
import io.tierlog.schemas.event.CommandRefused;
import io.tierlog.schemas.event.DropDone;
import io.tierlog.schemas.event.DropFailed;
import io.tierlog.schemas.event.EngineAttached;
import io.tierlog.schemas.event.EngineDetached;
import io.tierlog.schemas.event.OperationCancelled;
import io.tierlog.schemas.event.OperationStarted;
import io.tierlog.schemas.event.PrefetchDone;
import io.tierlog.schemas.event.RequestCancelled;
import io.tierlog.schemas.event.RequestFinished;
import io.tierlog.schemas.event.RequestSubmitted;
import io.tierlog.schemas.event.WaitExpired;
import io.tierlog.schemas.event.WriteBackDone;
import io.tierlog.schemas.event.WriteBackFailed;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Commands that are lost, late, repeated or wrong; ends by the clock; the phases of the process. Blocks of 2 tokens. */
class LogCasesTest {
    private final World world = World.running(31, 31);
    private final Prompt prompt = Prompt.range(2, 1, 11);

    private String written(String request) {
        world.compute(request, prompt, 0, 0, 1, 2, 3, 4);
        String writeBack = world.writeBack(request, prompt, 0, 0, 1, 2, 3, 4);
        world.endAll(Kind.SAVE);
        return writeBack;
    }

    private List<BlockResult> onHost() {
        world.releasePins(written("warm"));
        return world.seen.event(WriteBackDone.class).blocks();
    }

    // --- C2, C5, C6, C8, C9

    @Test
    void c2ABackupReadsAPageOnlyIfKeyAndGenerationStillMatch() {
        World small = World.running(31, 5);
        small.compute("r1", prompt, 0, 0, 1, 2, 3, 4);
        String first = small.writeBack("r1", prompt, 0, 0, 1, 2, 3, 4);
        small.endAll(Kind.SAVE);
        small.releasePins(first);
        Prompt other = Prompt.range(2, 51, 60);
        small.compute("r2", other, 0, 10, 11, 12, 13, 14);
        small.writeBack("r2", other, 0, 10, 11, 12, 13, 14); // evicts all of r1
        small.endAll(Kind.SAVE);
        small.backUp(prompt, first);
        assertEquals(OperationReason.NOT_SERVING, small.seen.event(BackUpFailed.class).reason());
        assertEquals(List.of(), small.seen.events(BlocksStored.class));
        assertEquals(0, small.ports.store.size());
    }

    @Test
    void c2ABackupOfTheSameBlockInAnotherGenerationOfItsPageFails() {
        World small = World.running(31, 1);
        Prompt one = Prompt.of(2, 1, 2);
        Prompt other = Prompt.of(2, 91, 92);
        String first = "";
        for (Prompt each : List.of(one, other, one)) {
            String request = "r" + small.seen.events.size();
            small.compute(request, each, 0, 5);
            String writeBack = small.writeBack(request, each, 0, 5);
            small.endAll(Kind.SAVE);
            small.releasePins(writeBack);
            first = first.isEmpty() ? writeBack : first;
        }
        small.backUp(one, first); // page 0, but it is at generation 3 now
        assertEquals(OperationReason.STALE_GENERATION, small.seen.event(BackUpFailed.class).reason());
        assertEquals(0, small.ports.store.size());
    }

    @Test
    void afterAFullBatchTheRestStaysForTheNextCommand() {
        World large = World.running(1_010, 1_010);
        Prompt longPrompt = Prompt.range(2, 1, 2_004);
        int[] all = java.util.stream.IntStream.range(0, 1_002).toArray();
        large.compute("r", longPrompt, 0, all);
        large.writeBack("r", longPrompt, 0, java.util.Arrays.copyOf(all, 1_000));
        large.endAll(Kind.SAVE);
        assertEquals(1_000, large.seen.releasedPages("r").size());
        large.advance(500);
        // a page that was released is the engine's, whatever a command names
        large.writeBack("r", longPrompt, 0, java.util.Arrays.copyOf(all, 1_000));
        assertEquals(OperationReason.NOT_SERVING, large.seen.event(WriteBackFailed.class).reason());
        large.writeBack("r", longPrompt, 1_000, 1_000);
        assertTrue(large.seen.releasedPages("r").contains(1_001), "the last batch is not full");
        large.endAll(Kind.SAVE);
        assertEquals(1_002, large.seen.releasedPages("r").size());
        assertEquals(9, large.free(), "1,010 - 1,001");
    }

    @Test
    void c2AWriteBackOfAPageWithAnotherGenerationFails() {
        world.submitted("r", prompt);
        world.prefilled("r");
        world.seal("r", prompt, 0, 0, 1);
        PagedBlock stale = new PagedBlock(prompt.block(0), 0, 77, 0);
        world.command(world.writeBackCommand("r", prompt, List.of(stale, world.paged(prompt, 1, 1))));
        world.endAll(Kind.SAVE);
        List<BlockResult> blocks = world.seen.event(WriteBackFailed.class).blocks();
        assertEquals(OperationReason.STALE_GENERATION, blocks.get(0).reason());
        assertEquals(OperationReason.PREFIX_GONE, blocks.get(1).reason(), "a suffix is not kept without its prefix");
        assertEquals(31, world.free());
    }

    @Test
    void c5DropIsCheckedAgainstGenerationsPinsAndChildren() {
        List<BlockResult> blocks = onHost();
        world.dropSeen(world.dropCommand(prompt, List.of(blocks.get(3)), Tier.STORE));
        assertEquals(OperationReason.PINNED, world.seen.last(DropFailed.class).reason(), "block 4 extends it");
        BlockResult last = blocks.get(4);
        BlockResult another = new BlockResult(last.block(), last.status(), last.reason(), last.page(), last.generation() + 1, 0, Tier.UNKNOWN);
        world.dropSeen(world.dropCommand(prompt, List.of(another), Tier.STORE));
        assertEquals(OperationReason.STALE_GENERATION, world.seen.last(DropFailed.class).reason());
        world.command(world.dropCommand(prompt, List.of(last), Tier.DISK));
        assertEquals(OperationReason.LAST_COPY, world.seen.last(DropFailed.class).reason());
        world.dropSeen(world.dropCommand(prompt, List.of(last, blocks.get(3)), Tier.STORE));
        assertEquals(2, world.seen.event(DropDone.class).blocks().size());
        assertEquals(28, world.free());
        world.dropSeen(world.dropCommand(prompt, List.of(last), Tier.STORE));
        assertEquals(2, world.seen.events(DropDone.class).size(), "it is gone: that is a fact");
    }

    @Test
    void c6ALateCopyOfARefusedDropIsNeverRun() {
        World forgetful = World.running(31, 31, AgentLimits.defaults().with(new AgentLimits.Bounds(64, 64, 64, 64, 2)));
        forgetful.compute("warm", prompt, 0, 0, 1, 2, 3, 4);
        String writeBack = forgetful.writeBack("warm", prompt, 0, 0, 1, 2, 3, 4);
        forgetful.endAll(Kind.SAVE);
        DropBlocks drop = forgetful.dropCommand(
                prompt, List.of(forgetful.seen.event(WriteBackDone.class).blocks().get(4)), Tier.STORE);
        forgetful.dropSeen(drop);
        assertEquals(OperationReason.PINNED, forgetful.seen.event(DropFailed.class).reason());
        forgetful.command(drop);
        assertEquals(2, forgetful.seen.events(DropFailed.class).size(), "answered again from the journal");
        forgetful.releasePins(writeBack);
        forgetful.releasePins("nothing");
        forgetful.dropSeen(forgetful.dropCommand(prompt, List.of(), Tier.STORE));
        forgetful.dropSeen(forgetful.dropCommand(prompt, List.of(), Tier.STORE));
        assertEquals(26, forgetful.free());
        forgetful.command(drop); // the journal has forgotten it
        CommandRefused refused = forgetful.seen.event(CommandRefused.class);
        assertEquals(OperationReason.STALE_COMMAND, refused.reason());
        assertEquals(26, forgetful.free());
    }

    @Test
    void c8AReleaseDeliveredTwiceTakesNoOtherPin() {
        String writeBack = written("r1");
        world.submit("r2", prompt, 0);
        assertEquals(10, world.pins());
        CommandHeader header = world.header();
        ReleasePins release = new ReleasePins(world.envelope(), header, writeBack);
        world.command(release);
        world.command(release);
        world.releasePins(writeBack);
        assertEquals(5, world.pins(), "the request's");
    }

    @Test
    void c8AReleaseDoesNotTakeThePinOfARunningOperation() {
        String writeBack = written("r1");
        String backUp = world.backUp(prompt, writeBack);
        world.releasePins(backUp);
        assertEquals(5, world.pins());
        world.endAll(Kind.WRITE);
        world.assertAtRest();
    }

    @Test
    void c9PinsOfAWriteBackEndByTheClock() {
        written("r");
        world.advance(59_999);
        assertEquals(5, world.pins());
        world.advance(1);
        world.assertAtRest();
    }

    @Test
    void c9ALeaseEndsByTheClockButNotUnderALoad() {
        world.ports.put(prompt, 0, 5);
        world.submitted("r", prompt);
        world.prefetch("r", prompt, 0, 5);
        world.endAll(Kind.READ);
        world.advance(59_999);
        world.load("r", prompt, 0, 0, 1, 2, 3, 4);
        assertEquals(10, world.pins());
        world.advance(100_000);
        assertEquals(5, world.pins(), "by the load, not by the lease");
        world.endAll(Kind.LOAD);
        world.assertAtRest();
    }

    @Test
    void c12AClockThatGoesBackExpiresNothing() {
        written("r");
        world.nowMs += 50_000;
        world.on(new AgentInput.TimePassed());
        world.nowMs -= 50_000;
        world.on(new AgentInput.TimePassed());
        assertEquals(5, world.pins());
    }

    // --- C11

    @Test
    void c11AWaitingRequestContinuesAndTheLateFetchIsRefused() {
        world.ports.put(prompt, 0, 5);
        world.seen.reply(world.submitted("r", prompt), RecordedOutput.Waiting.class);
        assertFalse(world.seen.event(RequestSubmitted.class).answered());
        world.advance(199);
        assertEquals(List.of(), world.seen.notices(RecordedOutput.Ready.class));
        world.advance(1);
        assertEquals(Offer.Reason.WAIT_EXPIRED, world.seen.notices(RecordedOutput.Ready.class).getFirst().offer().reason());
        assertEquals(200, world.seen.event(WaitExpired.class).waitedMs());
        world.advance(9_800);
        String operation = world.prefetch("r", prompt, 0, 5);
        CommandRefused refused = world.seen.event(CommandRefused.class);
        assertEquals(OperationReason.MOVED_ON, refused.reason());
        assertEquals(operation, refused.operation());
        assertEquals(31, world.free());
        world.resume("r", RequestReason.BELOW_THRESHOLD);
        assertEquals(1, world.seen.notices(RecordedOutput.Ready.class).size());
    }

    @Test
    void c11AFetchUnderWayContinuesWithoutALease() {
        world.ports.put(prompt, 0, 5);
        world.submitted("r", prompt);
        world.prefetch("r", prompt, 0, 5);
        world.advance(200);
        assertEquals(0, world.seen.notices(RecordedOutput.Ready.class).getFirst().offer().sources().size());
        world.endAll(Kind.READ);
        assertNull(world.seen.event(PrefetchDone.class).lease());
        assertEquals(1, world.seen.notices(RecordedOutput.Ready.class).size());
        assertEquals(26, world.free());
        world.assertAtRest();
    }

    @Test
    void aStoreThatDoesNotAnswerIsNotWaitedForLongerThanAFetch() {
        long call = world.submit("r", prompt, 0);
        FakePorts.Unit probe = world.ports.only(Kind.PROBE);
        world.advance(200);
        assertEquals(Offer.Reason.WAIT_EXPIRED, world.offered(call).reason());
        assertTrue(world.seen.event(RequestSubmitted.class).answered());
        world.on(world.ports.endProbe(probe));
        assertEquals(1, world.core.status().count(AgentCounter.LATE_COMPLETIONS));
        world.assertAtRest();
    }

    @Test
    void anUnreachableStoreMeansNothingBelow() {
        world.ports.put(prompt, 0, 5);
        world.ports.storeReachable = false;
        assertEquals(Offer.Reason.NOTHING_BELOW, world.offered(world.submitted("r", prompt)).reason());
        assertEquals(1, world.core.status().count(AgentCounter.PROBES_UNANSWERED));
    }

    @Test
    void aResumedRequestContinuesWithWhatServes() {
        world.ports.put(prompt, 0, 5);
        world.submitted("r", prompt);
        world.resume("r", RequestReason.BELOW_THRESHOLD);
        assertEquals(
                Offer.none(0, Offer.Reason.BELOW_THRESHOLD), world.seen.notices(RecordedOutput.Ready.class).getFirst().offer());
        world.assertAtRest();
    }

    @Test
    void withoutACommandSealedPagesComeFreeByTheClock() {
        world.compute("r", prompt, 0, 0, 1, 2, 3, 4);
        world.advance(9_999);
        assertEquals(List.of(), world.seen.releasedPages("r"));
        world.advance(1);
        assertEquals(List.of(0, 1, 2, 3, 4), world.seen.releasedPages("r"));
        world.assertAtRest();
        world.writeBack("r", prompt, 0, 0, 1, 2, 3, 4); // too late: the engine has the pages
        assertEquals(OperationReason.NOT_SERVING, world.seen.event(WriteBackFailed.class).reason());
        assertEquals(List.of(), world.ports.units);
        world.assertAtRest();
    }

    /** Five of nine pages are more than half of the device: they wait for the shorter time. */
    @Test
    void withoutACommandTheEngineIsNotKeptWaitingForMoreThanHalfOfItsPages() {
        World small = World.running(9, 31);
        small.compute("r", prompt, 0, 0, 1, 2, 3, 4);
        small.advance(1_999);
        assertEquals(List.of(), small.seen.releasedPages("r"));
        small.advance(1);
        assertEquals(List.of(0, 1, 2, 3, 4), small.seen.releasedPages("r"));
        small.assertAtRest();
    }

    @Test
    void pagesThatAWriteBackDoesNotNameAreReleasedAtOnce() {
        world.compute("r", prompt, 0, 0, 1, 2, 3, 4);
        world.writeBack("r", prompt, 3, 3, 4);
        assertEquals(List.of(0, 1, 2), world.seen.releasedPages("r"));
        world.endAll(Kind.SAVE);
        assertEquals(List.of(0, 1, 2, 3, 4), world.seen.releasedPages("r"));
    }

    // --- journal and sequence

    @Test
    void aRepeatedCommandIsRunOnceAndAnsweredAgain() {
        world.compute("r", prompt, 0, 0, 1, 2, 3, 4);
        WriteBackBlocks command = world.writeBackCommand("r", prompt, List.of(world.paged(prompt, 0, 0)));
        world.command(command);
        world.command(command); // running: nothing
        assertEquals(1, world.ports.of(Kind.SAVE).size());
        world.endAll(Kind.SAVE);
        // the same decision taken again: another envelope, the same content
        Envelope again = new Envelope("node/a", "controller/0", 1, 99, 7, 12, "x", null, null);
        world.command(new WriteBackBlocks(
                again, command.header(), command.operation(), "r", 1, "m", command.root(), command.blocks(), command.pinMs()));
        assertEquals(2, world.seen.events(WriteBackDone.class).size());
        assertEquals(
                world.seen.events(WriteBackDone.class).get(0).blocks(), world.seen.events(WriteBackDone.class).get(1).blocks());
        Envelope first = world.seen.events(WriteBackDone.class).get(0).envelope();
        assertNull(first.repeats());
        assertEquals(first.sequence(), world.seen.events(WriteBackDone.class).get(1).envelope().repeats(), "so that no reader applies it twice");
        assertEquals(1, world.seen.events(OperationStarted.class).size());
        assertEquals(2, world.core.status().count(AgentCounter.COMMANDS_REPEATED));
    }

    @Test
    void theSameNumberWithOtherContentIsAConflict() {
        world.ports.put(prompt, 0, 5);
        world.submitted("r", prompt);
        PrefetchBlocks command = world.prefetchCommand("r", prompt, 0, 5);
        world.command(command);
        PrefetchBlocks other = new PrefetchBlocks(
                command.envelope(), command.header(), "other", "l", 1, "r", 1, "m", prompt.root(), prompt.blocks(0, 4),
                List.of(Tier.STORE, Tier.STORE, Tier.STORE, Tier.STORE), List.of(), null);
        world.command(other);
        CommandRefused refused = world.seen.event(CommandRefused.class);
        assertEquals(OperationReason.COMMAND_CONFLICT, refused.reason());
        assertEquals("other", refused.operation());
        // the same operation under the number of another: its own terminal event is still to come
        world.command(new PrefetchBlocks(
                command.envelope(), command.header(), command.operation(), "l", 1, "r", 1, "m", prompt.root(), prompt.blocks(0, 3),
                List.of(Tier.STORE, Tier.STORE, Tier.STORE), List.of(), null));
        assertNull(world.seen.last(CommandRefused.class).operation());
        world.endAll(Kind.READ);
        assertEquals(command.operation(), world.seen.event(PrefetchDone.class).operation());
    }

    @Test
    void gapsAreAllowedAndWhatComesAfterAHigherOneIsStale() {
        world.ports.put(prompt, 0, 5);
        world.submitted("r", prompt);
        PrefetchBlocks late = world.prefetchCommand("r", prompt, 0, 5);
        world.releasePins("x");
        world.command(late);
        CommandRefused refused = world.seen.event(CommandRefused.class);
        assertEquals(OperationReason.STALE_COMMAND, refused.reason());
        assertEquals(31, world.free());
        // never begun, so a cancel reports that, each time
        world.cancelOperation(late.operation(), OperationKind.PREFETCH);
        world.cancelOperation(late.operation(), OperationKind.PREFETCH);
        assertEquals(2, world.seen.events(OperationCancelled.class).size());
        assertEquals(OperationReason.NEVER_STARTED, world.seen.last(OperationCancelled.class).reason());
    }

    @Test
    void anOperationCancelledBeforeItsCommandCameNeverBegins() {
        world.ports.put(prompt, 0, 5);
        world.submitted("r", prompt);
        world.cancelOperation("op1", OperationKind.PREFETCH);
        assertEquals(OperationReason.NEVER_STARTED, world.seen.event(OperationCancelled.class).reason());
        assertEquals("op1", world.prefetch("r", prompt, 0, 5));
        assertEquals(OperationReason.STALE_COMMAND, world.seen.event(CommandRefused.class).reason());
        assertEquals(31, world.free());
    }

    @Test
    void commandsForAnotherIncarnationOrBeforeRegistrationAreIgnored() {
        Envelope other = new Envelope("node/a", "controller/0", 2, 1, 0, 0, null, null, null);
        CommandHeader header = world.header();
        world.command(new ReleasePins(other, header, "x"));
        World off = new World(31, 31, AgentLimits.defaults());
        off.releasePins("x");
        assertEquals(1, world.core.status().count(AgentCounter.COMMANDS_IGNORED));
        assertEquals(1, off.core.status().count(AgentCounter.COMMANDS_IGNORED));
        assertEquals(0, world.core.status().commandSequence());
    }

    // --- phases of the process

    @Test
    void aHeartbeatASecondWithItsUse() {
        assertEquals(1, world.seen.events(AgentHeartbeat.class).size());
        world.releasePins("x");
        world.advance(3_000);
        assertEquals(4, world.seen.events(AgentHeartbeat.class).size());
        assertEquals(31, world.seen.last(AgentHeartbeat.class).usage().getFirst().freeBlocks());
        assertEquals(1, world.seen.last(AgentHeartbeat.class).commandSequence());
    }

    @Test
    void beforeRegistrationEnginesAreAnsweredAtOnceAndNothingIsReported() {
        World off = new World(31, 31, AgentLimits.defaults());
        off.attach();
        off.ports.put(prompt, 0, 5);
        assertEquals(Offer.Reason.AGENT_BUSY, off.offered(off.submit("r", prompt, 0)).reason());
        off.prefilled("r");
        off.seal("r", prompt, 0, 0, 1);
        off.finish("r");
        assertEquals(List.of(0, 1), off.seen.releasedPages("r"), "no command can come");
        assertEquals(List.of(), off.seen.events);
        off.submit("r2", prompt, 0);
        off.register();
        assertEquals("engine-1", off.seen.event(EngineAttached.class).instance());
        off.finish("r2");
        assertEquals(List.of(), off.seen.events(RequestFinished.class), "the log never seen of it");
        off.assertAtRest();
    }

    @Test
    void aFencedAgentDrainsAndStopsWithoutGoodbye() {
        written("r1");
        world.backUp(prompt, world.seen.event(WriteBackDone.class).operation());
        world.command(new FenceAgent(world.envelope(), new CommandHeader("f", 0), 2));
        assertEquals(AgentPhase.FENCED, world.core.status().phase());
        assertEquals(Refusal.CLOSING, world.seen.reply(world.submit("r2", prompt, 0), RecordedOutput.Refused.class).refusal());
        world.endAll(Kind.WRITE);
        assertEquals(AgentPhase.STOPPED, world.core.status().phase());
        assertEquals(List.of(), world.seen.events(AgentStopping.class));
        assertEquals(Long.MAX_VALUE, world.core.nextDeadlineMs());
    }

    @Test
    void stoppingEndsWaitsAndTransfersThenReportsTheEnd() {
        Prompt other = Prompt.range(2, 51, 61);
        world.compute("r1", prompt, 0, 0, 1, 2, 3, 4);
        world.writeBack("r1", prompt, 0, 0, 1, 2);
        world.compute("r2", other, 0, 10, 11);
        world.ports.put(other, 0, 5);
        world.submitted("r3", Prompt.range(2, 51, 60));
        world.on(new AgentInput.StopRequested());
        assertEquals(Offer.Reason.WAIT_EXPIRED, world.seen.notices(RecordedOutput.Ready.class).getLast().offer().reason());
        assertEquals(List.of(10, 11), world.seen.releasedPages("r2"), "no command comes for it");
        assertEquals(AgentPhase.STOPPING, world.core.status().phase());
        assertEquals(List.of(), world.seen.events(AgentStopping.class), "a copy is under way");
        world.endAll(Kind.SAVE);
        assertEquals("p1", world.seen.event(AgentStopping.class).processId());
        assertEquals(AgentPhase.STOPPED, world.core.status().phase());
        assertEquals(AgentStopping.class, world.seen.events.getLast().getClass());
    }

    @Test
    void anEngineThatVanishesLeavesNothingPinned() {
        world.ports.put(prompt, 0, 5);
        world.submitted("r1", prompt);
        world.prefetch("r1", prompt, 0, 5);
        world.endAll(Kind.READ);
        long load = world.load("r1", prompt, 0, 0, 1, 2, 3, 4);
        Prompt other = Prompt.range(2, 51, 61);
        world.compute("r2", other, 0, 10, 11);
        world.writeBack("r2", other, 0, 10, 11);
        world.on(new AgentInput.SessionClosed(World.SESSION, false));
        assertEquals(1, world.ports.detached, "its memory is let go");
        assertEquals(RequestReason.ENGINE_GONE, world.seen.event(RequestCancelled.class).reason());
        assertFalse(world.seen.event(EngineDetached.class).orderly());
        long open = world.call();
        world.on(new AgentInput.SessionOpened(open, "s2", "engine-1"));
        world.seen.reply(open, RecordedOutput.Done.class);
        long busy = world.call();
        world.on(new AgentInput.BuffersRegistered(busy, "s2", 31, FakePorts.BLOCK_BYTES, World.DIGEST, java.util.Map.of()));
        assertEquals(Refusal.BUSY, world.seen.reply(busy, RecordedOutput.Refused.class).refusal(), "copies of the old pool are under way");
        world.settle();
        assertEquals(OperationReason.ENGINE_GONE, world.seen.event(WriteBackFailed.class).reason());
        assertEquals(0, world.seen.reply(load, RecordedOutput.Loaded.class).blocks());
        world.assertAtRest();
        long again = world.call();
        world.on(new AgentInput.BuffersRegistered(again, "s2", 31, FakePorts.BLOCK_BYTES, World.DIGEST, java.util.Map.of()));
        world.seen.reply(again, RecordedOutput.Done.class);
    }

    @Test
    void anEngineThatDoesNotFitIsRefused() {
        World off = new World(31, 31, AgentLimits.defaults());
        long open = off.call();
        off.on(new AgentInput.SessionOpened(open, "s", "e"));
        long wrong = off.call();
        off.on(new AgentInput.BuffersRegistered(wrong, "s", 31, FakePorts.BLOCK_BYTES * 2, World.DIGEST, java.util.Map.of()));
        assertEquals(Refusal.LAYOUT_MISMATCH, off.seen.reply(wrong, RecordedOutput.Refused.class).refusal());
        long early = off.submit(new Attempt("s", "r", 1), prompt, 0, true);
        assertEquals(Refusal.NOT_REGISTERED, off.seen.reply(early, RecordedOutput.Refused.class).refusal());
        long twice = off.call();
        off.on(new AgentInput.SessionOpened(twice, "s2", "e"));
        assertEquals(Refusal.INSTANCE_TAKEN, off.seen.reply(twice, RecordedOutput.Refused.class).refusal());
    }

    @Test
    void everythingIsBounded() {
        World tiny = World.running(31, 31, AgentLimits.defaults().with(new AgentLimits.Bounds(3, 1, 1, 5, 16)));
        tiny.ports.put(prompt, 0, 5);
        tiny.seen.reply(tiny.submitted("r1", prompt), RecordedOutput.Waiting.class);
        assertEquals(Offer.Reason.AGENT_BUSY, tiny.offered(tiny.submit("r2", prompt, 0)).reason());
        tiny.submit("r3", prompt, 0);
        RecordedOutput.Refused full = tiny.seen.reply(tiny.submit("r4", prompt, 0), RecordedOutput.Refused.class);
        assertEquals(Refusal.BUSY, full.refusal());
        assertTrue(full.retry());
        tiny.exist(prompt, 0, 5);
        assertEquals(Refusal.BAD_ARGUMENT, tiny.refused(tiny.exist(Prompt.range(2, 1, 13), 0, 6)).refusal(), "6 blocks in a call of 5");
        tiny.prefetch("r1", prompt, 0, 2);
        tiny.seal("r2", prompt, 0, 0, 1);
        tiny.writeBack("r2", prompt, 0, 0, 1);
        assertEquals(OperationReason.QUEUE_FULL, tiny.seen.event(CommandRefused.class).reason());
    }

    @Test
    void aFullLogTakesNoNewWork() {
        world.seen.congested = true;
        assertEquals(Refusal.BUSY, world.seen.reply(world.submit("r", prompt, 0), RecordedOutput.Refused.class).refusal());
        world.seen.congested = false;
        world.offered(world.submitted("r", prompt));
    }

    @Test
    void aNewAttemptEndsTheOneBefore() {
        world.ports.put(prompt, 0, 5);
        world.submitted("r", prompt);
        long second = world.submit(new Attempt(World.SESSION, "r", 2), prompt, 0, true);
        world.ports.of(Kind.PROBE).forEach(unit -> world.on(world.ports.endProbe(unit)));
        world.seen.reply(second, RecordedOutput.Waiting.class);
        assertEquals(1, world.seen.event(RequestCancelled.class).attempt());
        long first = world.submit("r", prompt, 0);
        assertEquals(Refusal.BAD_ARGUMENT, world.seen.reply(first, RecordedOutput.Refused.class).refusal());
    }
}
