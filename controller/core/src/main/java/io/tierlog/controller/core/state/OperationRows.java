/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.state;

import io.tierlog.schemas.OperationKind;
import io.tierlog.schemas.OperationState;
import io.tierlog.schemas.Tier;

/** What rows of operations mean. Without state. */
public final class OperationRows {
    private OperationRows() {}

    /** Whether an operation of that state has not ended. */
    public static boolean isUnfinished(OperationState state) {
        return state == OperationState.ISSUED || state == OperationState.OVERDUE;
    }

    /** Whether an operation writes what was computed where marks say. */
    public static boolean isLed(OperationKind kind, Tier from) {
        return kind == OperationKind.COPY && from == Tier.DEVICE;
    }

    /** Offset of the record that led to an operation, as its id has it. */
    public static long offsetOf(String operation) {
        return Long.parseLong(operation, operation.lastIndexOf('@') + 1, operation.lastIndexOf('.'), 10);
    }
}
