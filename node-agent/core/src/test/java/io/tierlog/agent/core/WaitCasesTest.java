/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.agent.core.FakePorts.Kind;
import io.tierlog.agent.core.api.AgentCounter;
import io.tierlog.agent.core.port.EngineReplies.Refusal;
import io.tierlog.agent.core.port.Offer;
import io.tierlog.schemas.RequestReason;
import io.tierlog.schemas.event.RequestSubmitted;
import io.tierlog.schemas.event.WaitExpired;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** How long a request waits for a fetch when its engine says what computing costs: here 4 ms a token, so 8 ms for a block of 2 tokens. */
class WaitCasesTest {
    /** A request waits for twice what computing takes. */
    private static final int TIMES = 2;

    private final World world = World.running(31, 31);
    private final Prompt prompt = Prompt.range(2, 1, 11); // 5 whole blocks, and a token that is always computed

    WaitCasesTest() {
        world.prefillNsPerToken = 4_000_000;
    }

    private void assertWaits(long ms) {
        world.advance(ms - 1);
        assertEquals(List.of(), world.seen.notices(RecordedOutput.Ready.class));
        world.advance(1);
        assertEquals(Offer.Reason.WAIT_EXPIRED, world.seen.notices(RecordedOutput.Ready.class).getFirst().offer().reason());
        assertEquals(ms, world.seen.event(WaitExpired.class).waitedMs());
    }

    /** These blocks, from 0 on, are on the host. */
    private void onHost(int... blocks) {
        Prompt part = new Prompt(prompt.namespace(), 2, 2 * blocks.length, prompt.keys().subList(0, blocks.length));
        world.compute("warm", part, 0, blocks);
        String writeBack = world.writeBack("warm", part, 0, blocks);
        world.endAll(Kind.SAVE);
        world.releasePins(writeBack);
    }

    /** 5 blocks of 2 tokens at 4 ms are 40 ms. */
    @Test
    void aRequestWaitsNoLongerThanItWouldCompute() {
        world.ports.put(prompt, 0, 5);
        world.submitted("r", prompt);
        assertWaits(TIMES * 40);
    }

    /** The store has 2 of the 5: they save 16 ms, and the probe took 5 of the wait. */
    @Test
    void whatIsNowhereIsComputedInAnyCase() {
        world.ports.put(prompt, 0, 2);
        world.submit("r", prompt, 0);
        world.advance(5);
        world.answerProbes();
        world.advance(TIMES * 16 - 6);
        assertEquals(List.of(), world.seen.notices(RecordedOutput.Ready.class));
        world.advance(1);
        assertEquals(TIMES * 16, world.seen.event(WaitExpired.class).waitedMs());
    }

    /** The probe alone took longer than the 16 ms of 2 blocks: the wait is over when its answer comes. */
    @Test
    void aProbeThatTookAsLongEndsTheWait() {
        world.ports.put(prompt, 0, 2);
        world.submit("r", prompt, 0);
        world.advance(TIMES * 16 + 1);
        world.answerProbes();
        world.advance(0);
        assertEquals(Offer.Reason.WAIT_EXPIRED, world.seen.notices(RecordedOutput.Ready.class).getFirst().offer().reason());
    }

    /** 3 blocks are on the host, so a fetch of the other 2 saves 16 ms. */
    @Test
    void whatIsOnTheHostSavesNothing() {
        onHost(0, 1, 2);
        world.ports.put(prompt, 0, 5);
        world.submitted("r", prompt);
        assertWaits(TIMES * 16);
    }

    /** 1 s a token: 10 s are more than the 200 ms of every request. */
    @Test
    void theBoundOfEveryRequestHoldsToo() {
        world.prefillNsPerToken = 1_000_000_000;
        world.ports.put(prompt, 0, 5);
        world.submitted("r", prompt);
        assertWaits(200);
    }

    /** 10 tokens at 1 ns round up to a millisecond. */
    @Test
    void aWaitIsAtLeastAMillisecond() {
        world.prefillNsPerToken = 1;
        world.ports.put(prompt, 0, 5);
        world.submitted("r", prompt);
        assertWaits(1);
    }

