/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.agent.core.FakePorts.Kind;
import io.tierlog.agent.core.api.AgentCounter;
import io.tierlog.agent.core.api.AgentInput;
import io.tierlog.agent.core.api.AgentPhase;
import io.tierlog.agent.core.port.EngineReplies.Refusal;
import io.tierlog.agent.core.port.Offer;
import io.tierlog.schemas.Block;
import io.tierlog.schemas.BlockResult;
import io.tierlog.schemas.PagedBlock;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.command.CommandHeader;
import io.tierlog.schemas.command.FenceAgent;
import io.tierlog.schemas.event.AgentHeartbeat;
import io.tierlog.schemas.event.AgentStopping;
import io.tierlog.schemas.event.BlocksRecovered;
import io.tierlog.schemas.event.BlocksSeenStored;
import io.tierlog.schemas.event.EngineAttached;
import io.tierlog.schemas.event.Event;
import io.tierlog.schemas.event.LoadBackDone;
import io.tierlog.schemas.event.RequestFinished;
import io.tierlog.schemas.event.RequestSubmitted;
import io.tierlog.schemas.event.WriteBackDone;
import java.util.List;
import org.junit.jupiter.api.Test;

/** An agent that the controller has declared lost, as one that was stopped for a while, registers again in the same process. */
final class RejoinCasesTest {
    private final Prompt prompt = Prompt.range(2, 1, 11);
    private final World world = World.running(31, 31);

    private void lost() {
        world.command(new FenceAgent(world.envelope(), new CommandHeader("f", 0), 0));
        world.answerProbes(); // what the store has of the host
    }

    private List<BlockResult> written() {
        world.compute("r1", prompt, 0, 0, 1, 2, 3, 4);
        String writeBack = world.writeBack("r1", prompt, 0, 0, 1, 2, 3, 4);
        world.endAll(Kind.SAVE);
        world.backUp(prompt, writeBack);
        world.endAll(Kind.WRITE);
        world.releasePins(writeBack);
        return world.seen.event(WriteBackDone.class).blocks();
    }

    private static List<PagedBlock> paged(List<BlockResult> blocks) {
        return blocks.stream().map(b -> new PagedBlock(b.block(), b.page(), b.generation(), b.crc32c())).toList();
    }

    @Test
    void anAgentDeclaredLostReportsWhatItHoldsUnderItsNextIncarnation() {
        List<BlockResult> held = written();
        int before = world.seen.events.size();
        lost();
        assertEquals(AgentPhase.UNREGISTERED, world.core.status().phase());
        assertEquals(0, world.core.status().incarnation());
        assertEquals(1, world.core.status().count(AgentCounter.REJOINED));
        assertEquals(Offer.Reason.ALL_ON_HOST, world.offered(world.submit("off", prompt, 0)).reason(), "its engine goes on");
        world.advance(60_000);
        assertEquals(before, world.seen.events.size(), "nothing is reported in no incarnation");

        world.registerAgain();
        List<Event> reported = world.seen.events.subList(before, world.seen.events.size());
        assertEquals(List.of(EngineAttached.class, BlocksRecovered.class, BlocksSeenStored.class, AgentHeartbeat.class),
                reported.stream().map(Event::getClass).toList(), "the session is as it was, and the beat counts what was reported");
        assertEquals(List.of(2L, 2L, 2L, 2L), reported.stream().map(event -> event.envelope().incarnation()).toList());
        BlocksRecovered recovered = world.seen.event(BlocksRecovered.class);
        assertEquals(List.of(Tier.HOST, 0L, paged(held)), List.of(recovered.tier(), recovered.remainingBlocks(), recovered.blocks()));
        assertEquals(held.stream().map(BlockResult::block).toList(), world.seen.event(BlocksSeenStored.class).blocks());

        world.finish("off");
        assertEquals(List.of(), world.seen.events(RequestFinished.class).stream().filter(e -> e.request().equals("off")).toList());
        world.submit("r3", prompt, 0);
        assertEquals(List.of(0, 1, 2, 3, 4), world.seen.events(RequestSubmitted.class).getLast().hostIndexes());
        world.cancel("r3");
        world.assertAtRest();
    }

    /** Its events may be missing from the log: it says nothing under that incarnation any more, and goes on with what it holds. */
    @Test
    void anAgentThatLostTheLogReportsWhatItHoldsUnderItsNextIncarnation() {
        List<BlockResult> held = written();
        int before = world.seen.events.size();
        world.on(new AgentInput.LogLost());
        world.on(new AgentInput.LogLost());
        world.answerProbes();
        assertEquals(AgentPhase.UNREGISTERED, world.core.status().phase());
        assertEquals(Offer.Reason.ALL_ON_HOST, world.offered(world.submit("off", prompt, 0)).reason(), "its engine goes on");
        world.advance(60_000);
        assertEquals(before, world.seen.events.size(), "nothing is reported in no incarnation");
        world.on(new AgentInput.LogLost());
        assertEquals(AgentPhase.UNREGISTERED, world.core.status().phase(), "there is no incarnation to lose");
        world.registerAgain();
        assertEquals(paged(held), world.seen.event(BlocksRecovered.class).blocks());
        world.finish("off");
        world.assertAtRest();
    }

