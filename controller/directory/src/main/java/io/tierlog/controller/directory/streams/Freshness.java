/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.directory.streams;

/**
 * How old an answer may be.
 *
 * @param stale whether part of it comes from a standby, or from a copy that was not known to be at the end of the log lately
 * @param behindRecords records that were on the log and not taken up, the most of any partition that took part; markers of transactions may count
 * @param asOfMs the answer is of this moment or a later one, milliseconds since 1970; 0 when nobody knows
 */
public record Freshness(boolean stale, long behindRecords, long asOfMs) {
    /** What is said of an answer to which no partition had to say anything. */
    public static final Freshness NOTHING_ASKED = new Freshness(false, 0, Long.MAX_VALUE);
    /** What is said of a partition that nobody could ask. */
    public static final Freshness UNKNOWN = new Freshness(true, 0, 0);

    /** Of both together. */
    public Freshness and(Freshness other) {
        return new Freshness(stale || other.stale, Math.max(behindRecords, other.behindRecords), Math.min(asOfMs, other.asOfMs));
    }
}
