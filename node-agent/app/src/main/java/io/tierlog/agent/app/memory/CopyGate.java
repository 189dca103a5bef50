/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.memory;

/**
 * A gate that tests and drills set in a stream of copies, to a device or a store: it stands before every block.
 *
 * <p>Safe for use by several threads: the stream calls {@link #pass}, other threads the rest. Open at first. Trade-off of an open
 * gate is one uncontended lock per block.
 */
public final class CopyGate {
    private static final long NEVER = Long.MAX_VALUE;

    private long passed;
    private long pauseAt = NEVER;
    private long failAt = NEVER;
    private boolean waiting;
    private boolean released;

    /** Lets {@code blocks} more blocks through, then holds the stream before the next one until {@link #resume}. */
    public synchronized void pauseAfter(long blocks) {
        pauseAt = passed + blocks;
    }

    /** Lets a held stream go on, and takes back a {@link #pauseAfter} that has not been reached. */
    public synchronized void resume() {
        pauseAt = NEVER;
        notifyAll();
    }

    /** Makes the {@code k}-th block from now on fail, 1 for the next. */
    public synchronized void failAt(long k) {
        failAt = passed + k - 1;
    }

    /** Blocks that have come to the gate and gone on, count. */
    public synchronized long passed() {
        return passed;
    }

    /** True while a stream is held here. */
    public synchronized boolean holds() {
        return waiting;
    }

    /** Opens the gate for ever; for the end of the stream. */
    synchronized void release() {
        released = true;
        notifyAll();
    }

    /** {@link #pass} for callers that are not to be interrupted: an interrupt is kept for later and counts as a failure. */
    public boolean admit() {
        try {
            return pass();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    /** Called by the stream before each block; returns false when that block shall fail. */
    synchronized boolean pass() throws InterruptedException {
        while (passed >= pauseAt && !released) {
            waiting = true;
            try {
                wait();
            } finally {
                waiting = false;
            }
        }
        boolean fails = passed == failAt;
        passed++;
        return !fails;
    }
}
