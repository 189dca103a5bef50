/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.events;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import org.apache.kafka.common.errors.ApplicationRecoverableException;
import org.apache.kafka.common.errors.InvalidTxnStateException;
import org.apache.kafka.common.errors.OutOfOrderSequenceException;
import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.common.errors.TransactionAbortedException;

/**
 * Failures of a stream thread that are the brokers' and pass: one took so long that Streams gave up, or ended a transaction that the thread
 * still held for open. Another thread goes on from what is committed. When they do not pass, the process ends, and its supervisor sees
 * that. Safe for use by several threads.
 */
public final class PassingFaults {
    /** Several threads meet one fault: failures within this time of the first are one. */
    public static final Duration TOGETHER = Duration.ofSeconds(30);
    /** How many faults a process survives in {@link #WINDOW}. */
    public static final int MOST = 5;
    /** For how long a fault counts. */
    public static final Duration WINDOW = Duration.ofMinutes(10);

    private static final String TRIED_AGAIN = "timed out and must be retried";

    private final Deque<Long> nanos = new ArrayDeque<>();

    /** None so far. */
    public PassingFaults() {}

    /**
     * Counts a failure that is of this kind.
     *
     * @param nowNanos from {@link System#nanoTime}
     * @return whether another thread shall go on: it passes, and there were not too many
     */
    public synchronized boolean survives(Throwable failure, long nowNanos) {
        if (!passes(failure)) {
            return false;
        }
        while (!nanos.isEmpty() && nowNanos - nanos.getFirst() > WINDOW.toNanos()) {
            nanos.removeFirst();
        }
        if (!nanos.isEmpty() && nowNanos - nanos.getLast() < TOGETHER.toNanos()) {
            return true;
        }
        if (nanos.size() >= MOST) {
            return false;
        }
        nanos.addLast(nowNanos);
        return true;
    }

    private static boolean passes(Throwable failure) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            // Streams tries a commit that took too long again, from its first call, and the producer wants the last one.
            boolean triedAgain = cause instanceof IllegalStateException && String.valueOf(cause.getMessage()).endsWith(TRIED_AGAIN);
            if (triedAgain || cause instanceof RetriableException || cause instanceof ApplicationRecoverableException
                    || cause instanceof InvalidTxnStateException || cause instanceof TransactionAbortedException
                    || cause instanceof OutOfOrderSequenceException) {
                return true;
            }
        }
        return false;
    }
}
