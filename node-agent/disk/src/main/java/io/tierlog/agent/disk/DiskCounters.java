/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.disk;

import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;

/** The counters of a disk tier. Safe for use by several threads. */
final class DiskCounters {
    private final Map<DiskCounter, LongAdder> adders = new EnumMap<>(DiskCounter.class);

    DiskCounters() {
        for (DiskCounter counter : DiskCounter.values()) {
            adders.put(counter, new LongAdder());
        }
    }

    void add(DiskCounter counter, long n) {
        LongAdder adder = adders.get(counter);
        if (adder != null) {
            adder.add(n);
        }
    }

    void count(DiskCounter counter) {
        add(counter, 1);
    }

    Map<DiskCounter, Long> snapshot() {
        Map<DiskCounter, Long> values = new EnumMap<>(DiskCounter.class);
        adders.forEach((counter, adder) -> values.put(counter, adder.sum()));
        return values;
    }
}
