/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.audit.stats;

import io.tierlog.schemas.OperationKind;
import io.tierlog.schemas.OperationReason;
import io.tierlog.schemas.OperationState;
import io.tierlog.schemas.decision.Fact;
import io.tierlog.schemas.decision.OperationEnded;
import io.tierlog.schemas.decision.OperationIssued;
import io.tierlog.schemas.decision.OrphanAdopted;
import java.util.EnumMap;
import java.util.Map;
import java.util.Optional;

/**
 * Operations of one kind.
 *
 * @param started operations that were issued, or adopted from an agent's report
 * @param ends those that ended, by how
 * @param reasons those that ended, by why; adopted ones have no reason
 * @param doneBlocks blocks that arrived, were there already, or are gone (DROP)
 * @param failedBlocks blocks that did not
 * @param movedBytes bytes moved
 */
public record OperationCounts(
        long started, Map<OperationState, Long> ends, Map<OperationReason, Long> reasons, long doneBlocks, long failedBlocks, long movedBytes) {
    /** No operation. */
    public static final OperationCounts NONE = new OperationCounts(0, Map.of(), Map.of(), 0, 0, 0);

    /** What one fact adds to the operations of its node. */
    public record Added(OperationKind kind, OperationCounts counts) {}

    /** What a fact adds; empty for facts that neither begin nor end an operation. */
    public static Optional<Added> of(Fact fact) {
        // Facts of other types do not concern operations.
        return switch (fact) {
            case OperationIssued f -> Optional.of(new Added(f.kind(), new OperationCounts(1, Map.of(), Map.of(), 0, 0, 0)));
            case OperationEnded f -> Optional.of(new Added(f.kind(), new OperationCounts(
                    0, Map.of(f.state(), 1L), Map.of(f.reason(), 1L), f.doneBlocks(), f.failedBlocks(), f.movedBytes())));
            case OrphanAdopted f -> Optional.of(new Added(f.kind(), new OperationCounts(
                    1, Map.of(f.state(), 1L), Map.of(), f.doneBlocks(), f.failedBlocks(), f.movedBytes())));
            default -> Optional.empty();
        };
    }

    /** Operations that ended in that state. */
    public long ended(OperationState state) {
        return ends.getOrDefault(state, 0L);
    }

    OperationCounts plus(OperationCounts o) {
        return new OperationCounts(started + o.started, sum(OperationState.class, ends, o.ends), sum(OperationReason.class, reasons, o.reasons),
                doneBlocks + o.doneBlocks, failedBlocks + o.failedBlocks, movedBytes + o.movedBytes);
    }

    private static <K extends Enum<K>> Map<K, Long> sum(Class<K> type, Map<K, Long> a, Map<K, Long> b) {
        Map<K, Long> sum = new EnumMap<>(type);
        sum.putAll(a);
        b.forEach((key, count) -> sum.merge(key, count, Long::sum));
        return sum;
    }
}
