/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.audit.state;

import io.tierlog.controller.core.table.HeapTables;
import java.util.List;

/**
 * The tables of a log at a moment.
 *
 * @param partitions those that the moment is of, ascending
 */
public record LogState(List<Partition> partitions) {
    public LogState {
        partitions = List.copyOf(partitions);
    }

    /**
     * Where a partition stands.
     *
     * @param partition its number, from 0
     * @param offset of the last decision, -1 before the first
     * @param timeMs when that was appended, milliseconds since 1970; 0 before the first
     */
    public record At(int partition, long offset, long timeMs) {}

    /** The tables of a partition. */
    public record Partition(At at, HeapTables tables) {}
}
