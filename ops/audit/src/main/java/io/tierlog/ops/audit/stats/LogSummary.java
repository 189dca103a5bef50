/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.audit.stats;

import io.tierlog.schemas.GroupPolicy;
import io.tierlog.schemas.MigrationPolicy;
import io.tierlog.schemas.OperationKind;
import io.tierlog.schemas.OperationState;
import io.tierlog.schemas.PeerReadReason;
import io.tierlog.schemas.Policy;
import io.tierlog.schemas.PromotionOutcome;
import io.tierlog.schemas.PromotionReply;
import io.tierlog.schemas.RefusalReason;
import io.tierlog.schemas.RemovalReason;
import io.tierlog.schemas.RequestReason;
import io.tierlog.schemas.RequestState;
import io.tierlog.schemas.SkipReason;
import io.tierlog.schemas.Tier;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;

/**
 * Statistics of a log. Immutable; nodes are named as in the log: {@code node/ID}.
 *
 * @param records records by topic
 * @param requests attempts of requests, and the blocks of their prompts
 * @param operations operations by node and kind
 * @param watermarks time above watermarks, and use of tiers over time
 * @param placements blocks on hosts and disks, and what left the tiers
 * @param promotions promotions from the disk ahead of requests
 * @param peerReads reads from other nodes
 */
