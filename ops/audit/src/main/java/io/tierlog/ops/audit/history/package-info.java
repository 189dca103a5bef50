/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What the log says about one block, request, operation or migration, record by record.
 *
 * <p>Start at {@link io.tierlog.ops.audit.history.HistoryReader}. Records are matched by their schema's fields, so a new record type needs no change.
 */
@NullMarked
package io.tierlog.ops.audit.history;

import org.jspecify.annotations.NullMarked;
