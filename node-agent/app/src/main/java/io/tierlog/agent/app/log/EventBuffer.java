/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.log;

import java.time.Duration;

/**
 * The bounds of events on their way to the log, checked once.
 *
 * @param records unacknowledged records from which on new work is refused
 * @param bytes unacknowledged bytes from which on new work is refused
 * @param deliveryTimeout how long a record may take; then the process goes on as another, since the log misses what happened
 */
public record EventBuffer(int records, int bytes, Duration deliveryTimeout) {
    /** 20,000 records, 16 MiB, 15 minutes. */
    public static final EventBuffer DEFAULTS = new EventBuffer(20_000, 16 << 20, Duration.ofMinutes(15));

    /** The queue's bounds are this many times those above, for the work that is finished while new work is refused. */
    private static final int SPACE_TO_FINISH = 3;

    public EventBuffer {
        if (records < 1 || bytes < 1 << 20) {
            throw new IllegalArgumentException("an event buffer of " + records + " records and " + bytes + " bytes: 1 and 1 MiB are least");
        }
        if (deliveryTimeout.compareTo(Duration.ofSeconds(1)) < 0 || deliveryTimeout.compareTo(Duration.ofMinutes(15)) > 0) {
            throw new IllegalArgumentException("a delivery time-out is 1 s to 15 min, not " + deliveryTimeout);
        }
    }

    /** Records that may wait for the producer, count. */
    int queuedRecords() {
        return Math.toIntExact(Math.min(Integer.MAX_VALUE, (long) records * SPACE_TO_FINISH));
    }

    /** The same in bytes. */
    long queuedBytes() {
        return (long) bytes * SPACE_TO_FINISH;
    }
}
