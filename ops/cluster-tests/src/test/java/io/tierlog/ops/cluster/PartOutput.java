/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cluster;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/** The last lines, at most 4,000, of a container since it was cleared, and how often it became ready. Safe for use by several threads. */
final class PartOutput {
    private static final int KEPT = 4_000;
    private static final int SHOWN = 25;
    /** As the authorizer writes it. */
    private static final String DENIED = " is Denied ";

    private final Deque<String> lines = new ArrayDeque<>();
    private final String readyText;
    private final List<String> denials = new ArrayList<>();
    private int ready;

    /** A line with {@code readyText} says that the container is ready. */
    PartOutput(String readyText) {
        this.readyText = readyText;
    }

    synchronized void add(String text) {
        text.lines().filter(line -> !line.isBlank()).forEach(line -> {
            lines.add(line);
            if (line.contains(DENIED)) {
                denials.add(line);
            }
            ready += line.contains(readyText) ? 1 : 0;
            if (lines.size() > KEPT) {
                lines.removeFirst();
            }
        });
    }

    synchronized void clear() {
        lines.clear();
        denials.clear();
        ready = 0;
    }

    /** What the authorizer of a broker has refused. */
    synchronized List<String> denials() {
        return List.copyOf(denials);
    }

    /** How often it became ready. */
    synchronized int ready() {
        return ready;
    }

    /** The last lines. */
    synchronized String tail() {
        return String.join("\n", lines.stream().skip(Math.max(0, lines.size() - SHOWN)).toList());
    }

    /** All lines that are kept. */
    synchronized String all() {
        return String.join("\n", lines);
    }
}
