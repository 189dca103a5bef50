/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.http;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A line of the log {@code tierlog.audit} for each refused call that would change something: who asked for what, from where. Static and thread-safe.
 * A flood is cut to {@value #MOST} lines a second; the next line says how many are missing.
 */
public final class RefusedCalls {
    private static final Logger AUDIT = LoggerFactory.getLogger("tierlog.audit");
    private static final int MOST = 100;
    private static final long SECOND_NS = 1_000_000_000;
    private static long secondNs = System.nanoTime();
    private static int lines;
    private static long leftOut;

    private RefusedCalls() {}

    /**
     * Logs one.
     *
     * @param what the call: method and path, or the name of the gRPC method
     * @param from address of the caller
     */
    public static synchronized void log(String what, String from, Problem problem) {
        long now = System.nanoTime();
        if (now - secondNs > SECOND_NS) {
            secondNs = now;
            lines = 0;
        }
        if (lines == MOST) {
            leftOut++;
            return;
        }
        lines++;
        AUDIT.warn("refused {} from {}: {} {}{}", oneLine(what), from, problem.kind(), oneLine(problem.detail()),
                leftOut == 0 ? "" : " (" + leftOut + " more were refused and not logged)");
        leftOut = 0;
    }

    private static String oneLine(String text) {
        return text.replaceAll("\\p{Cntrl}", "?");
    }
}
