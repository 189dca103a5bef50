/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.audit;

/**
 * A violation in a log.
 *
 * @param check what was checked: BYTES, CODE, HEADS, NUMBERING, or an invariant, I1 to I13
 * @param topic topic of the record
 * @param partition its partition, from 0
 * @param offset its offset, from 0; where a record is missing, the one that shows it
 * @param timestampMs when the record was appended, milliseconds since 1970
 * @param order its position in the order in which the partition was read
 * @param detail a sentence for operators
 */
public record Finding(String check, String topic, int partition, long offset, long timestampMs, long order, String detail) {
    /** The bytes of a record are damaged, or are not a record of this topic. */
    public static final String BYTES = "BYTES";

    /** The code in the header of a record is not that of who writes such records. */
    public static final String CODE = "CODE";

    /** The log is not what its signed heads say, or a head is not in order. */
    public static final String HEADS = "HEADS";

    /** The number or the checksum that a record carries does not follow from the record before it. */
    public static final String NUMBERING = "NUMBERING";

    /**
     * Whether this names what is wrong itself. Bytes, code and number belong to one record, a head to a stretch of them; an invariant may break at a
     * correct record that follows a wrong one.
     */
    boolean isRoot() {
        return check.equals(BYTES) || check.equals(CODE) || check.equals(HEADS) || check.equals(NUMBERING);
    }

    @Override
    public String toString() {
        return check + " " + topic + "-" + partition + "@" + offset + ": " + detail;
    }
}
