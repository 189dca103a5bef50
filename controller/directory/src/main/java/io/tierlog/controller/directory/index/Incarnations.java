/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.directory.index;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The highest incarnation seen of each owner, over all partitions of an instance: what a lower one holds does not count. Safe for use by several
 * threads. Trade-off: an owner is never forgotten, some 100 bytes each.
 */
public final class Incarnations {
    private final Map<String, AtomicLong> highest = new ConcurrentHashMap<>();

    /** Notes an incarnation and answers with the owner's place, which {@link #counts} reads. */
    AtomicLong note(String owner, long incarnation) {
        AtomicLong place = highest.computeIfAbsent(owner, _ -> new AtomicLong(Long.MIN_VALUE));
        place.accumulateAndGet(incarnation, Math::max);
        return place;
    }

    /** Whether what this incarnation of the owner holds still counts. */
    public boolean counts(String owner, long incarnation) {
        AtomicLong place = highest.get(owner);
        return place == null || incarnation >= place.get();
    }

    /** Notes an incarnation that was seen elsewhere. */
    public void seen(String owner, long incarnation) {
        note(owner, incarnation);
    }
}