    /** A submission of the ended epoch gets no answer, so it does not count as lag of the controller. */
    @Test
    void anUnansweredSubmissionOfTheEndedEpochKeepsNoRequestFromWaiting() {
        Prompt first = Prompt.range(2, 51, 61);
        Prompt second = Prompt.range(2, 71, 81);
        world.ports.put(first, 0, 4);
        world.ports.put(second, 0, 4);
        world.submitted("r1", first);
        lost();
        world.registerAgain();
        world.advance(1_000);
        long call = world.submitted("r2", second);
        assertInstanceOf(RecordedOutput.Waiting.class, world.seen.replies.get(call));
    }

    @Test
    void operationsOfTheEndedEpochEndWithoutAReportBeforeItRegisters() {
        world.compute("r1", prompt, 0, 0, 1, 2, 3, 4);
        world.writeBack("r1", prompt, 0, 0, 1, 2, 3, 4);
        Prompt other = Prompt.range(2, 51, 61);
        world.ports.put(other, 0, 5);
        world.submitted("r2", other);
        int before = world.seen.events.size();
        lost();
        lost(); // one for each event that was refused
        assertEquals(AgentPhase.REJOINING, world.core.status().phase());
        assertEquals(Offer.Reason.WAIT_EXPIRED, world.seen.notices(RecordedOutput.Ready.class).getLast().offer().reason());
        assertEquals(Offer.Reason.AGENT_BUSY, world.offered(world.submitted("r3", other)).reason());
        world.endAll(Kind.SAVE);
        assertEquals(AgentPhase.UNREGISTERED, world.core.status().phase());
        world.registerAgain();
        List<Event> reported = world.seen.events.subList(before, world.seen.events.size());
        assertEquals(List.of(), reported.stream().filter(event -> event.envelope().incarnation() != 2).toList());
        assertEquals(List.of(), world.seen.events(WriteBackDone.class));
        long serving = world.core.status().usage().getFirst().servingBlocks();
        assertEquals(serving, world.seen.events(BlocksRecovered.class).stream().mapToLong(e -> e.blocks().size()).sum());
        world.compute("r4", Prompt.range(2, 71, 81), 0, 10, 11, 12, 13, 14);
        world.writeBack("r4", Prompt.range(2, 71, 81), 0, 10, 11, 12, 13, 14);
        world.endAll(Kind.SAVE);
        assertEquals(1, world.seen.events(WriteBackDone.class).size(), "and commands of the new one run");
    }

    @Test
    void aLoadThatCrossesTheEndOfTheEpochIsAnsweredAndNotReported() {
        written();
        world.submit("r2", prompt, 0);
        long load = world.load("r2", prompt, 0, 10, 11, 12, 13, 14);
        lost();
        assertEquals(AgentPhase.UNREGISTERED, world.core.status().phase(), "no registration waits for engines");
        world.registerAgain();
        world.endAll(Kind.LOAD);
        assertEquals(5, world.seen.reply(load, RecordedOutput.Loaded.class).blocks());
        world.assertOnDevice(prompt, 4, 14);
        assertEquals(List.of(), world.seen.events(LoadBackDone.class));
        world.prefilled("r2");
        world.finish("r2");
        assertEquals(List.of(), world.seen.events(RequestFinished.class).stream().filter(e -> e.request().equals("r2")).toList(),
                "the log has ended it");
    }

    @Test
    void theDiskIsReportedAgainAndServesOnlyThen() {
        World.Past past = World.Past.none();
        past.disk().put(prompt, 0, 5);
        World disk = World.withDisk(31, 20, past);
        disk.advance(0);
        List<Block> found = blocks(disk.seen.event(BlocksRecovered.class));
        disk.command(new FenceAgent(disk.envelope(), new CommandHeader("f", 0), 0));
        assertEquals(List.of(0L, 5L), List.of(disk.disk().servingBlocks(), disk.disk().fillingBlocks()));
        disk.registerAgain();
        disk.advance(0);
        assertEquals(found, blocks(disk.seen.events(BlocksRecovered.class).getLast()));
        assertEquals(2, disk.seen.events(BlocksRecovered.class).getLast().envelope().incarnation());
        assertEquals(5, disk.disk().servingBlocks());
        assertTrue(disk.core.status().diskOpen());
    }

    private static List<Block> blocks(BlocksRecovered recovered) {
        return recovered.blocks().stream().map(PagedBlock::block).toList();
    }

    @Test
    void savesThatWaitAreRefusedForNowAndAStopIsAStop() {
        world.submitted("r1", prompt);
        world.prefilled("r1");
        world.seal("r1", prompt, 0, 0, 1);
        long save = world.save("r1", prompt, 0, 0, 1);
        lost();
        RecordedOutput.Refused refused = world.refused(save);
        assertEquals(List.of(Refusal.NOT_ON_THE_LOG, true), List.of(refused.refusal(), refused.retry()));
        world.on(new AgentInput.StopRequested());
        assertEquals(AgentPhase.STOPPED, world.core.status().phase());
        assertEquals(List.of(), world.seen.events(AgentStopping.class));
    }
}
