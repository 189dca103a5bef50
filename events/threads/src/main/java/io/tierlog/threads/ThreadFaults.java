/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.threads;

import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What threads threw that nothing expects, and that did not end them. Each fault is counted; of one thread at most one in {@value #QUIET_S} s is
 * logged. Safe for use by several threads, and callable when memory is short: what fails here is dropped.
 */
public final class ThreadFaults {
    /** For so long a fault is shown by {@link #recent}, s. */
    static final long SHOWN_S = 600;

    /** Names beyond so many are counted under {@link #OTHERS}. */
    static final int MOST_NAMES = 100;

    static final String OTHERS = "others";

    private static final long QUIET_S = 10;
    private static final Logger LOG = LoggerFactory.getLogger(ThreadFaults.class);
    private static final ThreadFaults PROCESS = new ThreadFaults(System::nanoTime);

    private final LongSupplier nowNs;
    private final Map<String, Faults> byThread = new TreeMap<>();
    private String last = "";
    private String lastText = "";
    private long lastNs;

    private static final class Faults {
        private long count;
        private long logged;
        private long loggedNs;
    }

    /** For tests: faults of no process, with a clock of one's own. */
    ThreadFaults(LongSupplier nowNs) {
        this.nowNs = nowNs;
    }

    /** Those of this process. */
    public static ThreadFaults ofProcess() {
        return PROCESS;
    }

    /**
     * Counts a fault and logs it.
     *
     * @param thread its name, or that of its pool: of a short closed list
     */
    public void met(String thread, Throwable fault) {
        try {
            note(thread, fault);
        } catch (RuntimeException | Error again) {
            // Memory is short: the caller goes on, which matters more than the line. Nothing is added to the fault: both may be the same object.
        }
    }

    private synchronized void note(String thread, Throwable fault) {
        String name = byThread.containsKey(thread) || byThread.size() < MOST_NAMES ? thread : OTHERS;
        Faults faults = byThread.computeIfAbsent(name, _ -> new Faults());
        long now = nowNs.getAsLong();
        faults.count++;
        last = name;
        lastNs = now;
        lastText = fault.toString();
        if (faults.logged == 0 || now - faults.loggedNs >= TimeUnit.SECONDS.toNanos(QUIET_S)) {
            long before = faults.count - 1 - faults.logged;
            faults.logged = faults.count;
            faults.loggedNs = now;
            LOG.error("the thread {} met a fault that nothing expects, and goes on ({} before it were not logged)", thread, before, fault);
        }
    }

    /** How many each thread met since the start of the process; only threads that met one. */
    public synchronized Map<String, Long> counts() {
        Map<String, Long> counts = new TreeMap<>();
        byThread.forEach((thread, faults) -> counts.put(thread, faults.count));
        return counts;
    }

    /** Forgets all of them. For tests, whose processes share a JVM. */
    public synchronized void forget() {
        byThread.clear();
        last = "";
    }

    /** A sentence about the last fault, for {@value #SHOWN_S} s after it; empty when there is none. */
    public synchronized String recent() {
        Faults faults = byThread.get(last);
        long ageS = TimeUnit.NANOSECONDS.toSeconds(nowNs.getAsLong() - lastNs);
        return faults == null || ageS >= SHOWN_S ? ""
                : "the thread " + last + " met a fault that nothing expects " + ageS + " s ago, its number " + faults.count + ", and goes on: "
                        + lastText;
    }
}
