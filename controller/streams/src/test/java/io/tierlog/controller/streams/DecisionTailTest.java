/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.streams;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.events.RecordStamp;
import io.tierlog.schemas.Envelope;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** The last decisions of a partition, and what a forger or a lost state makes of them. The log is a1 b1 a2 a3; a checksum is 10 times the number. */
class DecisionTailTest {
    private final List<DecisionTail.Entry> log = new ArrayList<>();
    private final Map<String, RecordStamp> state = new TreeMap<>();

    DecisionTailTest() {
        List.of("a", "b", "a", "a").forEach(this::decide);
    }

    private RecordStamp last(String aggregate) {
        return state.getOrDefault(aggregate, RecordStamp.NONE);
    }

    /** The state and the log go on. */
    private void decide(String aggregate) {
        append(aggregate, last(aggregate));
        state.put(aggregate, log.getLast().stamp());
    }

    /** A record that follows {@code before}. */
    private void append(String aggregate, RecordStamp before) {
        Envelope envelope = new Envelope(aggregate, "controller/0", 0, before.sequence() + 1, before.crc32c(), 0, null, null, null, null);
        log.add(new DecisionTail.Entry(log.size(), envelope, new RecordStamp(before.sequence() + 1, 10 * (int) before.sequence() + 10)));
    }

    private void assertForeign(Long... foreign) {
        assertEquals(List.of(foreign), DecisionTail.unchained(log, this::last).stream().map(DecisionTail.Entry::offset).toList());
    }

    private boolean mayBeLost(String aggregate, RecordStamp before) {
        append(aggregate, before);
        Envelope envelope = Objects.requireNonNull(log.removeLast().envelope());
        return DecisionTail.mayBeLost(envelope, this::last);
    }

    @Test
    void theDecisionsOfTheStateAreItsChains() {
        assertForeign();
        log.subList(0, 2).clear(); // the part that is read begins later
        assertForeign();
    }

    @Test
    void whatIsNotInTheChainIsForeign() {
        append("a", new RecordStamp(8, 80)); // a9
        append("b", new RecordStamp(1, 77)); // b2, and b1 has the checksum 10
        append("c", new RecordStamp(4, 40)); // c5, and there is no c
        append("b", last("b")); // b2 as it may be; then another a comes, and the state has no b2
        log.add(new DecisionTail.Entry(8, null, RecordStamp.NONE));
        decide("a");
        assertForeign(4L, 5L, 6L, 7L, 8L);
    }

    /** After the decisions that a state has lost, its first one follows the state; copies and far numbers do not. */
    @Test
    void onlyTheNextDecisionMayBeLost() {
        assertTrue(mayBeLost("a", last("a")));
        assertTrue(mayBeLost("b", last("b")));
        assertTrue(mayBeLost("c", RecordStamp.NONE));
        assertFalse(mayBeLost("a", new RecordStamp(2, 20)), "a3 once more");
        assertFalse(mayBeLost("a", new RecordStamp(3, 31)), "a4 after another a3");
        assertFalse(mayBeLost("a", new RecordStamp(4, 40)), "a5");
        assertFalse(mayBeLost("c", new RecordStamp(4, 40)));
    }
}
