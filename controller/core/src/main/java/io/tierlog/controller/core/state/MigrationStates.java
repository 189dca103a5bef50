/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.state;

import io.tierlog.schemas.MigrationState;
import io.tierlog.schemas.state.MigrationRow;
import io.tierlog.schemas.state.PartRow;

/**
 * The states of an operator's migration, and which follows which.
 *
 * <pre>
 *   SUBMITTED --(every node has answered)--> RUNNING --(no copy runs)--> DONE
 *        |   \                                  |
 *        |    +--> DONE, REJECTED               v
 *        +---------------------------------> CANCELLING --(no copy runs)--> CANCELLED
 * </pre>
 */
public final class MigrationStates {
    private MigrationStates() {}

    /** Whether nothing follows. */
    public static boolean isEnd(MigrationState state) {
        return switch (state) {
            case DONE, CANCELLED, REJECTED -> true;
            case SUBMITTED, RUNNING, CANCELLING, UNKNOWN -> false;
        };
    }

    /** Whether a migration may go from one to the other. */
    public static boolean isLegal(MigrationState from, MigrationState to) {
        return switch (from) {
            case SUBMITTED -> to == MigrationState.RUNNING || to == MigrationState.DONE || to == MigrationState.REJECTED
                    || to == MigrationState.CANCELLING;
            case RUNNING -> to == MigrationState.DONE || to == MigrationState.CANCELLING;
            case CANCELLING -> to == MigrationState.CANCELLED;
            case DONE, CANCELLED, REJECTED, UNKNOWN -> false;
        };
    }

    /** The state that follows from the answers of its nodes. REJECTED: something was refused, and nothing accepted. */
    public static MigrationState next(MigrationRow row) {
        long running = 0;
        int accepted = 0;
        int refused = 0;
        for (PartRow part : row.parts()) {
            var answer = part.answer();
            if (answer == null) {
                return row.state();
            }
            running += part.progress().running();
            accepted += answer.copied().size() + answer.marked().size();
            // A node that has not answered in time has refused, also where it was to choose the blocks.
            refused += answer.reasons().size() + (part.reports() == 0 ? 1 : 0);
        }
        return switch (row.state()) {
            case SUBMITTED -> running > 0 ? MigrationState.RUNNING
                    : accepted == 0 && refused > 0 ? MigrationState.REJECTED : MigrationState.DONE;
            case RUNNING -> running > 0 ? MigrationState.RUNNING : MigrationState.DONE;
            case CANCELLING -> running > 0 ? MigrationState.CANCELLING : MigrationState.CANCELLED;
            case DONE, CANCELLED, REJECTED, UNKNOWN -> row.state();
        };
    }
}
