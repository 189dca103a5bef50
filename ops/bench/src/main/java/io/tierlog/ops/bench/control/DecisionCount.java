/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench.control;

import io.tierlog.controller.core.invariant.LogInvariants;
import io.tierlog.schemas.decision.Fact;
import java.util.Map;
import java.util.TreeMap;

/** Counts the decisions that given events led to, by type. Confined to one thread. */
final class DecisionCount {
    private final long[] ends;
    private final long[] decided;
    private final Map<String, Long> types = new TreeMap<>();

    /** @param ends of each partition's events; what later ones led to is not counted */
    DecisionCount(long[] ends) {
        this.ends = ends.clone();
        this.decided = new long[ends.length];
    }

    void add(int partition, Fact decision) {
        long cause = LogInvariants.causeOffset(decision);
        if (cause >= 0 && cause < ends[partition]) {
            types.merge(decision.schema().getName(), 1L, Long::sum);
            decided[partition] = Math.max(decided[partition], cause + 1);
        }
    }

    Map<String, Long> types() {
        return Map.copyOf(types);
    }

    /** The offset after the last event of a partition that led to a decision; 0 when none did. */
    long decided(int partition) {
        return decided[partition];
    }
}
