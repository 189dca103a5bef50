/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.tierlog.agent.core.FakePorts.Kind;
import io.tierlog.agent.core.api.AgentCounter;
import io.tierlog.agent.core.api.AgentInput;
import io.tierlog.agent.core.api.AgentInput.DeviceBlock;
import io.tierlog.agent.core.api.AgentLimits;
import io.tierlog.agent.core.port.EngineReplies.BlockAnswer;
import io.tierlog.agent.core.port.EngineReplies.Refusal;
import io.tierlog.agent.core.port.Offer;
import io.tierlog.agent.core.request.PromptBound;
import io.tierlog.schemas.BlockStatus;
import io.tierlog.schemas.OperationReason;
import io.tierlog.schemas.PagedBlock;
import io.tierlog.schemas.event.BlocksSealed;
import io.tierlog.schemas.event.LoadBackDone;
import io.tierlog.schemas.event.LoadBackFailed;
import io.tierlog.schemas.event.RequestSubmitted;
import java.util.Collections;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Prompts of more blocks than an attempt takes: 5 here, and 2 in a call or record. The prompt has 10 whole blocks of 2 tokens and a token more. */
class PromptBoundTest {
    private final World world = world(5, 5, 2);
    private final Prompt prompt = Prompt.range(2, 1, 21);

    private static World world(int keysPerRequest, int keysPerRecord, int blocksPerCall) {
        AgentLimits.Bounds bounds = new AgentLimits.Bounds(64, 64, 64, keysPerRequest, keysPerRecord, blocksPerCall, 1_024);
        return World.running(31, 31, AgentLimits.defaults().with(bounds));
    }

    private long count(AgentCounter counter) {
        return world.core.status().count(counter);
    }

    private static List<Integer> indexes(BlocksSealed event) {
        return event.blocks().stream().map(PagedBlock::block).map(block -> block.index()).toList();
    }

    /** Block i of the prompt is written back from page i, so many in a command. */
    private void saved(World of, String request, int blocks, int most) {
        for (int from = 0; from < blocks; from += most) {
            of.writeBack(request, prompt, from, IntStream.range(from, Math.min(blocks, from + most)).toArray());
        }
        of.endAll(Kind.SAVE);
    }

    @Test
    void theFirstBlocksAreTakenWrittenBackAndHit() {
        world.submitted("r", prompt);
        RequestSubmitted submitted = world.seen.event(RequestSubmitted.class);
        assertEquals(prompt.keys().subList(0, 5), submitted.keys());
        assertEquals(21, submitted.promptTokens(), "the log has the length of the whole prompt");
        assertEquals(1, count(AgentCounter.PROMPTS_CUT));
        assertEquals(5, count(AgentCounter.PROMPT_BLOCKS_NOT_TAKEN));

        world.prefilled("r");
        world.seal("r", prompt, 0, 0, 1, 2, 3, 4, 5, 6, 7); // one call, longer than what is taken
        world.seal("r", prompt, 8, 8, 9);
        List<List<Integer>> records = world.seen.events(BlocksSealed.class).stream().map(PromptBoundTest::indexes).toList();
        assertEquals(List.of(List.of(0, 1), List.of(2, 3), List.of(4)), records);
        assertEquals(5, count(AgentCounter.SEALED_BLOCKS_NOT_TAKEN));

        saved(world, "r", 5, 2);
        assertEquals(5, world.serving());
        world.finish("r");
        assertEquals(List.of(5, 6, 7, 8, 9), world.seen.releasedPages("r"), "no write-back comes for them");
        world.releaseRequest("r");
        assertEquals(10, world.seen.releasedPages("r").size());

        Offer offer = world.offered(world.submit("s", prompt, 0));
        assertEquals(5, offer.sources().size());
        world.load("s", prompt, 0, 20, 21, 22, 23, 24);
        world.endAll(Kind.LOAD);
        IntStream.range(0, 5).forEach(i -> world.assertOnDevice(prompt, i, 20 + i));
        world.finish("s");
        world.settle();
        world.advance(60_000);
        world.assertAtRest();
    }

    /** Exactly the bound, and one block more. */
    @Test
    void aPromptThatFitsIsNotCut() {
        world.submitted("r", Prompt.range(2, 1, 10));
        assertEquals(List.of(0L, 0L), List.of(count(AgentCounter.PROMPTS_CUT), count(AgentCounter.PROMPT_BLOCKS_NOT_TAKEN)));
        world.submitted("s", Prompt.range(2, 1, 12));
        assertEquals(List.of(1L, 1L), List.of(count(AgentCounter.PROMPTS_CUT), count(AgentCounter.PROMPT_BLOCKS_NOT_TAKEN)));
    }

