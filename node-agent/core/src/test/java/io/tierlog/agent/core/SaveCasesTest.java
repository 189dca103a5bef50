/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import io.tierlog.agent.core.FakePorts.Kind;
import io.tierlog.agent.core.api.AgentInput;
import io.tierlog.agent.core.api.AgentLimits;
import io.tierlog.agent.core.port.EngineReplies.BlockAnswer;
import io.tierlog.agent.core.port.EngineReplies.Refusal;
import io.tierlog.schemas.Block;
import io.tierlog.schemas.OperationKind;
import io.tierlog.schemas.OperationReason;
import io.tierlog.schemas.PagedBlock;
import io.tierlog.schemas.command.CommandHeader;
import io.tierlog.schemas.command.RefuseSave;
import io.tierlog.schemas.event.SaveRequested;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Engines that want sealed blocks on the host now. 31 device pages, 31 host pages; a live request has sealed 4 blocks into pages 0 to 3. */
class SaveCasesTest {
    private static final BlockAnswer HERE = new BlockAnswer(true, OperationReason.COMPLETED);

    private final World world = World.running(31, 31);
    private final Prompt prompt = Prompt.range(2, 1, 8);

    @BeforeEach
    void seal() {
        sealed(world);
    }

    private void sealed(World w) {
        w.submitted("r", prompt);
        w.prefilled("r");
        w.seal("r", prompt, 0, 0, 1, 2, 3);
    }

    private static BlockAnswer failed(OperationReason why) {
        return new BlockAnswer(false, why);
    }

    private List<BlockAnswer> saved(long call) {
        return world.seen.reply(call, RecordedOutput.Saved.class).blocks();
    }

    private boolean waits(long call) {
        return !world.seen.replies.containsKey(call);
    }

    private void refuse(int from, int to, OperationReason why) {
        CommandHeader header = world.header();
        List<Block> blocks = prompt.blocks(from, to);
        world.command(new RefuseSave(world.envelope(), header, world.seen.last(SaveRequested.class).save(), blocks, why));
    }

    private void end() {
        world.cancel("r");
        world.settle();
        world.advance(60_000);
        world.assertAtRest();
    }

    @Test
    void theSaveIsOnTheLogAndTheCallAnsweredWhenAllServe() {
        long call = world.save("r", prompt, 1, 1, 2, 3);
        SaveRequested asked = world.seen.event(SaveRequested.class);
        assertEquals(List.of("a/save/1/1", "r", 1, prompt.root()), List.of(asked.save(), asked.request(), asked.attempt(), asked.root()));
        assertEquals(List.of(1, 2, 3), asked.blocks().stream().map(PagedBlock::page).toList());
        world.writeBack("r", prompt, 1, 1, 2);
        world.endAll(Kind.SAVE);
        assertEquals(true, waits(call), "block 3 is not there");
        world.writeBack("r", prompt, 3, 3);
        world.endAll(Kind.SAVE);
        assertEquals(List.of(HERE, HERE, HERE), saved(call));

        assertEquals(List.of(HERE, HERE), saved(world.save("r", prompt, 1, 1, 2)), "at once");
        world.save("r", prompt, 0, 0, 1);
        assertEquals(1, world.seen.last(SaveRequested.class).blocks().size(), "only what does not serve is asked for");
        end();
    }

    @Test
    void aWriteBackThatFailsAnswersForItsBlocks() {
        long call = world.save("r", prompt, 0, 0, 1);
        world.writeBack("r", prompt, 0, 0, 1);
        world.end(Kind.SAVE, 1, OperationReason.DEVICE_FAULT);
        assertEquals(List.of(HERE, failed(OperationReason.DEVICE_FAULT)), saved(call));
        RecordedOutput.Failed notice = world.seen.notices(RecordedOutput.Failed.class).getFirst();
        assertEquals(new RecordedOutput.Failed("r", 1, List.of(1), OperationReason.DEVICE_FAULT), notice);
        end();
    }

    @Test
    void aRefusalOfTheControllerEndsTheWait() {
        long call = world.save("r", prompt, 0, 0, 1, 2, 3);
        refuse(0, 4, OperationReason.NOT_SERVING);
        assertEquals(List.of(OperationReason.NOT_SERVING), saved(call).stream().map(BlockAnswer::reason).distinct().toList());
        refuse(0, 4, OperationReason.NOT_SERVING); // again: nothing
        end();
    }

    @Test
    void aRefusedSaveWaitsForAnotherWriteBackOfTheBlock() {
        world.writeBack("r", prompt, 0, 0, 1);
        long call = world.save("r", prompt, 0, 0, 1, 2);
        refuse(0, 2, OperationReason.ALREADY_THERE);
        assertEquals(true, waits(call));
        refuse(2, 3, OperationReason.QUEUE_FULL);
        assertEquals(true, waits(call));
        world.endAll(Kind.SAVE);
        assertEquals(List.of(HERE, HERE, failed(OperationReason.QUEUE_FULL)), saved(call));
        end();
    }

