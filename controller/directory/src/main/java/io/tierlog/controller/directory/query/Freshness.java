/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.directory.query;

/**
 * How old an answer may be.
 *
 * @param stale whether part of it comes from a standby, or from a copy that was not known to be at the end of the log lately
 * @param behindRecords records of the log that were not applied, the most of any queried partition; markers of transactions may count
 * @param asOfMs the answer is of this moment or a later one, milliseconds since 1970; 0 when unknown
 */
public record Freshness(boolean stale, long behindRecords, long asOfMs) {
    /** Freshness of an answer without any partition. */
    public static final Freshness NOTHING_ASKED = new Freshness(false, 0, Long.MAX_VALUE);
    /** Freshness of a partition that could not be queried. */
    public static final Freshness UNKNOWN = new Freshness(true, 0, 0);

    /** Of both together. */
    public Freshness and(Freshness other) {
        return new Freshness(stale || other.stale, Math.max(behindRecords, other.behindRecords), Math.min(asOfMs, other.asOfMs));
    }
}