    /** Blocks that a request generates come after its prompt, and are cut alike. */
    @Test
    void generatedBlocksAfterTheBoundAreNotSaved() {
        world.submitted("r", Prompt.range(2, 1, 9));
        world.prefilled("r");
        world.seal("r", prompt, 0, 0, 1, 2, 3);
        world.seal("r", prompt, 4, 4, 5);
        assertEquals(List.of(4), indexes(world.seen.last(BlocksSealed.class)));
        assertEquals(1, count(AgentCounter.SEALED_BLOCKS_NOT_TAKEN));
        world.cancel("r");
        assertEquals(List.of(0, 1, 2, 3, 4, 5), world.seen.releasedPages("r").stream().sorted().toList());
    }

    /** The device has 7 blocks of the prompt, in pages that the engine keeps: 5 are taken, and the pages of the other 2 come free at the end. */
    @Test
    void keptPagesOfBlocksThatAreNotTakenComeFreeAtTheEnd() {
        List<DeviceBlock> onDevice = IntStream.range(0, 7).mapToObj(i -> world.at(prompt, i, i)).toList();
        long call = world.call();
        world.on(new AgentInput.Submitted(
                call, World.attempt("r"), prompt.namespace(), prompt.keys(), prompt.tokens(), prompt.blockTokens(), 7, onDevice, true, true));
        assertEquals(0, world.offered(call).sources().size(), "the device has all that is taken");
        RequestSubmitted submitted = world.seen.event(RequestSubmitted.class);
        assertEquals(List.of(5, 5, 5), List.of(submitted.keys().size(), submitted.deviceBlocks(), submitted.devicePages().size()));
        assertEquals(3, world.seen.events(BlocksSealed.class).size(), "what the log did not know, in parts");
        world.finish("r");
        assertEquals(List.of(5, 6), world.seen.releasedPages("r"));
    }

    @Test
    void aSaveAnswersForTheBlocksThatWereNotTaken() {
        world.submitted("r", prompt);
        world.prefilled("r");
        world.seal("r", prompt, 0, 0, 1, 2, 3, 4, 5);
        long call = world.save("r", prompt, 4, 4, 5);
        world.writeBack("r", prompt, 4, 4);
        world.endAll(Kind.SAVE);
        assertEquals(List.of(new BlockAnswer(true, OperationReason.COMPLETED), new BlockAnswer(false, OperationReason.UNSUPPORTED)),
                world.seen.reply(call, RecordedOutput.Saved.class).blocks());
        assertEquals(Refusal.BAD_ARGUMENT, world.refused(world.save("r", prompt, 2, 2, 3, 4)).refusal(), "a save can be made in parts");
    }

    /** An engine may name no more keys than are taken; fewer, of a prompt that has more, are a mistake. */
    @Test
    void theKeysOfTheFirstBlocksAreEnough() {
        world.offered(submit("r", 5));
        assertEquals(5, count(AgentCounter.PROMPT_BLOCKS_NOT_TAKEN));
        world.offered(submit("s", 7));
        assertEquals(Refusal.BAD_ARGUMENT, world.refused(submit("t", 4)).refusal());
        assertEquals(2, count(AgentCounter.PROMPTS_CUT));
    }

    private long submit(String request, int keys) {
        long call = world.call();
        world.on(new AgentInput.Submitted(
                call, World.attempt(request), prompt.namespace(), prompt.keys().subList(0, keys), prompt.tokens(), prompt.blockTokens(), 0, List.of(),
                false, true));
        world.answerProbes();
        return call;
    }

    /** All 10 blocks are taken, and a record names 4: the others are offered from the host all the same, and the load is on the log in parts. */
    @Test
    void whatTheRecordDoesNotNameIsSavedAndHit() {
        World wide = world(10, 4, 3);
        wide.submitted("r", prompt);
        assertEquals(prompt.keys().subList(0, 4), wide.seen.event(RequestSubmitted.class).keys());
        wide.prefilled("r");
        wide.seal("r", prompt, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9);
        assertEquals(List.of(3, 3, 3, 1), wide.seen.events(BlocksSealed.class).stream().map(e -> e.blocks().size()).toList());
        saved(wide, "r", 10, 3);
        wide.finish("r");
        wide.releaseRequest("r");
        assertEquals(10, wide.serving());

        Offer offer = wide.offered(wide.submit("s", prompt, 0));
        assertEquals(10, offer.sources().size());
        assertEquals(Offer.Reason.ALL_ON_HOST, offer.reason());
        RequestSubmitted second = wide.seen.last(RequestSubmitted.class);
        assertEquals(List.of(List.of(0, 1, 2, 3), 4, 0), List.of(second.hostIndexes(), second.storeFrom(), second.storeBlocks()));
        wide.load("s", prompt, 0, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29);
        wide.endAll(Kind.LOAD);
        IntStream.range(0, 10).forEach(i -> wide.assertOnDevice(prompt, i, 20 + i));
        List<LoadBackDone> loads = wide.seen.events(LoadBackDone.class);
        assertEquals(List.of(3, 3, 3, 1), loads.stream().map(e -> e.blocks().size()).toList());
        assertEquals(4, loads.stream().map(LoadBackDone::operation).distinct().count());
        assertEquals(10L * FakePorts.BLOCK_BYTES, loads.stream().mapToLong(LoadBackDone::movedBytes).sum());
        wide.finish("s");
        wide.settle();
        wide.advance(60_000);
        wide.assertAtRest();
    }

