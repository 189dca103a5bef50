/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.streams;

import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.event.Tick;

/** Events as a test writes them down. */
final class Script {
    private Script() {}

    /** A tick of a partition. */
    static Tick tick(int partition, long sequence, long timeMs) {
        String clock = "clock/" + partition;
        return new Tick(new Envelope(clock, clock, 0, sequence, 0, timeMs, null, null, null), timeMs);
    }
}
