/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.directory.index;

import io.tierlog.controller.core.table.Namespaces;
import io.tierlog.schemas.Bytes;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;

/**
 * The highest incarnation seen of each owner, over all partitions of an instance: what a lower one holds does not count. And the namespaces in which
 * an engine's blocks are unknown, since a bridge lost some of its events. Safe for use by several threads. Trade-off: an owner is never forgotten,
 * some 100 bytes each.
 */
public final class Incarnations {
    private final Map<String, AtomicLong> highest = new ConcurrentHashMap<>();
    private final Map<String, Set<Bytes>> unknownOf = new LinkedHashMap<>();
    private volatile Set<Bytes> unknown = Set.of();

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

    /** Replaces the namespaces in which the owner's blocks are unknown; none once what it holds is known. */
    public synchronized void unknownAt(String owner, List<String> namespaces) {
        if (namespaces.isEmpty() && !unknownOf.containsKey(owner)) {
            return;
        }
        if (namespaces.isEmpty()) {
            unknownOf.remove(owner);
        } else {
            unknownOf.put(owner, namespaces.stream().map(Namespaces::digest).collect(Collectors.toUnmodifiableSet()));
        }
        unknown = unknownOf.values().stream().flatMap(Set::stream).collect(Collectors.toUnmodifiableSet());
    }

    /** Whether a block of the namespace that is recorded nowhere may be somewhere. */
    public boolean isUnknown(Bytes namespace) {
        return unknown.contains(namespace);
    }
}
