/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.engine;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Says once that a caller has gone, and never before the core has been given its call: the core would take it for one that is over, and then begin
 * it. Safe for use by several threads.
 */
final class Departure {
    private final Runnable says;
    private final AtomicBoolean gone = new AtomicBoolean();
    /** Of the two things that must have happened. */
    private final AtomicInteger happened = new AtomicInteger();

    Departure(Runnable says) {
        this.says = says;
    }

    /** The caller waits no more; once more is nothing. */
    void gone() {
        if (gone.compareAndSet(false, true)) {
            happens();
        }
    }

    /** The core has been given the call, or never will be; to be called once. */
    void passed() {
        happens();
    }

    private void happens() {
        if (happened.incrementAndGet() == 2) {
            says.run();
        }
    }
}
