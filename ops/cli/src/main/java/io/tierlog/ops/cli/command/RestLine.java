/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.command;

import java.io.PrintWriter;

/**
 * How the demo lets a controller in another process bring the log to rest: it ends the standard input of that process, which then decides all that is
 * on the log and prints a line of JSON. A signal would not do, since it must also end a controller at once. Static and without state.
 */
public final class RestLine {
    /** The flag of the process: how many milliseconds it may take. */
    public static final String FLAG = "--rest-ms";
    /** The value of the field {@code event}. */
    public static final String EVENT = "rest";
    /** The field for whether the log is at rest. */
    public static final String COMPLETE = "complete";

    private RestLine() {}

    /** Prints the line at once. */
    public static void print(PrintWriter out, boolean complete) {
        out.println("{\"event\":\"" + EVENT + "\",\"" + COMPLETE + "\":" + complete + "}");
        out.flush();
    }
}
