/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.streams.api;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.events.Codec;
import io.tierlog.events.KafkaAccess;
import io.tierlog.events.Schemas;
import io.tierlog.events.topic.Topics;
import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.decision.Fact;
import io.tierlog.schemas.decision.InputApplied;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A request about a busy node that keeps three facts. */
class DecisionWaiterTest {
    private static final int MOST_FACTS = 3;

    private final CommittedState view = new CommittedState(
            new LogAccess(KafkaAccess.of("localhost:1"), Topics.DEFAULT, new Codec(Schemas.bundled()), 1, "changelog"), ApiLimits.DEFAULTS);
    private final DecisionWaiter waiter = new DecisionWaiter(view, "node/a", 1, MOST_FACTS);

    private static Fact decided(long offset) {
        return decided(offset, offset);
    }

    private static Fact decided(long offset, long sequence) {
        return new InputApplied(new Envelope("node/a", "controller/0", 0, sequence, 0, 0, "node/a@" + offset, null, null));
    }

    private static List<String> causes(List<Fact> facts) {
        return facts.stream().map(fact -> String.valueOf(fact.envelope().cause())).toList();
    }

    /** The controller is behind: it decides 100 earlier inputs first. */
    @Test
    void factsOfOtherInputsDoNotReplaceItsOwn() {
        waiter.input(100);
        for (long offset = 0; offset < 100; offset++) {
            waiter.take(decided(offset));
        }
        assertEquals(List.of(), waiter.consequences());
        waiter.take(decided(100));
        assertFalse(waiter.settled());
        waiter.take(decided(101));
        assertTrue(waiter.settled());
        assertEquals(List.of("node/a@100"), causes(waiter.consequences()));
    }

    /** The input is decided before its producer knows its offset. */
    @Test
    void factsThatCameBeforeTheOffsetWasKnownCount() {
        for (long offset = 90; offset <= 101; offset++) {
            waiter.take(decided(offset));
        }
        assertEquals(List.of(), waiter.consequences());
        waiter.input(100);
        assertEquals(List.of("node/a@100"), causes(waiter.consequences()));
    }

    @Test
    void ofAnInputWithManyTheFirstOnesAreKept() {
        waiter.input(7);
        for (int i = 0; i < 10; i++) {
            waiter.take(decided(7, i));
        }
        assertEquals(List.of(0L, 1L, 2L), waiter.consequences().stream().map(fact -> fact.envelope().sequence()).toList());
    }
}
