/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.audit;

import io.tierlog.controller.core.invariant.LogInvariants;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * Result of an audit.
 *
 * @param partitions partitions read
 * @param records events and facts read
 * @param bytes their bytes, without keys
 * @param elapsedMs time it took, in milliseconds
 * @param operations operations by how they ended
 * @param first the first wrong record; empty when there is none
 * @param findings findings by check: BYTES, CODE, HEADS, NUMBERING, I1 to I13; checks without findings are left out
 * @param notes what was not checked, a sentence each
 */
public record VerifyReport(int partitions, long records, long bytes, long elapsedMs, LogInvariants.Counts operations, Optional<Finding> first,
        Map<String, Long> findings, List<String> notes) {
    /** The same, with more notes. */
    public VerifyReport with(List<String> more) {
        List<String> all = new ArrayList<>(notes);
        all.addAll(more);
        return new VerifyReport(partitions, records, bytes, elapsedMs, operations, first, findings, List.copyOf(all));
    }

    /**
     * The same, with what another check has found.
     *
     * @param found how many findings
     * @param more the first of them, the earliest first; it goes before one that may only follow from it
     */
    public VerifyReport with(List<Finding> more, long found) {
        if (more.isEmpty()) {
            return this;
        }
        Map<String, Long> all = new TreeMap<>(findings);
        all.merge(more.getFirst().check(), found, Long::sum);
        Optional<Finding> theirs = first.filter(Finding::isRoot).or(() -> Optional.of(more.getFirst()));
        return new VerifyReport(partitions, records, bytes, elapsedMs, operations, theirs, Map.copyOf(all), notes);
    }

    /** Whether there are no findings. */
    public boolean holds() {
        return first.isEmpty();
    }

    /** Records a second. */
    public double recordsPerSecond() {
        return records * 1_000.0 / Math.max(1, elapsedMs);
    }
}
