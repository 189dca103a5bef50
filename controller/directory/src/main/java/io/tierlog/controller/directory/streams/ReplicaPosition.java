/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.directory.streams;

import io.tierlog.controller.directory.query.Freshness;

/**
 * The position of one partition's replica here, against the last known end of the log. Safe for use by several threads.
 *
 * <p>Offsets alone would never reach the end of a log that is written in transactions, since markers have offsets too and no record shows them. The
 * consumer's position passes over them, so it counts as soon as all records that the consumer returned are applied.
 */
final class ReplicaPosition {
    private static final long NONE = -1;

    private long handedOut = NONE;
    private long taken = NONE;
    private long position = NONE;
    private long end = NONE;
    private long endSeenMs;
    private long atEndMs;
    private long lastRecordMs;

    /** The task restarts from what was committed: records that an earlier one got do not count, neither those it applied nor the others. */
    synchronized void begin() {
        handedOut = NONE;
        taken = NONE;
        position = NONE;
        atEndMs = 0;
        lastRecordMs = 0;
    }

    /**
     * The consumer has polled.
     *
     * @param at its position
     * @param last offset of the last record that it handed out now; -1 for none
     */
    synchronized void polled(long at, long last) {
        position = at;
        if (last != NONE) {
            handedOut = last;
        }
    }

    /** A record is applied. */
    synchronized void took(long offset, long recordMs) {
        taken = offset;
        lastRecordMs = Math.max(lastRecordMs, recordMs);
    }

    /**
     * The log was seen to end here.
     *
     * @param offset where the next committed record goes
     * @param askedMs when the end was requested
     */
    synchronized void ended(long offset, long askedMs) {
        noteEnd();
        end = offset;
        endSeenMs = askedMs;
    }

    private long reached() {
        return handedOut == NONE || taken >= handedOut ? position : Math.max(taken + 1, 0);
    }

    /** The state holds all that was on the log when its end was last looked at. */
    private void noteEnd() {
        if (end != NONE && position != NONE && reached() >= end) {
            atEndMs = Math.max(atEndMs, endSeenMs);
        }
    }

    /**
     * Freshness of an answer now.
     *
     * @param staleAfterMs an answer that is older is called stale
     */
    synchronized Freshness freshness(long nowMs, int staleAfterMs) {
        noteEnd();
        long behind = end == NONE || position == NONE ? 0 : Math.max(0, end - reached());
        long asOfMs = Math.max(atEndMs, lastRecordMs);
        return new Freshness(position == NONE || nowMs - atEndMs > staleAfterMs, behind, asOfMs);
    }
}
