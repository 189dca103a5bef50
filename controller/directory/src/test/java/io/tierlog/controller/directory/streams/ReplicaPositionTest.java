/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.directory.streams;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.tierlog.controller.directory.query.Freshness;
import org.junit.jupiter.api.Test;

/** How far a partition is, moment by moment: offsets 0 to 4 are records, 5 is the marker of their transaction. */
class ReplicaPositionTest {
    private final ReplicaPosition reach = new ReplicaPosition();

    private static Freshness of(boolean stale, long behind, long asOfMs) {
        return new Freshness(stale, behind, asOfMs);
    }

    @Test
    void nothingIsKnownBeforeThePositionIs() {
        assertEquals(of(true, 0, 0), reach.freshness(1_000, 500));
        reach.ended(6, 900);
        assertEquals(of(true, 0, 0), reach.freshness(1_000, 500));
    }

    @Test
    void theEndIsReachedThoughTheMarkerIsNotARecord() {
        reach.polled(6, 4);
        reach.ended(6, 1_000);
        // Returned by the consumer, and not applied yet.
        assertEquals(of(true, 6, 0), reach.freshness(1_000, 500));
        reach.took(3, 700);
        assertEquals(of(true, 2, 700), reach.freshness(1_000, 500));
        reach.took(4, 710);
        assertEquals(of(false, 0, 1_000), reach.freshness(1_100, 500));
    }

    @Test
    void anAnswerGrowsOldWithoutReadsOfTheEnd() {
        reach.polled(6, -1);
        reach.ended(6, 1_000);
        assertEquals(of(false, 0, 1_000), reach.freshness(1_500, 500));
        assertEquals(of(true, 0, 1_000), reach.freshness(1_501, 500));
        reach.ended(6, 1_400);
        assertEquals(of(false, 0, 1_400), reach.freshness(1_501, 500));
    }

    @Test
    void whatIsNewIsBehindAndWhatWasReachedStaysReached() {
        reach.polled(6, -1);
        reach.ended(6, 1_000);
        reach.ended(10, 2_000);
        assertEquals(of(false, 4, 1_000), reach.freshness(1_400, 500));
        reach.polled(10, 8);
        reach.took(8, 1_950);
        assertEquals(of(false, 0, 2_000), reach.freshness(2_100, 500));
    }

    @Test
    void aNewTaskIsNotHeldUpByWhatTheLastWasHanded() {
        reach.polled(6, 4);
        reach.begin();
        reach.polled(6, -1);
        reach.ended(6, 1_000);
        assertEquals(of(false, 0, 1_000), reach.freshness(1_100, 500));
    }

    /** The end of the log was reached once; the next task begins before it. */
    @Test
    void aNewTaskIsNotAtTheEndBecauseTheLastOneWas() {
        reach.polled(6, -1);
        reach.ended(6, 1_000);
        assertEquals(of(false, 0, 1_000), reach.freshness(1_100, 500));
        reach.begin();
        reach.polled(4, -1);
        assertEquals(of(true, 2, 0), reach.freshness(1_100, 500));
        reach.polled(6, 5);
        reach.took(5, 900);
        assertEquals(of(false, 0, 1_000), reach.freshness(1_100, 500));
    }
}
