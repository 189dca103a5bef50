/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.bridge.view;

import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.LongAdder;

/** The counters of a bridge. Safe for use by several threads. */
public final class BridgeCounts {
    private final Map<BridgeCounter, LongAdder> counts = new EnumMap<>(BridgeCounter.class);

    /** All begin at 0. */
    public BridgeCounts() {
        for (BridgeCounter counter : BridgeCounter.values()) {
            counts.put(counter, new LongAdder());
        }
    }

    private LongAdder count(BridgeCounter counter) {
        return Objects.requireNonNull(counts.get(counter));
    }

    public void add(BridgeCounter counter, long more) {
        count(counter).add(more);
    }

    public long of(BridgeCounter counter) {
        return count(counter).sum();
    }
}
