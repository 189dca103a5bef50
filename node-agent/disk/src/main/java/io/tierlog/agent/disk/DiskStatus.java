/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.disk;

import java.util.Map;

/**
 * How a disk tier is now. Immutable.
 *
 * @param blocks held
 * @param liveBytes bytes on disk of the blocks held, headers and padding included
 * @param fileBytes bytes of all segment files; {@code fileBytes - liveBytes} is dead or not yet written
 * @param segments files
 * @param counters since the tier was opened
 */
public record DiskStatus(int blocks, long liveBytes, long fileBytes, int segments, Map<DiskCounter, Long> counters) {
    public DiskStatus {
        counters = Map.copyOf(counters);
    }

    /** The value of a counter. */
    public long count(DiskCounter counter) {
        return counters.getOrDefault(counter, 0L);
    }
}
