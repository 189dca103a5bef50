/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.dashboard.fold;

import io.tierlog.ops.dashboard.model.Names;
import io.tierlog.ops.dashboard.model.OperationRow;
import io.tierlog.schemas.decision.Fact;
import io.tierlog.schemas.decision.OperationEnded;
import io.tierlog.schemas.decision.OperationIssued;
import io.tierlog.schemas.decision.OperationOverdue;
import io.tierlog.schemas.event.OperationStarted;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.function.ObjLongConsumer;

/** Operations in flight, and those that ended last. An event may be read before its fact: what started is then not known. Not thread-safe. */
final class OperationFold {
    private static final char IN_FLIGHT = 'o';
    private static final char ENDED = 'e';

    private final Recent<OperationRow> inFlight;
    private final Recent<OperationRow> ended;

    OperationFold(FoldLimits limits, Rows rows) {
        inFlight = new Recent<>(IN_FLIGHT, limits.operations(), rows, OperationRow::id);
        ended = new Recent<>(ENDED, limits.operations(), rows, OperationRow::id);
    }

    void restore(Map<Character, List<byte[]>> kinds) {
        kinds.getOrDefault(IN_FLIGHT, List.of()).stream().map(value -> Rows.decoded(value, OperationRow.class))
                .sorted(Comparator.comparingLong(OperationRow::issuedMs)).forEach(inFlight::restore);
        kinds.getOrDefault(ENDED, List.of()).stream().map(value -> Rows.decoded(value, OperationRow.class))
                .sorted(Comparator.comparingLong(OperationRow::endedMs)).forEach(ended::restore);
    }

    void started(OperationStarted e, long atMs) {
        inFlight.change(e.operation(), row -> row.started(atMs));
    }

    /** Applies a fact; {@code counts} takes what it adds beyond the counts of operations. */
    void fact(Fact fact, long atMs, ObjLongConsumer<String> counts) {
        // Facts of other types do not concern operations.
        switch (fact) {
            case OperationIssued f -> {
                String request = f.request();
                inFlight.put(new OperationRow(f.operation(), PartitionFold.name(f.envelope().aggregate()), f.kind(), f.from(), f.to(), f.namespace(),
                        request == null ? "" : request, f.blocks().size(), atMs, 0, 0, 0, "", 0));
            }
            case OperationOverdue f -> {
                counts.accept(Names.OVERDUE, 1);
                inFlight.change(f.operation(), row -> row.overdue(atMs));
            }
            case OperationEnded f -> {
                OperationRow was = inFlight.remove(f.operation());
                if (was != null) {
                    counts.accept(Names.moved(was.from(), was.to()), f.movedBytes());
                    ended.put(was.ended(atMs, f.state() + " " + f.reason(), f.movedBytes()));
                }
            }
            default -> {}
        }
    }

    void restore(OperationRow row) {
        inFlight.restore(row);
    }

    Iterable<OperationRow> inFlight() {
        return inFlight.all().values();
    }

    Iterable<OperationRow> ended() {
        return ended.all().values();
    }
}
