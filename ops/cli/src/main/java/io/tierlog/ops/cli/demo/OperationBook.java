/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.demo;

import io.tierlog.schemas.OperationKind;
import io.tierlog.schemas.OperationState;
import io.tierlog.schemas.decision.Fact;
import io.tierlog.schemas.decision.OperationEnded;
import io.tierlog.schemas.decision.OperationIssued;
import io.tierlog.schemas.decision.OrphanAdopted;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/**
 * Keeps the books of operations from the decisions alone: started = done + failed + cancelled + fenced + unfinished, and each has one end.
 *
 * <p>Not thread-safe. It holds the ids of unfinished operations only, and counts an end without a start, or a second start, as a breach.
 */
final class OperationBook {
    /** Counts of operations. {@code breaches} is 0 on a right log. */
    record Totals(long started, long done, long failed, long cancelled, long fenced, long unfinished, long breaches) {}

    private final Set<String> open = new HashSet<>();
    private final Map<OperationState, Long> ends = new EnumMap<>(OperationState.class);
    private final Map<OperationKind, Long> startedByKind = new EnumMap<>(OperationKind.class);
    private final Map<OperationKind, Long> bytesByKind = new EnumMap<>(OperationKind.class);
    private long started;
    private long breaches;

    /** Takes one decision into the books; most are none of its business. */
    void take(Fact decision) {
        if (decision instanceof OperationIssued issued) {
            start(issued.kind());
            if (!open.add(issued.operation())) {
                breaches++;
            }
        } else if (decision instanceof OperationEnded ended) {
            if (!open.remove(ended.operation())) {
                breaches++;
            }
            end(ended.kind(), ended.state(), ended.movedBytes());
        } else if (decision instanceof OrphanAdopted orphan) {
            start(orphan.kind());
            end(orphan.kind(), orphan.state(), orphan.movedBytes());
        }
    }

    private void start(OperationKind kind) {
        started++;
        startedByKind.merge(kind, 1L, Long::sum);
    }

    private void end(OperationKind kind, OperationState state, long bytes) {
        ends.merge(state, 1L, Long::sum);
        bytesByKind.merge(kind, bytes, Long::sum);
    }

    Totals totals() {
        return new Totals(
                started,
                ends.getOrDefault(OperationState.DONE, 0L),
                ends.getOrDefault(OperationState.FAILED, 0L),
                ends.getOrDefault(OperationState.CANCELLED, 0L),
                ends.getOrDefault(OperationState.FENCED, 0L),
                open.size(),
                breaches);
    }

    Map<OperationKind, Long> startedByKind() {
        return new EnumMap<>(startedByKind);
    }

    Map<OperationKind, Long> bytesByKind() {
        return new EnumMap<>(bytesByKind);
    }
}
