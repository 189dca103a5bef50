/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core.copy;

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

    /** What it does, said in single runs of bytes. */
    public List<Copy.Linear> runs() {
        return copies.stream().flatMap(copy -> copy.runs().stream()).toList();
    }
}
