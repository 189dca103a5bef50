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
    /** How many of them are of a node. */
    private final Map<String, Integer> ofNode = new LinkedHashMap<>();

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
        ofNode.merge(node, 1, Integer::sum);
        return true;
    }

    /** A request that was not taken may be made again. */
    void remove(String namespace, Bytes key, String node) {
        if (asked.remove(new Asked(namespace, key, node)) != null) {
            one(node);
        }
    }

    /** Whether a block was asked of a node lately. */
    boolean has(String namespace, Bytes key, String node, long nowMs) {
        forget(nowMs);
        return asked.containsKey(new Asked(namespace, key, node));
    }

    /** Blocks that a node was asked for lately, count. */
    int of(String node) {
        return ofNode.getOrDefault(node, 0);
    }

    private void forget(long nowMs) {
        Iterator<Map.Entry<Asked, Long>> oldest = asked.entrySet().iterator();
        boolean more = true;
        while (more && oldest.hasNext()) {
            Map.Entry<Asked, Long> first = oldest.next();
            more = first.getValue() + limits.recentMs() <= nowMs || asked.size() >= limits.recent();
            if (more) {
                String node = first.getKey().node();
                oldest.remove();
                one(node);
            }
        }
    }

    private void one(String node) {
        ofNode.computeIfPresent(node, (_, count) -> count == 1 ? null : count - 1);
    }

    int size() {
        return asked.size();
    }
}
