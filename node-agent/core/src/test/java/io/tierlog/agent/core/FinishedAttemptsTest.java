/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.tierlog.agent.core.api.AgentInput;
import io.tierlog.agent.core.api.AgentLimits;
import java.util.List;
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