    @Test
    void aRefusedSaveWaitsForAFetchOfTheBlock() {
        world.ports.put(prompt, 0, 4);
        world.submitted("s", prompt);
        world.prefetch("s", prompt, 0, 3);
        long call = world.save("r", prompt, 0, 0, 1, 2);
        refuse(0, 3, OperationReason.ALREADY_THERE);
        assertEquals(true, waits(call));
        world.end(Kind.READ, 2, OperationReason.CHECKSUM);
        assertEquals(List.of(HERE, HERE, failed(OperationReason.ALREADY_THERE)), saved(call), "no operation brings the last one");
        world.cancel("s");
        end();
    }

    @Test
    void aFailedFetchDoesNotAnswerABlockThatWasNotRefused() {
        world.ports.put(prompt, 0, 4);
        world.submitted("s", prompt);
        world.prefetch("s", prompt, 0, 2);
        long call = world.save("r", prompt, 0, 0, 1);
        world.end(Kind.READ, 1, OperationReason.CHECKSUM);
        assertEquals(true, waits(call), "the controller may write it back");
        world.writeBack("r", prompt, 1, 1);
        world.endAll(Kind.SAVE);
        assertEquals(List.of(HERE, HERE), saved(call));
        world.cancel("s");
        end();
    }

    @Test
    void blocksThatTheControllerHasAndTheAgentDoesNotFail() {
        long call = world.save("r", prompt, 0, 0);
        refuse(0, 1, OperationReason.ALREADY_THERE);
        assertEquals(List.of(failed(OperationReason.ALREADY_THERE)), saved(call));
        end();
    }

    @Test
    void aWriteBackThatIsCancelledInTheQueueOrFindsTooFewPagesAnswersToo() {
        World w = World.running(31, 2, AgentLimits.defaults().withWriteBackWaitMs(500));
        sealed(w);
        w.writeBack("r", prompt, 0, 0, 1); // both host pages, pinned for their backup
        w.endAll(Kind.SAVE);
        long first = w.save("r", prompt, 2, 2);
        String queued = w.writeBack("r", prompt, 2, 2);
        w.cancelOperation(queued, OperationKind.WRITE_BACK);
        assertEquals(List.of(failed(OperationReason.CANCELLED)), w.seen.reply(first, RecordedOutput.Saved.class).blocks());
        long second = w.save("r", prompt, 3, 3);
        w.writeBack("r", prompt, 3, 3);
        w.advance(499);
        assertFalse(w.seen.replies.containsKey(second));
        w.advance(1);
        assertEquals(List.of(failed(OperationReason.NO_ROOM)), w.seen.reply(second, RecordedOutput.Saved.class).blocks());
        assertEquals(2, w.seen.notices(RecordedOutput.Failed.class).size());
    }

    @Test
    void aSaveIsRefusedForWhatWasNotSealedAndWithoutALog() {
        assertEquals(Refusal.BAD_ARGUMENT, world.refused(world.save("r", prompt, 0, 1)).refusal());
        assertEquals(Refusal.UNKNOWN_REQUEST, world.refused(world.save("other", prompt, 0, 0)).refusal());
        World off = new World(31, 31, AgentLimits.defaults());
        off.attach();
        sealed(off);
        RecordedOutput.Refused unavailable = off.refused(off.save("r", prompt, 0, 0));
        assertEquals(List.of(Refusal.NOT_ON_THE_LOG, true), List.of(unavailable.refusal(), unavailable.retry()));
    }

    @Test
    void savesAreBoundedAndEndWithTheirCallTheirSessionOrTheAgent() {
        AgentLimits.Engines engines = AgentLimits.defaults().engines();
        AgentLimits two = AgentLimits.defaults()
                .with(new AgentLimits.Engines(
                        engines.leases(), engines.reservedPercent(), engines.leaseMs(), engines.mostLeaseMs(), 2, engines.readWaitMs(),
                        engines.mostReadWaitMs()));
        World w = World.running(31, 31, two);
        sealed(w);
        long first = w.save("r", prompt, 0, 0);
        w.save("r", prompt, 1, 1);
        assertEquals(Refusal.BUSY, w.refused(w.save("r", prompt, 2, 2)).refusal());
        w.gone(first);
        long third = w.save("r", prompt, 2, 2);
        w.writeBack("r", prompt, 0, 0);
        w.endAll(Kind.SAVE);
        assertFalse(w.seen.replies.containsKey(first), "its caller is gone");
        w.on(new AgentInput.StopRequested());
        assertEquals(Refusal.CLOSING, w.refused(third).refusal());

        long last = world.save("r", prompt, 0, 0);
        world.on(new AgentInput.SessionClosed(World.SESSION, true));
        assertEquals(Refusal.UNKNOWN_SESSION, world.refused(last).refusal());
        world.settle();
        world.assertAtRest();
    }
}
