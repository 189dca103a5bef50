/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.peer;

import java.util.ArrayList;
import java.util.List;

/**
 * A gate that tests and drills set before every chunk that is sent. Safe for use by several threads. Open by default; what stands before
 * it holds no thread.
 */
public final class PeerGate {
    private long left = Long.MAX_VALUE;
    private final List<Runnable> waiting = new ArrayList<>();

    /** Lets so many more chunks through, then none until {@link #open}. */
    public synchronized void closeAfter(long chunks) {
        left = chunks;
    }

    /** Lets all through. */
    public void open() {
        List<Runnable> all;
        synchronized (this) {
            left = Long.MAX_VALUE;
            all = List.copyOf(waiting);
            waiting.clear();
        }
        all.forEach(Runnable::run);
    }

    /** Sends that stand here, count. */
    public synchronized int waiting() {
        return waiting.size();
    }

    /** Whether one more chunk may go; if not, {@code goOn} runs when the gate is opened. */
    synchronized boolean pass(Runnable goOn) {
        if (left > 0) {
            left -= left == Long.MAX_VALUE ? 0 : 1;
            return true;
        }
        if (!waiting.contains(goOn)) {
            waiting.add(goOn);
        }
        return false;
    }
}
