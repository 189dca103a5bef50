/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.agent.core.FakePorts.Kind;
import io.tierlog.agent.core.api.AgentLimits;
import io.tierlog.schemas.event.AgentHeartbeat;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What an agent does not send: heartbeats that report nothing new, and probes whose answer is no longer needed. */
class QuietAgentTest {
    @Test
    void aHeartbeatThatSaysNothingNewComesOnceInAThirdOfTheSession() {
        World quiet = new World(31, 31, AgentLimits.defaults()).withSession(10_000);
        quiet.register();
        quiet.attach();
        quiet.advance(1_000);
        int before = quiet.seen.events(AgentHeartbeat.class).size();
        quiet.advance(60_000); // looks at each second; 3 s is the most that is not above a third of 10 s
        assertEquals(before + 20, quiet.seen.events(AgentHeartbeat.class).size());
    }

    @Test
    void aHeartbeatThatSaysNothingNewComesAtEveryFifthLookAtLeast() {
        World quiet = new World(31, 31, AgentLimits.defaults()).withSession(3_600_000);
        quiet.register();
        quiet.advance(60_000);
        assertEquals(1 + 12, quiet.seen.events(AgentHeartbeat.class).size());
    }

    @Test
    void whatIsNewIsReportedAtTheNextLook() {
        World quiet = new World(31, 31, AgentLimits.defaults()).withSession(10_000);
        quiet.register();
        quiet.attach();
        quiet.advance(1_000);
        int before = quiet.seen.events(AgentHeartbeat.class).size();
        quiet.releasePins("x");
        quiet.advance(1_000);
        assertEquals(before + 1, quiet.seen.events(AgentHeartbeat.class).size());
    }

    /** The store hangs: what asks it ends with the wait of the request, and again when the attempt ends. */
    @Test
    void aProbeIsCancelledWithTheWaitOfItsRequest() {
        World world = World.running(31, 31);
        world.submit("slow", Prompt.range(2, 1, 11), 0);
        long unit = world.ports.of(Kind.PROBE).getFirst().id();
        assertEquals(List.of(), world.ports.cancelledProbes);
        world.advance(AgentLimits.defaults().times().prefetchWaitMs());
        assertEquals(List.of(unit), world.ports.cancelledProbes);
        world.submit("gone", Prompt.range(2, 51, 61), 0);
        long second = world.ports.of(Kind.PROBE).getLast().id();
        world.cancel("gone");
        assertTrue(world.ports.cancelledProbes.contains(second));
    }
}