    @ParameterizedTest
    @ValueSource(longs = {-1, 1_000_000_001})
    void aCostThatCannotBeIsRefused(long cost) {
        world.prefillNsPerToken = cost;
        assertEquals(Refusal.BAD_ARGUMENT, world.refused(world.submit("r", prompt, 0)).refusal());
    }

    /** The fetch of r arrives after r went on without it: the next request finds all 5 blocks on the host. */
    @ParameterizedTest
    @ValueSource(longs = {80, 200})
    void aFetchThatCameTooLateServesTheNextRequest(long afterMs) {
        world.ports.put(prompt, 0, 5);
        world.submitted("r", prompt);
        world.prefetch("r", prompt, 0, 5);
        world.advance(afterMs);
        world.endAll(Kind.READ);
        Offer next = world.offered(world.submit("next", prompt, 0));
        assertEquals(Offer.Reason.ALL_ON_HOST, next.reason());
        assertEquals(5, next.sources().size());
    }

    // --- a controller that is behind

    /** 5 blocks that only the store has: a request for them waits for 80 ms. */
    private Prompt other(int number) {
        Prompt other = Prompt.range(2, 100 * number, 100 * number + 11);
        world.ports.put(other, 0, 5);
        return other;
    }

    private boolean waits(long call) {
        return world.seen.replies.get(call) instanceof RecordedOutput.Waiting;
    }

    /** The first has waited for 80 ms in vain, so the next, which would wait as long, does not wait, and the store is not asked. */
    @Test
    void aRequestDoesNotWaitWhenTheControllerAnswersLater() {
        world.submitted("first", other(1));
        world.advance(79);
        assertTrue(waits(world.submitted("before", other(2))));
        world.advance(1);
        Prompt next = other(3);
        Offer offer = world.offered(world.submit("next", next, 0));
        assertEquals(Offer.none(0, Offer.Reason.CONTROLLER_BEHIND), offer);
        assertEquals(List.of(), world.ports.of(Kind.PROBE));
        assertTrue(world.seen.events(RequestSubmitted.class).getLast().answered());
        assertEquals(1, world.core.status().counters().get(AgentCounter.CONTROLLER_BEHIND));
    }

    /** After 20 ms without an answer, a request that 1 block keeps waiting for 16 ms does not wait, and one of 5 blocks does. */
    @Test
    void whatTheStoreHasDecidesIt() {
        world.submitted("first", other(1));
        world.advance(20);
        Prompt small = Prompt.range(2, 200, 211);
        world.ports.put(small, 0, 1);
        assertEquals(Offer.Reason.CONTROLLER_BEHIND, world.offered(world.submitted("small", small)).reason());
        assertTrue(waits(world.submitted("large", other(3))));
    }

    /** The command for the first comes after 100 ms: too late for it, and the next waits again. */
    @Test
    void anAnswerEndsTheLag() {
        Prompt first = other(1);
        world.submitted("first", first);
        world.advance(100);
        world.prefetch("first", first, 0, 5);
        assertTrue(waits(world.submitted("next", other(2))));
    }

    /** The second was answered, so the first, submitted before it, will get no answer. */
    @Test
    void anAnswerToALaterRequestIsOneToAllBefore() {
        world.submitted("first", other(1));
        world.advance(10);
        Prompt second = other(2);
        world.submitted("second", second);
        world.advance(70);
        world.resume("second", RequestReason.BELOW_THRESHOLD);
        assertTrue(waits(world.submitted("next", other(3))));
    }

    /** 10 times the longest wait, 2 s: then a request finds out whether the controller answers again. */
    @Test
    void aRequestTriesAgainAfterAWhile() {
        world.submitted("first", other(1));
        world.advance(1_999);
        assertFalse(waits(world.submitted("next", other(2))));
        world.advance(1);
        assertTrue(waits(world.submitted("again", other(3))));
    }
}
