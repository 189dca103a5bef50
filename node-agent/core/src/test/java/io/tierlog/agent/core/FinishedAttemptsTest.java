/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.tierlog.agent.core.api.AgentInput;
import io.tierlog.agent.core.api.AgentLimits;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Device pages of finished requests that no command has come for: 2 s at least, 10 s while engine and agent can spare them. */
class FinishedAttemptsTest {
    private static final Prompt ONE = Prompt.of(2, 1, 2, 3, 4);
    private static final Prompt TWO = Prompt.of(2, 101, 102, 103, 104);

    /** 2 pages of 31 wait: 2 * 2 <= 31. */
    @Test
    void pagesThatTheEngineCanSpareWaitForTenSeconds() {
        World world = World.running(31, 4);
        world.compute("r1", ONE, 0, 0, 1);

        world.advance(9_999);
        assertEquals(List.of(), world.seen.releasedPages("r1"));
        world.advance(1);
        assertEquals(List.of(0, 1), world.seen.releasedPages("r1"));
        world.assertAtRest();
    }

    /** 2 pages of 3 wait: 2 * 2 > 3. */
    @Test
    void pagesThatTheEngineNeedsWaitForTwo() {
        World world = World.running(3, 4);
        world.compute("r1", ONE, 0, 0, 1);

        world.advance(1_999);
        assertEquals(List.of(), world.seen.releasedPages("r1"));
        world.advance(1);
        assertEquals(List.of(0, 1), world.seen.releasedPages("r1"));
    }

    /** 2 attempts of 3 wait: 2 * 2 > 3; when one has gone, 1 * 2 <= 3. */
    @Test
    void attemptsThatTheAgentNeedsWaitForTwo() {
        AgentLimits limits = AgentLimits.defaults();
        World world = World.running(31, 4, limits.with(new AgentLimits.Bounds(3, 3, 1_024, 4_096, 4_096)));
        world.compute("r1", ONE, 0, 0, 1);
        world.compute("r2", TWO, 0, 2, 3);

        world.advance(2_000);
        assertEquals(List.of(0, 1), world.seen.releasedPages("r1"));
        world.advance(7_999);
        assertEquals(List.of(), world.seen.releasedPages("r2"));
        world.advance(1);
        assertEquals(List.of(2, 3), world.seen.releasedPages("r2"));
    }

    /**
     * 1,100 pages of 1,100 are written back in batches of 1,000: the rest waits for as long as the first batch takes, and two seconds from its end
     * for the next command.
     */
    @Test
    void pagesOfALongPromptWaitForTheNextBatch() {
        World world = World.running(1_100, 1_200);
        Prompt prompt = Prompt.range(1, 1, 1_101);
        world.compute("r1", prompt, 0, IntStream.range(0, 1_100).toArray());
        world.writeBack("r1", prompt, 0, IntStream.range(0, 1_000).toArray());
        world.advance(5_000);
        assertEquals(List.of(), world.seen.releasedPages("r1"), "the first batch is on its way");
        world.endAll(FakePorts.Kind.SAVE);
        assertEquals(1_000, world.seen.releasedPages("r1").size());
        world.advance(1_999);
        world.writeBack("r1", prompt, 1_000, IntStream.range(1_000, 1_050).toArray());
        assertEquals(1_050, world.seen.releasedPages("r1").size(), "a batch that is not full is the last one: what it does not name is free");
        world.endAll(FakePorts.Kind.SAVE);
        assertEquals(1_100, world.seen.releasedPages("r1").size());
        assertEquals(1_050, world.serving());
        world.settle();
        world.advance(60_000);
        world.assertAtRest();
    }

    @Test
    void aNextBatchThatDoesNotComeIsNotWaitedForLonger() {
        World world = World.running(1_100, 1_200);
        Prompt prompt = Prompt.range(1, 1, 1_101);
        world.compute("r1", prompt, 0, IntStream.range(0, 1_100).toArray());
        world.writeBack("r1", prompt, 0, IntStream.range(0, 1_000).toArray());
        world.endAll(FakePorts.Kind.SAVE);
        world.advance(1_999);
        assertEquals(1_000, world.seen.releasedPages("r1").size());
        world.advance(1);
        assertEquals(1_100, world.seen.releasedPages("r1").size());
    }

    /** As when an engine preempts a request and has no more time for its write-back. */
    @Test
    void aCancelledOneGivesItsPagesBackAtOnce() {
        World world = World.running(31, 4);
        world.compute("r1", ONE, 0, 0, 1);
        assertEquals(List.of(), world.seen.releasedPages("r1"));

        world.on(new AgentInput.Cancelled(world.call(), World.attempt("r1")));

        assertEquals(List.of(0, 1), world.seen.releasedPages("r1"));
        world.assertAtRest();
    }
}
