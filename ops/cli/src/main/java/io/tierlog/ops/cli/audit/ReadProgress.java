/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.audit;

import java.io.PrintWriter;
import java.util.Locale;

/** How far the reading of a log is: on a terminal one line that is written over and over, else a line each time. Confined to one thread. */
final class ReadProgress {
    private final PrintWriter err;
    private final boolean terminal;
    private int lastLength;

    ReadProgress(PrintWriter err, boolean terminal) {
        this.err = err;
        this.terminal = terminal;
    }

    /**
     * Prints it.
     *
     * @param read offsets read so far, 0 or more
     * @param total offsets to read, as far as it is known; more may be found
     * @param elapsedMs since the reading began
     */
    void print(long read, long total, long elapsedMs) {
        String text = text(read, total, elapsedMs);
        if (terminal) {
            err.print("\r" + text + " ".repeat(Math.max(0, lastLength - text.length())));
            lastLength = text.length();
        } else {
            err.println(text);
        }
        err.flush();
    }

    /** Goes to the next line, where one is open. */
    void end() {
        if (lastLength > 0) {
            err.println();
            err.flush();
        }
    }

    private static String text(long read, long total, long elapsedMs) {
        String text = String.format(Locale.ROOT, "%d of %d records after %d s", read, total, elapsedMs / 1_000);
        if (read <= 0 || total < read) {
            return text;
        }
        // Rounded down, and up: it is not done before it is done.
        return text + String.format(Locale.ROOT, ", %d %%, %d s left", 100 * read / total, Math.ceilDiv((total - read) * elapsedMs, read * 1_000));
    }
}
