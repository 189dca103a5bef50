/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core.copy;

import java.util.ArrayList;
import java.util.List;

/**
 * Copies that are queued together. They touch no byte of a destination twice, so they may run in any order. Immutable.
 *
 * @param copies in the order they are queued; none is a plan too
 */
public record CopyPlan(List<Copy> copies) {
    /** Nothing to copy. */
    public static final CopyPlan EMPTY = new CopyPlan(List.of());

    public CopyPlan {
        copies = List.copyOf(copies);
    }

    /** Bytes that it moves. */
    public long bytes() {
        return copies.stream().mapToLong(Copy::bytes).sum();
    }

    /** The same bytes as single runs. */
    public List<Copy.Linear> runs() {
        return copies.stream().flatMap(copy -> copy.runs().stream()).toList();
    }

    /**
     * Cuts it into plans of at most {@code mostBytes} bytes each, so that no unit of work is larger. Runs are cut anywhere, rectangles
     * between rows where a row fits, gathers between fragments where one fits.
     */
    public List<CopyPlan> cut(long mostBytes) {
        if (mostBytes < 1) {
            throw new IllegalArgumentException("a plan is cut into 1 byte or more, not " + mostBytes);
        }
        List<CopyPlan> plans = new ArrayList<>();
        List<Copy> open = new ArrayList<>();
        long bytes = 0;
        for (Copy copy : copies) {
            for (Copy part : Cuts.of(copy, mostBytes)) {
                if (bytes + part.bytes() > mostBytes) {
                    plans.add(new CopyPlan(open));
                    open.clear();
                    bytes = 0;
                }
                open.add(part);
                bytes += part.bytes();
            }
        }
        if (!open.isEmpty()) {
            plans.add(new CopyPlan(open));
        }
        return plans;
    }
}
