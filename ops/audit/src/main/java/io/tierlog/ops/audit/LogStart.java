/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.audit;

import java.util.Optional;

/** Where the readers of a log begin. Safe for use by several threads. */
@FunctionalInterface
public interface LogStart {
    /** Every partition from its beginning. */
    LogStart BEGINNING = partition -> Optional.empty();

    /**
     * Where to begin in a partition; empty for its beginning.
     *
     * @throws AuditException when the snapshot cannot be read, or has no such partition
     */
    Optional<PartitionStart> of(int partition);
}