    /** A load of 10 blocks of which the fifth is broken: the first part is done, the second in part, the others failed. */
    @Test
    void aLoadThatFailsHalfWayHasFailedPartsOnTheLog() {
        World wide = world(10, 4, 3);
        wide.submitted("r", prompt);
        wide.prefilled("r");
        wide.seal("r", prompt, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9);
        saved(wide, "r", 10, 3);
        wide.offered(wide.submit("s", prompt, 0));
        long call = wide.load("s", prompt, 0, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29);
        wide.end(Kind.LOAD, 4, OperationReason.CHECKSUM);
        wide.endAll(Kind.LOAD);
        assertEquals(4, wide.seen.reply(call, RecordedOutput.Loaded.class).blocks());
        assertEquals(List.of(3L, 1L), wide.seen.events(LoadBackDone.class).stream()
                .map(e -> e.blocks().stream().filter(block -> block.status() == BlockStatus.ARRIVED).count()).toList());
        assertEquals(List.of(3, 1), wide.seen.events(LoadBackFailed.class).stream().map(e -> e.blocks().size()).toList());
    }

    /** The store has all 10 blocks, a record names 4: only those are looked for and fetched. */
    @Test
    void nothingIsFetchedAfterWhatTheRecordNames() {
        World wide = world(10, 4, 3);
        wide.ports.put(prompt, 0, 10);
        wide.submitted("r", prompt);
        RequestSubmitted submitted = wide.seen.event(RequestSubmitted.class);
        assertEquals(List.of(4, 0, 4), List.of(submitted.keys().size(), submitted.storeFrom(), submitted.storeBlocks()));
        wide.prefetch("r", prompt, 0, 4);
        wide.endAll(Kind.READ);
        assertEquals(4, wide.seen.notices(RecordedOutput.Ready.class).getFirst().offer().sources().size());
        assertEquals(Offer.Reason.ALL_ON_HOST, wide.offered(wide.submit("s", prompt, 0)).reason(), "there is nothing below for the controller");
    }

    /** 3 attempts with calls of 2 blocks have 6 keys together: a prompt of 5 is taken, the next one may try again, and fits when that has gone. */
    @Test
    void allAttemptsTogetherHaveABoundOfKeys() {
        World small = World.running(31, 31, AgentLimits.defaults().with(new AgentLimits.Bounds(3, 3, 64, 5, 5, 2, 1_024)));
        small.submitted("r", prompt);
        RecordedOutput.Refused full = small.refused(small.submit("s", Prompt.range(2, 1, 4), 0));
        assertEquals(List.of(Refusal.BUSY, true), List.of(full.refusal(), full.retry()));
        small.submitted("t", Prompt.range(2, 1, 2));
        small.cancel("r");
        small.submitted("s", prompt);
        assertEquals(2, small.seen.events(RequestSubmitted.class).stream().filter(e -> e.keys().size() == 5).count());
    }

    @Test
    void howManyAreTaken() {
        assertEquals(5, PromptBound.taken(0, 9, 5));
        assertEquals(2, PromptBound.taken(3, 9, 5));
        assertEquals(9, PromptBound.taken(3, 9, 12));
        assertEquals(0, PromptBound.taken(5, 9, 5));
        assertEquals(0, PromptBound.taken(Integer.MAX_VALUE, 9, 5));
        List<PagedBlock> five = Collections.nCopies(5, new PagedBlock(prompt.block(0), 0, 0, 0));
        assertEquals(List.of(2, 2, 1), PromptBound.parts(five, 2).stream().map(List::size).toList());
        assertEquals(List.of(), PromptBound.parts(List.of(), 2));
    }

    @Test
    void aCallHasNoMoreBlocksThanAPrompt() {
        assertThrows(IllegalArgumentException.class, () -> new AgentLimits.Bounds(1, 1, 1, 5, 5, 6, 1));
        assertThrows(IllegalArgumentException.class, () -> new AgentLimits.Bounds(1, 1, 1, 5, 6, 5, 1));
        AgentLimits.Bounds four = AgentLimits.defaults().bounds().withKeysPerRequest(4);
        assertEquals(List.of(4, 4), List.of(four.blocksPerCall(), four.keysPerRecord()));
        assertEquals(4, four.withKeysPerRecord(5).keysPerRecord());
    }
}
