/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.streams;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import io.tierlog.events.RecordStamp;
import io.tierlog.schemas.Envelope;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
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

    private void assertSeen(@Nullable Long last, Long... foreign) {
        DecisionTail seen = DecisionTail.of(log, this::last);
        assertEquals(last, seen.last() == null ? null : Long.valueOf(seen.last().offset()));
        assertEquals(List.of(foreign), seen.foreign().stream().map(DecisionTail.Entry::offset).toList());
    }

    @Test
    void theStateEndsWithTheLog() {
        assertSeen(3L);
        log.subList(0, 2).clear(); // the tail begins later
        assertSeen(3L);
    }

    @Test
    void whatDoesNotFollowTheStateIsForeign() {
        append("a", new RecordStamp(8, 80)); // a9
        append("b", new RecordStamp(1, 77)); // b2, and b1 has the checksum 10
        append("b", new RecordStamp(0, 0)); // b1 once more, and as it was
        log.set(6, new DecisionTail.Entry(6, log.get(6).envelope(), new RecordStamp(1, 66))); // other bytes
        append("c", new RecordStamp(4, 40)); // c5, and there is no c
        assertSeen(3L, 4L, 5L, 6L, 7L);
        decide("a");
        assertSeen(8L, 4L, 5L, 6L, 7L);
    }

    @Test
    void aForeignRecordThatFollowsTheStateMayBeADecisionThatIsLost() {
        append("b", last("b"));
        assertSeen(null);
    }

    /** After the decisions that a state has lost, its first one follows the state: b2 does, and a5 and a6 hide nothing. */
    @Test
    void decisionsThatTheStateHasLostAreNotForeign() {
        RecordStamp a = last("a");
        RecordStamp b = last("b");
        List.of("b", "a", "a").forEach(this::decide);
        state.put("a", a);
        state.put("b", b);
        assertSeen(null);
        log.remove(4); // b2: then it is a4 that follows
        assertSeen(null);
    }

    /** The state is ahead of the log: a4 is lost, or not shown yet. */
    @Test
    void decisionsThatTheLogHasLostAreNotForeign() {
        state.put("a", new RecordStamp(4, 40));
        append("b", new RecordStamp(7, 7));
        assertSeen(null);
        log.clear();
        assertSeen(null);
    }

    @Test
    void whatCannotBeReadIsForeignOnlyBeforeTheEnd() {
        log.add(new DecisionTail.Entry(4, null, RecordStamp.NONE));
        assertSeen(null);
        decide("b");
        assertSeen(5L, 4L);
        assertNull(log.get(4).envelope());
    }
}
