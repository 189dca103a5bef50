/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.audit;

import java.io.DataOutputStream;
import java.io.IOException;
import java.util.List;

/**
 * How an audit goes on from an earlier one and leaves its own state to be gone on from. Where it begins in the events and decisions is its
 * {@link LogStart}. Called by several threads.
 */
public interface Continuation {
    /** What already shows, before a record is read. */
    List<Finding> findings();

    /**
     * Offset of the first record of each partition of the placements topic that the earlier audit did not compare; empty when all of the topic is to
     * be compared.
     */
    List<Long> placementsFrom();

    /**
     * Takes the state of a partition, as {@link SnapshotFold#read} reads it. Closed by the audit.
     *
     * @throws IOException when it cannot be written
     */
    DataOutputStream image(int partition) throws IOException;

    /**
     * The state of a partition was written and closed.
     *
     * @param placements rows of its table of placements
     */
    void written(PartitionStart.At at, long placements);
}
