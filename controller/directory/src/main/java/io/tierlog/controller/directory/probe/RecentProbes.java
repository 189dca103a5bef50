/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.directory.probe;

import io.tierlog.schemas.Bytes;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Which blocks were asked for lately, bounded in number and time. One thread at a time. Forgetting one costs a request that the node's aggregate
 * drops.
 */
final class RecentProbes {
    private final ProbeLimits limits;
    private final Map<Asked, Long> asked = new LinkedHashMap<>();

    private record Asked(String namespace, Bytes key, String node) {}

    RecentProbes(ProbeLimits limits) {
        this.limits = limits;
    }

    /** Notes a block unless it was noted lately; whether it was not. */
    boolean add(String namespace, Bytes key, String node, long nowMs) {
        forget(nowMs);
        Asked one = new Asked(namespace, key, node);
        if (asked.containsKey(one)) {
            return false;
        }
        asked.put(one, nowMs);
        return true;
    }

    /** A request that was not taken may be made again. */
    void remove(String namespace, Bytes key, String node) {
        asked.remove(new Asked(namespace, key, node));
    }

    private void forget(long nowMs) {
        Iterator<Long> oldest = asked.values().iterator();
        while (oldest.hasNext() && (oldest.next() + limits.recentMs() <= nowMs || asked.size() >= limits.recent())) {
            oldest.remove();
        }
    }

    int size() {
        return asked.size();
    }
}
