/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.dashboard.model;

import io.tierlog.schemas.Tier;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * A node.
 *
 * @param node its name
 * @param incarnation number of its agent process
 * @param state UP, LOST or STOPPED
 * @param foreign true for an engine that a bridge listens to
 * @param sinceMs when the incarnation was accepted, milliseconds since 1970; 0 when that is not known
 * @param seenMs when its last report was decided
 * @param waiting requests that wait for a fetch, by its last heartbeat
 * @param active operations in progress, by its last heartbeat
 * @param instances engine instances on it
 * @param tiers what it has of each tier
 * @param endedMs when it was lost or stopped; 0 while it is up, or when that is not known
 */
public record NodeRow(
        String node, long incarnation, String state, boolean foreign, long sinceMs, long seenMs, int waiting, int active, Set<String> instances,
        Map<Tier, TierRow> tiers, long endedMs) {
    /** Its agent is registered. */
    public static final String UP = "UP";

    /** Its agent was silent for too long. */
    public static final String LOST = "LOST";

    /** A node of which nothing is known yet. */
    public static NodeRow unknown(String node) {
        return new NodeRow(node, 0, "UNKNOWN", false, 0, 0, 0, 0, Set.of(), Map.of(), 0);
    }

    /**
     * One tier of a node, in blocks.
     *
     * @param capacity all pages
     * @param blockBytes size of a block; 0 when it is not known
     * @param free pages without an owner
     * @param serving pages that can be read
     * @param filling pages reserved or being written
     * @param leaving pages on their way out
     * @param quarantined pages of a transfer with unknown outcome
     * @param pins named pins
     * @param aboveSinceMs since when it is above its high mark, until it is below the low mark; 0 when it is not
     */
    public record TierRow(
            long capacity, long blockBytes, long free, long serving, long filling, long leaving, long quarantined, long pins, long aboveSinceMs) {
        /** Nothing is known of it. */
        public static final TierRow NONE = new TierRow(0, 0, 0, 0, 0, 0, 0, 0, 0);

        /** Pages with an owner. */
        public long used() {
            return capacity - free;
        }

        /** The same above its mark since then. */
        public TierRow above(long ms) {
            return new TierRow(capacity, blockBytes, free, serving, filling, leaving, quarantined, pins, ms);
        }
    }

    /** The same, ended at a time. */
    public NodeRow ended(String how, long ms) {
        return new NodeRow(node, incarnation, how, foreign, sinceMs, seenMs, 0, 0, Set.of(), tiers, ms);
    }

    /** The same, seen. */
    public NodeRow seen(long ms) {
        return new NodeRow(node, incarnation, state, foreign, sinceMs, Math.max(ms, seenMs), waiting, active, instances, tiers, endedMs);
    }

    /** The same with numbers of a heartbeat. */
    public NodeRow beating(int waitingNow, int activeNow) {
        return new NodeRow(node, incarnation, state, foreign, sinceMs, seenMs, waitingNow, activeNow, instances, tiers, endedMs);
    }

    /** The same with an instance more or less. */
    public NodeRow instance(String name, boolean present) {
        Set<String> others = new TreeSet<>(instances);
        if (present) {
            others.add(name);
        } else {
            others.remove(name);
        }
        return new NodeRow(node, incarnation, state, foreign, sinceMs, seenMs, waiting, active, others, tiers, endedMs);
    }

    /** A tier of it. */
    public TierRow tier(Tier tier) {
        return tiers.getOrDefault(tier, TierRow.NONE);
    }

    /** The same with another tier. */
    public NodeRow with(Tier tier, TierRow row) {
        Map<Tier, TierRow> others = new TreeMap<>(tiers);
        others.put(tier, row);
        return new NodeRow(node, incarnation, state, foreign, sinceMs, seenMs, waiting, active, instances, others, endedMs);
    }
}
