/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import io.tierlog.agent.core.FakePorts.Kind;
import io.tierlog.agent.core.api.AgentCounter;
import io.tierlog.agent.core.api.AgentInput;
import io.tierlog.agent.core.api.AgentInput.DeviceBlock;
import io.tierlog.agent.core.api.AgentLimits;
import io.tierlog.agent.core.port.EngineReplies.BlockAnswer;
import io.tierlog.agent.core.port.EngineReplies.Refusal;
import io.tierlog.schemas.OperationReason;
import io.tierlog.schemas.event.LoadBackDone;
import io.tierlog.schemas.event.LoadBackFailed;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Blocks that engines read by name. 31 device pages, 31 host pages; blocks 0 and 1 of the prompt of 6 serve on the host, the store has 2 to 5. A Read
 * waits 200 ms on its own.
 */
class ReadCasesTest {
    private static final BlockAnswer HERE = new BlockAnswer(true, OperationReason.COMPLETED);

    private World world = World.running(31, 31);
    private final Prompt prompt = Prompt.range(2, 1, 13);

    @BeforeEach
    void twoOnHost() {
        Prompt two = Prompt.range(2, 1, 4);
        world.compute("warm", two, 0, 0, 1);
        world.releasePins(world.writeBack("warm", two, 0, 0, 1));
        world.endAll(Kind.SAVE);
        world.advance(60_000);
        world.assertAtRest();
        world.ports.put(prompt, 2, 6);
    }

    private static BlockAnswer failed(OperationReason why) {
        return new BlockAnswer(false, why);
    }

    private List<BlockAnswer> answer(long call) {
        return world.seen.reply(call, RecordedOutput.Read.class).blocks();
    }

    private boolean waits(long call) {
        return !world.seen.replies.containsKey(call);
    }

    /** Blocks 2 to 5 are on their way from the store. */
    private void fetching() {
        world.submitted("r", prompt);
        world.prefetch("r", prompt, 2, 6);
    }

    private void end() {
        world.cancel("r");
        world.settle();
        world.advance(60_000);
        world.assertAtRest();
    }

    @Test
    void blocksThatServeAreReadAndMissingOnesReportedWithoutAWait() {
        long call = world.read(prompt, -1, 0, 10, 11, 12);
        assertEquals(2, world.pins());
        world.endAll(Kind.LOAD);
        assertEquals(List.of(HERE, HERE, failed(OperationReason.NOT_SERVING)), answer(call));
        world.assertOnDevice(prompt, 0, 10);
        world.assertOnDevice(prompt, 1, 11);
        LoadBackDone done = world.seen.event(LoadBackDone.class);
        assertEquals(List.of("", 0, 2), List.of(done.request(), done.attempt(), done.blocks().size()), "what was nowhere did not move");
        assertEquals(List.of(), world.ports.units, "nothing is fetched for it");

        assertEquals(List.of(failed(OperationReason.NOT_SERVING)), answer(world.read(prompt, 5_000, 4, 13)), "at once");
        assertEquals(List.of(), world.seen.events(LoadBackFailed.class));
        end();
    }

    @Test
    void whatIsOnItsWayIsReadAsSoonAsItServes() {
        fetching();
        long call = world.read(prompt, -1, 1, 10, 11, 12);
        world.end(Kind.LOAD, 9); // block 1
        assertEquals(true, waits(call));
        world.endAll(Kind.READ); // the fetch: now they serve
        assertEquals(true, waits(call), "they are being copied");
        world.endAll(Kind.LOAD);
        assertEquals(List.of(HERE, HERE, HERE), answer(call));
        for (int i = 1; i < 4; i++) {
            world.assertOnDevice(prompt, i, 9 + i);
        }
        end();
    }

    @Test
    void oneTimeBoundsTheWholeCall() {
        fetching();
        long call = world.read(prompt, -1, 1, 10, 11, 12);
        world.endAll(Kind.LOAD);
        world.advance(9);
        assertEquals(true, waits(call));
        world.advance(1);
        assertEquals(List.of(HERE, failed(OperationReason.MOVED_ON), failed(OperationReason.MOVED_ON)), answer(call));
        end();
    }

    @Test
    void aReadMayWaitNotAtAllAndNotForEver() {
        fetching();
        assertEquals(List.of(failed(OperationReason.MOVED_ON)), answer(world.read(prompt, 0, 2, 10)));
        long call = world.read(prompt, Long.MAX_VALUE, 2, 10);
        world.advance(AgentLimits.defaults().engines().mostReadWaitMs() - 1);
        assertEquals(true, waits(call));
        world.advance(1);
        assertEquals(List.of(failed(OperationReason.MOVED_ON)), answer(call));
        end();
    }

    @Test
    void theEndOfTheOperationWakesAReadThoughItFailed() {
        fetching();
        long call = world.read(prompt, -1, 2, 10, 11);
        world.end(Kind.READ, 1, OperationReason.CHECKSUM); // block 2 arrives, the rest does not
        world.endAll(Kind.LOAD);
        assertEquals(List.of(HERE, failed(OperationReason.CHECKSUM)), answer(call));
        end();
    }

    @Test
    void aFetchThatAnotherRequestAwaitsContinuesWhenItsRequestEnds() {
        fetching();
        long call = world.read(prompt, -1, 2, 10);
        world.cancel("r");
        world.endAll(Kind.READ);
        world.endAll(Kind.LOAD);
        assertEquals(List.of(HERE), answer(call));
        world.advance(60_000);
        world.assertAtRest();
    }

