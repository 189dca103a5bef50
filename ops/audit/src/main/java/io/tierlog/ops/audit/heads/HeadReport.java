/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.audit.heads;

import io.tierlog.ops.audit.Finding;
import java.util.List;
import java.util.Optional;

/**
 * What the signed heads of a log prove.
 *
 * @param heads heads that were checked
 * @param last the last one; empty when there is none
 * @param records records that are as a head says
 * @param stretches stretches that are as a head says
 * @param unchecked stretches whose records were trimmed, all or some of them: not checked
 * @param before offsets that the log has before the first head, which no head covers
 * @param after offsets that the log has after the last head, which no head covers yet
 * @param afterMs time from the last head to the last record after it, milliseconds; 0 when there is none
 * @param findings the first ones
 * @param found how many there are
 */
public record HeadReport(
        long heads,
        Optional<Seen> last,
        long records,
        long stretches,
        long unchecked,
        long before,
        long after,
        long afterMs,
        List<Finding> findings,
        long found) {
    /** Copies the findings. */
    public HeadReport {
        findings = List.copyOf(findings);
    }

    /**
     * A head, for a later check that goes on from it.
     *
     * @param number its number, from 1
     * @param hash SHA-256 of its record, in hexadecimal digits
     * @param offset its offset in the topic of heads
     * @param timeMs when it was signed, milliseconds since 1970
     */
    public record Seen(long number, String hash, long offset, long timeMs) {}
}
