/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.events;

import io.tierlog.schemas.SkipReason;
import io.tierlog.schemas.WireRecord;

/**
 * What became of the bytes of one record.
 *
 * @param <F> the family that was asked for
 */
public sealed interface Reading<F extends WireRecord> {
    /** The bytes are this record. */
    record Decoded<F extends WireRecord>(F value) implements Reading<F> {}

    /** The bytes are no record of the family, today and for ever. */
    record Unreadable<F extends WireRecord>(SkipReason reason, String detail) implements Reading<F> {}
}