    @Test
    void aReadWithoutACallerKeepsItsPagesUntilIdle() {
        fetching();
        long call = world.read(prompt, -1, 1, 10, 11);
        world.gone(call);
        assertEquals(2, world.core.status().devicePins(), "block 1 moves");
        assertEquals(List.of(), world.seen.releasedPages(""));
        world.endAll(Kind.LOAD);
        assertEquals(List.of(10, 11), world.seen.releasedPages(""));
        world.endAll(Kind.READ);
        assertEquals(List.of(), world.ports.of(Kind.LOAD), "what comes now is not copied");
        end();
    }

    @Test
    void theEndOfTheSessionEndsItsReads() {
        fetching();
        long call = world.read(prompt, -1, 2, 10);
        world.on(new AgentInput.SessionClosed(World.SESSION, false));
        assertEquals(List.of(failed(OperationReason.ENGINE_GONE)), answer(call));
        world.settle();
        world.advance(60_000);
        world.assertAtRest();
    }

    /** Block 0 has landed, block 1 moves in a unit of its own, when the session closes. */
    @Test
    void blocksLoadedForASessionThatIsGoneAreOnNoDevice() {
        world = World.running(31, 31, AgentLimits.defaults().with(new AgentLimits.Units(1, 4, 4, 2, 4)));
        twoOnHost();
        long call = world.read(prompt, -1, 0, 10, 11);
        world.end(Kind.LOAD, 1);
        world.on(new AgentInput.SessionClosed(World.SESSION, false));
        world.endAll(Kind.LOAD);
        assertEquals(List.of(failed(OperationReason.CANCELLED), failed(OperationReason.ENGINE_GONE)), answer(call));
        assertNothingCounts();
        world.assertAtRest();
    }

    @Test
    void blocksLoadedForASessionThatIsGoneAreOnNoDeviceThoughTheRestWasAwaited() {
        fetching();
        long call = world.read(prompt, -1, 1, 10, 11);
        world.endAll(Kind.LOAD);
        world.on(new AgentInput.SessionClosed(World.SESSION, false));
        assertEquals(List.of(failed(OperationReason.CANCELLED), failed(OperationReason.ENGINE_GONE)), answer(call));
        assertNothingCounts();
        world.settle();
        world.advance(60_000);
        world.assertAtRest();
    }

    @Test
    void blocksLoadedForACallThatIsGoneDoNotCount() {
        fetching();
        long call = world.read(prompt, -1, 1, 10, 11);
        world.endAll(Kind.LOAD);
        world.gone(call);
        assertEquals(List.of(10, 11), world.seen.releasedPages(""));
        assertNothingCounts();
        end();
    }

    @Test
    void aReadThatWasAnsweredWhenItsCallerWentNamesItsPagesAtOnce() {
        long call = world.read(prompt, -1, 0, 10, 11);
        world.endAll(Kind.LOAD);
        assertEquals(List.of(HERE, HERE), answer(call));
        world.gone(call, new AgentInput.Attempt(World.SESSION, "", 0), 10, 11);
        assertEquals(List.of(10, 11), world.seen.releasedPages(""));
        world.assertAtRest();
    }

    /** The page has never had a content that the agent knows of. */
    @Test
    void whatIsBeingReadIntoIsNotSealed() {
        Prompt other = Prompt.range(2, 50, 53);
        world.submitted("s", other);
        world.prefilled("s");
        long call = world.read(prompt, -1, 0, 10);
        RecordedOutput.Refused refused = world.refused(world.seal("s", other, 0, 10));
        assertEquals(true, refused.detail().contains("pinned"), refused::detail);
        world.ports.device[10] = new byte[FakePorts.BLOCK_BYTES];
        world.endAll(Kind.LOAD);
        assertEquals(List.of(HERE), answer(call));
        world.seen.reply(world.seal("s", other, 0, 10), RecordedOutput.Done.class);
        world.cancel("s");
        world.advance(60_000);
        world.assertAtRest();
    }

    private void assertNothingCounts() {
        assertEquals(List.of(), world.seen.events(LoadBackDone.class));
        assertEquals(1, world.seen.events(LoadBackFailed.class).size());
        assertEquals(Optional.empty(), world.core.device().content(10));
        assertEquals(0, world.core.status().count(AgentCounter.LOADED_BLOCKS));
    }

    @Test
    void destinationsAreCheckedAsForALoad() {
        assertEquals(Refusal.BAD_ARGUMENT, world.refused(world.read(prompt, -1, 0, 10, 10)).refusal());
        assertEquals(Refusal.BAD_ARGUMENT, world.refused(world.read(prompt, -1, 0, 31)).refusal());
        long moving = world.read(prompt, -1, 0, 10);
        assertEquals(true, world.refused(world.read(prompt, -1, 1, 10)).detail().contains("pinned"));
        world.endAll(Kind.LOAD);
        assertEquals(List.of(HERE), answer(moving));
        // the key of block 0 under another index is another block
        long call = world.call();
        DeviceBlock wrong = new DeviceBlock(3, prompt.root(), 12, 1);
        world.on(new AgentInput.ReadCalled(call, World.SESSION, prompt.namespace(), List.of(wrong), -1));
        assertEquals(List.of(failed(OperationReason.NOT_SERVING)), answer(call));
        assertFalse(world.core.status().devicePins() > 0);
        end0();
    }

    private void end0() {
        world.settle();
        world.advance(60_000);
        world.assertAtRest();
    }
}
