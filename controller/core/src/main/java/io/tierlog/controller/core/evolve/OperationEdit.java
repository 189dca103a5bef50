/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.evolve;

import io.tierlog.schemas.Block;
import io.tierlog.schemas.OperationState;
import io.tierlog.schemas.decision.OperationIssued;
import io.tierlog.schemas.state.OperationRow;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** An operation's row while a fact changes it. Confined to one call of evolve. */
final class OperationEdit {
    private final OperationRow was;
    OperationState state;
    @Nullable String lease;
    List<Block> blocks;
    long deadlineMs;
    int cancels;
    long endedMs;
    boolean settled;

    OperationEdit(OperationRow row) {
        was = row;
        state = row.state();
        lease = row.lease();
        blocks = row.blocks();
        deadlineMs = row.deadlineMs();
        cancels = row.cancels();
        endedMs = row.endedMs();
        settled = row.settled();
    }

    /** The row of an operation that has just been issued. */
    static OperationRow issued(OperationIssued fact, List<Block> kept) {
        return new OperationRow(fact.envelope().incarnation(), fact.kind(), OperationState.ISSUED, fact.from(), fact.to(),
                fact.request(), fact.attempt(), null, fact.namespace(), fact.root(), fact.blocks().size(), kept, fact.deadlineMs(),
                0, 0, true, fact.move());
    }

    OperationRow toRow() {
        return new OperationRow(was.incarnation(), was.kind(), state, was.from(), was.to(), was.request(), was.attempt(), lease,
                was.namespace(), was.root(), was.blockCount(), blocks, deadlineMs, cancels, endedMs, settled, was.move());
    }
}
