/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.api;

import io.tierlog.schemas.SkipReason;
import io.tierlog.schemas.event.Event;

/** What arrives: a record of tierlog.events at its place in the log. */
public sealed interface Input {
    /**
     * An event.
     *
     * @param partition partition it was read from
     * @param offset its offset there
     * @param event the event
     * @param crc32c CRC32C of its Avro binary, without the frame
     */
    record Recorded(int partition, long offset, Event event, int crc32c) implements Input {}

    /**
     * A record that is not a valid input and never will be.
     *
     * @param topic topic it was read from
     * @param partition its partition
     * @param offset its offset
     * @param reason why it is not an input
     * @param detail a sentence for people
     */
    record Unreadable(String topic, int partition, long offset, SkipReason reason, String detail) implements Input {}

    /** Partition it was read from. */
    int partition();

    /** Its offset there. */
    long offset();
}
