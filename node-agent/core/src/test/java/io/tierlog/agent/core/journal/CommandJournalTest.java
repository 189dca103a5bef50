/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core.journal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.tierlog.agent.core.journal.CommandJournal.State;
import io.tierlog.agent.core.journal.CommandJournal.Verdict;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.command.CommandHeader;
import io.tierlog.schemas.command.ReleasePins;
import io.tierlog.schemas.command.ReleaseRequest;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class CommandJournalTest {
    private static final Bytes A = Bytes.ofHex("0a");
    private static final Bytes B = Bytes.ofHex("0b");

    private final CommandJournal<String> journal = new CommandJournal<>(3, 10);

    @Test
    void numbersRiseAndMayHaveGaps() {
        journal.startAfter(4);
        assertEquals(Verdict.STALE, journal.admit(4, A), "of an earlier incarnation");
        assertEquals(Verdict.RUN, journal.admit(5, A));
        assertEquals(Verdict.RUN, journal.admit(8, A));
        assertEquals(Verdict.STALE, journal.admit(7, A));
        assertEquals(Verdict.REPEAT, journal.admit(5, A));
        assertEquals(Verdict.CONFLICT, journal.admit(5, B));
        assertEquals(8, journal.highest());
    }

    @Test
    void theOldestCommandIsForgottenFirst() {
        for (long number = 1; number <= 4; number++) {
            assertEquals(Verdict.RUN, journal.admit(number, A));
        }
        assertEquals(Verdict.STALE, journal.admit(1, A));
        assertEquals(Verdict.REPEAT, journal.admit(2, A));
    }

    @Test
    void anOperationEndsOnce() {
        journal.started("op");
        assertEquals(State.RUNNING, journal.state("op"));
        assertThrows(IllegalStateException.class, () -> journal.started("op"));
        journal.ended("op", "done", 1);
        assertEquals(Optional.of("done"), journal.answer("op"));
        assertThrows(IllegalStateException.class, () -> journal.ended("op", "again", 1));
        journal.neverStarted("late", "never");
        assertEquals(State.NEVER_STARTED, journal.state("late"));
    }

    @Test
    void endedOperationsAreForgottenByNumberAndByBlocksButRunningOnesNever() {
        journal.started("running");
        for (int i = 1; i <= 4; i++) {
            journal.ended("op" + i, "done", 1);
        }
        assertEquals(State.UNKNOWN, journal.state("op1"));
        assertEquals(State.ENDED, journal.state("op2"));
        assertEquals(State.RUNNING, journal.state("running"));
        journal.ended("large", "done", 9);
        assertEquals(State.UNKNOWN, journal.state("op3"));
        assertEquals(State.ENDED, journal.state("op4"), "1 + 9 blocks are kept");
        journal.ended("huge", "done", 50);
        assertEquals(State.ENDED, journal.state("huge"), "the newest is always kept");
        assertEquals(2, journal.size());
    }

    @Test
    void theDigestIsOfTheContentWithoutTheEnvelope() {
        CommandHeader header = new CommandHeader("c", 1);
        Envelope first = new Envelope("node/a", "controller/0", 1, 1, 0, 0, null, null, null);
        Envelope again = new Envelope("node/a", "controller/0", 1, 2, 77, 5, "cause", "trace", null);
        assertEquals(CommandDigest.of(new ReleasePins(first, header, "x")), CommandDigest.of(new ReleasePins(again, header, "x")));
        assertNotEquals(CommandDigest.of(new ReleasePins(first, header, "x")), CommandDigest.of(new ReleasePins(first, header, "y")));
        assertNotEquals(
                CommandDigest.of(new ReleasePins(first, header, "x")),
                CommandDigest.of(new ReleaseRequest(first, header, "x", 0)));
    }
}
