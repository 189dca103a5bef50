/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.directory.streams;

import io.tierlog.controller.directory.index.Incarnations;
import io.tierlog.controller.directory.index.PlacementIndex;
import io.tierlog.controller.directory.query.Freshness;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.stream.IntStream;

/**
 * The partitions that this instance has as an index now, and how far each is. Safe for use by several threads; a task's thread adds and removes
 * its own.
 */
final class LocalShards {
    private final AtomicReferenceArray<PlacementIndex> indexes;
    private final List<ReplicaPosition> reaches;
    private final Incarnations incarnations = new Incarnations();
    private final NodeIncarnations nodes = new NodeIncarnations(incarnations);
    private final ConcurrentMap<Integer, Standby> standbys = new ConcurrentHashMap<>();

    /**
     * The state of a replica without an index.
     *
     * @param freshness how old it may be
     * @param position offset that it has reached
     * @param whole whether it was near the end of the log once: before that, it lacks blocks that were there long ago, and would deny them
     */
    record Standby(Freshness freshness, long position, boolean whole) {
        private static final Standby NONE = new Standby(Freshness.UNKNOWN, 0, false);
        /** A copy is near the end of the log with so many records to come, of which some are markers, or with such a part of all. */
        private static final int NEAR_RECORDS = 16;
        private static final int NEAR_SHARE = 100;

        /** The same copy when it is looked at again, with so many records to come of so many; one that has gone back restarted. */
        Standby at(long behind, long end, long nowMs) {
            boolean near = behind <= Math.max(NEAR_RECORDS, end / NEAR_SHARE);
            boolean same = end - behind >= position;
            long before = same ? freshness.asOfMs() : 0;
            return new Standby(new Freshness(true, behind, behind == 0 ? nowMs : before), end - behind, near || (whole && same));
        }
    }

    LocalShards(int partitions) {
        indexes = new AtomicReferenceArray<>(partitions);
        reaches = IntStream.range(0, partitions).mapToObj(_ -> new ReplicaPosition()).toList();
    }

    int partitions() {
        return reaches.size();
    }

    /** The highest incarnations that any partition here has shown. */
    Incarnations incarnations() {
        return incarnations;
    }

    /** The newest incarnation of each node in any partition here. */
    NodeIncarnations nodes() {
        return nodes;
    }

    /** The index of a partition, if this instance has it and it is built. */
    Optional<PlacementIndex> index(int partition) {
        return Optional.ofNullable(indexes.get(partition));
    }

    ReplicaPosition reach(int partition) {
        return reaches.get(partition);
    }

    /** What was last seen of a standby here; unknown when there is none. */
    Standby standby(int partition) {
        return standbys.getOrDefault(partition, Standby.NONE);
    }

    void standbys(Map<Integer, Standby> seen) {
        standbys.keySet().retainAll(seen.keySet());
        standbys.putAll(seen);
    }

    void add(int partition, PlacementIndex index) {
        indexes.set(partition, index);
    }

    /** Takes the partition's index away, if it is this one. */
    void remove(int partition, PlacementIndex index) {
        indexes.compareAndSet(partition, index, null);
    }

    /** All indexes, by their partitions. */
    Map<Integer, PlacementIndex> all() {
        Map<Integer, PlacementIndex> all = new LinkedHashMap<>();
        for (int partition = 0; partition < indexes.length(); partition++) {
            PlacementIndex index = indexes.get(partition);
            if (index != null) {
                all.put(partition, index);
            }
        }
        return all;
    }
}