public record LogSummary(
        Records records, Requests requests, Operations operations, Watermarks watermarks, Placements placements, Promotions promotions,
        PeerReads peerReads) {
    /**
     * Records by topic.
     *
     * @param events events, ticks included
     * @param facts facts: the records of the decisions topic
     * @param commands commands
     * @param unreadable records of any topic that could not be decoded
     * @param firstMs append time of the earliest record, milliseconds since 1970; 0 when there is none
     * @param lastMs append time of the latest record
     * @param refused inputs that changed nothing, by reason
     * @param skipped records that were not inputs, by reason
     */
    public record Records(
            long events, long facts, long commands, long unreadable, long firstMs, long lastMs, Map<RefusalReason, Long> refused,
            Map<SkipReason, Long> skipped) {}

    /** Prompts of one namespace on one node. */
    public record Part(String node, String namespace) implements Comparable<Part> {
        private static final Comparator<Part> ORDER = Comparator.comparing(Part::node).thenComparing(Part::namespace);

        @Override
        public int compareTo(Part that) {
            return ORDER.compare(this, that);
        }
    }

    /**
     * Attempts of requests.
     *
     * @param submitted attempts that engines submitted
     * @param answeredAtOnce those whose agent answered without waiting for a fetch
     * @param waitsExpired those whose wait for a fetch ran out
     * @param states attempts by their state at the end; without those that ended before the stretch
     * @param ends attempts that ended, by reason
     * @param parts blocks of the prompts of prefilled attempts, by node and namespace
     * @param misses computed blocks by cause: {@code last_block} for those that hold the last token, else the reason for which the request went on
     * @param groups groups of the last policy, by which namespaces are attributed
     * @param submitToCommand from the append of a waiting submit to its command
     * @param submitToReady from the append of a waiting submit to what let it go on
     */
    public record Requests(
            long submitted, long answeredAtOnce, long waitsExpired, Map<RequestState, Long> states, Map<RequestReason, Long> ends,
            Map<Part, HitCounts> parts, Map<String, Long> misses, List<GroupPolicy> groups, Percentiles submitToCommand,
            Percentiles submitToReady) {
        /** Blocks of all prompts. */
        public HitCounts hits() {
            return parts.values().stream().reduce(HitCounts.NONE, HitCounts::plus);
        }

        /** Blocks of the prompts by node. */
        public Map<String, HitCounts> byNode() {
            return by(Part::node);
        }

        /** Blocks of the prompts by namespace: model, tenant and whatever else must match for reuse. */
        public Map<String, HitCounts> byNamespace() {
            return by(Part::namespace);
        }

        /** Blocks of the prompts by instance group of the last policy; {@code (none)} for namespaces that no group has. */
        public Map<String, HitCounts> byGroup() {
            return by(part -> groupOf(groups, part.namespace()));
        }

        /** The groups of a policy. */
        public static List<GroupPolicy> groupsOf(Policy policy) {
            MigrationPolicy migration = policy.migration();
            return migration == null ? List.of() : migration.groups();
        }

        /** The group of a namespace; {@code (none)} when none has it. */
        public static String groupOf(List<GroupPolicy> groups, String namespace) {
            return NamespaceGroups.of(groups, namespace);
        }

        private Map<String, HitCounts> by(Function<Part, String> key) {
            Map<String, HitCounts> sums = new TreeMap<>();
            parts.forEach((part, counts) -> sums.merge(key.apply(part), counts, HitCounts::plus));
            return sums;
        }
    }

    /**
     * Operations.
     *
     * @param byNode counts by node and kind; only kinds that the node had
     * @param unfinishedBefore operations that had begun before the stretch, and had not ended then
     * @param unfinished operations that have not ended
     * @param breaches ends without a start, and second starts; 0 on a correct log
     * @param durations from the fact that issued an operation to the fact that ended it, by kind
     * @param batches copies and drops that ended
     * @param longestBatchMs the longest of their durations, in milliseconds
     */
    public record Operations(
            Map<String, Map<OperationKind, OperationCounts>> byNode, long unfinishedBefore, long unfinished, long breaches,
            Map<OperationKind, Percentiles> durations, long batches, long longestBatchMs) {
        /** Counts by kind, of all nodes. */
        public Map<OperationKind, OperationCounts> byKind() {
            Map<OperationKind, OperationCounts> sums = new EnumMap<>(OperationKind.class);
            byNode.values().forEach(kinds -> kinds.forEach((kind, counts) -> sums.merge(kind, counts, OperationCounts::plus)));
            return sums;
        }

        /** Counts of a node, of all kinds. */
        public OperationCounts ofNode(String node) {
            return byNode.getOrDefault(node, Map.of()).values().stream().reduce(OperationCounts.NONE, OperationCounts::plus);
        }

        /** Operations that started. */
        public long started() {
            return byKind().values().stream().mapToLong(OperationCounts::started).sum();
        }

        /** Operations that ended in that state. */
        public long ended(OperationState state) {
            return byKind().values().stream().mapToLong(counts -> counts.ended(state)).sum();
        }
    }

    /** A watermark of a tier of a node, or of a group on it; the group is empty text for the whole tier. */
    public record Watermark(String node, Tier tier, String group) implements Comparable<Watermark> {
        private static final Comparator<Watermark> ORDER =
                Comparator.comparing(Watermark::node).thenComparing(Watermark::tier).thenComparing(Watermark::group);

        @Override
        public int compareTo(Watermark that) {
            return ORDER.compare(this, that);
        }
    }

    /**
     * Time above a watermark: from its high mark until the eviction has brought it below the low mark.
     *
     * @param crossings how often the high mark was reached
     * @param sumMs time above in all, in milliseconds
     * @param longestMs the longest of these times
     */
    public record TimeAbove(long crossings, long sumMs, long longestMs) {
        /** Both together. */
        TimeAbove plus(TimeAbove o) {
            return new TimeAbove(crossings + o.crossings, sumMs + o.sumMs, Math.max(longestMs, o.longestMs));
        }
    }

    /** Use of a tier as its agent reported it, in blocks, at a time in milliseconds since 1970. */
    public record Sample(long atMs, String node, Tier tier, long used, long pins, long capacity) {}

    /** A tier of a node. */
    public record NodeTier(String node, Tier tier) implements Comparable<NodeTier> {
        private static final Comparator<NodeTier> ORDER = Comparator.comparing(NodeTier::node).thenComparing(NodeTier::tier);

        @Override
        public int compareTo(NodeTier that) {
            return ORDER.compare(this, that);
        }
    }

    /** Blocks of a tier in use: now, at most at any report, and in all. */
    public record Use(long now, long most, long capacity) {}

    /**
     * Tiers over time.
     *
     * @param above time above each watermark that was reached
     * @param use how full each tier of each node was
     * @param samples use of tiers over time; the first {@value WatermarkStatistics#MAX_SAMPLES} reports
     */
    public record Watermarks(Map<Watermark, TimeAbove> above, Map<NodeTier, Use> use, List<Sample> samples) {}

    /** Blocks of one namespace on a tier of a node. */
    public record Place(String namespace, String node, Tier tier) implements Comparable<Place> {
        private static final Comparator<Place> ORDER =
                Comparator.comparing(Place::namespace).thenComparing(Place::node).thenComparing(Place::tier);

        @Override
        public int compareTo(Place that) {
            return ORDER.compare(this, that);
        }
    }

    /** Blocks that left a tier for one reason. */
    public record Eviction(Tier tier, RemovalReason reason) implements Comparable<Eviction> {
        private static final Comparator<Eviction> ORDER = Comparator.comparing(Eviction::tier).thenComparing(Eviction::reason);

        @Override
        public int compareTo(Eviction that) {
            return ORDER.compare(this, that);
        }
    }

    /** Blocks that left, and how many of them had no other known placement. */
    public record Evicted(long blocks, long lastCopies) {
        /** The sum of both. */
        public Evicted plus(Evicted o) {
            return new Evicted(blocks + o.blocks, lastCopies + o.lastCopies);
        }
    }

    /**
     * Placements.
     *
     * @param most the most blocks at any time, on hosts and disks
     * @param end blocks at the end of the log
     * @param complete false when there were more than {@value PlacementStatistics#MAX_BLOCKS} blocks at once: the rest is not counted
     * @param evictions what left, by node (or store shard), tier and reason
     * @param recovered blocks that agents found on their disks after a start
     */
    public record Placements(
            Map<Place, Long> most, Map<Place, Long> end, boolean complete, Map<String, Map<Eviction, Evicted>> evictions, long recovered) {
        /** What left, of all nodes. */
        public Map<Eviction, Evicted> evictionsOfAll() {
            Map<Eviction, Evicted> sums = new TreeMap<>();
            evictions.values().forEach(node -> node.forEach((eviction, evicted) -> sums.merge(eviction, evicted, Evicted::plus)));
            return sums;
        }
    }

    /**
     * Promotions, in blocks.
     *
     * @param replies replies of nodes to probes
     * @param outcomes outcomes of promotions
     * @param begun blocks of promotions that began
     * @param done blocks that promotions brought to the host
     */
    public record Promotions(Map<PromotionReply, Long> replies, Map<PromotionOutcome, Long> outcomes, long begun, long done) {
        /** Blocks with that outcome. */
        public long of(PromotionOutcome outcome) {
            return outcomes.getOrDefault(outcome, 0L);
        }

        /** Blocks that requests read because promotions had brought them, or waited for on their way. */
        public long promoted() {
            return of(PromotionOutcome.PROMOTED_HIT) + of(PromotionOutcome.PROMOTED_HIT_WAITED);
        }

        /** {@link #inMemory(long, long)} of these promotions. */
        public double inMemory(long others) {
            return inMemory(promoted(), others);
        }

        /**
         * Of the blocks that requests read and only a disk had, the share that was in memory by then, or waited for on its way; 0 to 1, and 0
         * without any.
         *
         * @param promoted blocks read that promotions had brought, or were bringing
         * @param others blocks read that came otherwise: fetched for their request, or missed while they were promoted
         */
        public static double inMemory(long promoted, long others) {
            return promoted == 0 ? 0 : (double) promoted / (promoted + others);
        }
    }

    /**
     * Reads from other nodes. A block can be sent in vain: the reader may have been too late, or its bytes were wrong.
     *
     * @param asked reads that agents requested from other nodes
     * @param askedBlocks blocks of these
     * @param granted reads that were granted a lease
     * @param refused reads that were refused, by reason
     * @param ended leases that ended, by reason
     * @param fetchedBlocks blocks that arrived, by the readers' reports
     * @param sentBlocks blocks that were sent, by the reports of the nodes that serve them
     * @param sentBytes bytes of these
     */
    public record PeerReads(
            long asked, long askedBlocks, long granted, Map<PeerReadReason, Long> refused, Map<PeerReadReason, Long> ended, long fetchedBlocks,
            long sentBlocks, long sentBytes) {}
}
