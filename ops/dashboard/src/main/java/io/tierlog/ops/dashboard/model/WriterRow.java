/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.dashboard.model;

/**
 * One sender of records in a partition of the log.
 *
 * @param sender as the envelopes of its records name it
 * @param events its events, count
 * @param facts its decisions, count
 * @param commands its commands, count
 * @param type name of the type of its latest record
 * @param lastMs time of that, milliseconds since 1970
 */
public record WriterRow(String sender, long events, long facts, long commands, String type, long lastMs) {
    /** Both together: two partitions have records of one sender. */
    public WriterRow plus(WriterRow more) {
        WriterRow later = more.lastMs >= lastMs ? more : this;
        return new WriterRow(sender, events + more.events, facts + more.facts, commands + more.commands, later.type, later.lastMs);
    }
}
