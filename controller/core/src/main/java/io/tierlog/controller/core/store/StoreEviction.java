/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.store;

import io.tierlog.controller.core.api.CoreVersion;
import io.tierlog.controller.core.decide.Checks;
import io.tierlog.controller.core.decide.DecisionContext;
import io.tierlog.controller.core.decide.RecordBytes;
import io.tierlog.controller.core.eviction.EvictionPicker;
import io.tierlog.controller.core.eviction.EvictionRules;
import io.tierlog.controller.core.policy.Policies;
import io.tierlog.controller.core.state.Aggregates;
import io.tierlog.controller.core.state.ShardRows;
import io.tierlog.controller.core.table.RowKey;
import io.tierlog.controller.core.table.Rows;
import io.tierlog.controller.core.table.Tables;
import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.OperationReason;
import io.tierlog.schemas.Policy;
import io.tierlog.schemas.RefusalReason;
import io.tierlog.schemas.ShardObjects;
import io.tierlog.schemas.StorePolicy;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.command.CommandHeader;
import io.tierlog.schemas.command.DeleteObjects;
import io.tierlog.schemas.decision.DeletionEnded;
import io.tierlog.schemas.decision.DeletionIssued;
import io.tierlog.schemas.decision.StoreAgentNamed;
import io.tierlog.schemas.decision.WaterLevelCrossed;
import io.tierlog.schemas.decision.WaterLevelRelieved;
import io.tierlog.schemas.event.StoreFull;
import io.tierlog.schemas.state.DeletionRow;
import io.tierlog.schemas.state.ShardRow;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Capacity of the shards of the store. At the high mark eviction begins, and the coldest objects leave until the shard is below the low mark, none
 * before the objects that extend it, and none that was used within the policy's time: an agent reports a read when it begins, so that time is the
 * lease of what is read. A store that has no space begins it too, whatever the capacity says; then it goes by what the shard holds.
 *
 * <p>Objects leave by one deletion at a time, which one named agent runs: the one that has reported first. An agent that does not answer is named no
 * longer, and the next report names its sender. Without state. Trade-off: a node's partition is not asked, so what a node believes to be in the store
 * may be gone; it looks there before it relies on it.
 */
public final class StoreEviction {
    /** Most bytes of one deletion, half of what a record has. */
    private static final int MOST_BYTES = 512 << 10;

    /** Most bytes of a block in a record: two keys of 32 bytes, numbers and lengths. */
    private static final int BLOCK_BYTES = 100;

    private StoreEviction() {}

    /** Starts, continues or ends the eviction of each shard of the partition, of at most {@code budget} objects. */
    public static void decide(DecisionContext d, int budget) {
        int left = budget;
        for (String shard : ShardRows.of(d.tables(), d.clockAggregate())) {
            left -= decide(d, shard, left);
        }
    }

    /** Starts, continues or ends the eviction of a shard; returns the number of objects that begin to leave, at most {@code budget}. */
    public static int decide(DecisionContext d, String shard, int budget) {
        StorePolicy policy = d.policy().store();
        ShardRow row = row(d, shard);
        if (row == null || !isAbove(row, policy)) {
            return 0;
        }
        Envelope about = d.envelope(shard, 0);
        if (policy != null && row.reliefBlocks() == 0) {
            d.fact(new WaterLevelCrossed(about, Tier.STORE, "", row.usedBlocks(), row.leavingBlocks(), policy.shardBlocks(), policy.highMark(),
                    d.clock().policyVersion()));
            d.evolve();
        }
        int leaving = policy == null ? 0 : evict(d, about, policy, budget);
        row = row(d, shard);
        if (row != null && isLow(row, policy)) {
            d.fact(new WaterLevelRelieved(about, Tier.STORE, "", row.usedBlocks(), row.leavingBlocks(), policy == null ? 0 : capacity(row, policy),
                    policy == null ? 0 : policy.lowMark(), d.clock().policyVersion()));
            d.evolve();
        }
        return leaving;
    }

    private static int evict(DecisionContext d, Envelope about, StorePolicy policy, int budget) {
        ShardRow row = row(d, about.aggregate());
        if (row == null || row.node() == null || row.deletion() != null || row.pausedUntilMs() > d.clock().logTimeMs()) {
            return 0;
        }
        long excess = Policies.excess(ShardRows.standing(row), policy.lowMark(), capacity(row, policy));
        int most = (int) Math.min(Math.min(d.policy().reliefBatchBlocks(), budget), excess);
        return delete(d, about, row, pick(d, about.aggregate(), policy, most));
    }

    /** Whether something is to be decided about a shard of the partition that no timer waits for. */
    public static boolean isWanted(Tables tables, String clock, Policy policy) {
        for (String shard : ShardRows.of(tables, clock)) {
            ShardRow row = tables.get(Rows.SHARDS, ShardRows.key(clock, shard));
            if (row != null && row.node() != null && isAbove(row, policy.store())) {
                return true;
            }
        }
        return false;
    }

    /** The store has no space for more of the shard: evicts as if what it holds were its capacity. */
    public static void full(DecisionContext d, StoreFull e) {
        String shard = e.envelope().aggregate();
        Envelope about = d.envelope(shard, 0);
        StorePolicy policy = d.policy().store();
        ShardRow row = row(d, shard);
        if (!Aggregates.isStore(shard)) {
            d.refuse(about, e, RefusalReason.WRONG_AGGREGATE, "This event is about a shard of the store, not " + shard);
        } else if (policy == null || row == null) {
            d.refuse(about, e, RefusalReason.NO_CAPACITY, policy == null ? "The policy has no capacity of the store" : "The shard holds nothing");
        } else if (row.deletion() != null || (row.reliefBlocks() > 0 && row.node() != null)) {
            d.refuse(about, e, RefusalReason.REPEATED, "The shard is being evicted already");
        } else if (row.reliefBlocks() > 0) {
            name(d, about, e.envelope(), e.node());
        } else {
            d.fact(new WaterLevelCrossed(about, Tier.STORE, "", row.usedBlocks(), row.leavingBlocks(),
                    Math.clamp(ShardRows.standing(row), 1, policy.shardBlocks()), policy.highMark(), d.clock().policyVersion()));
            name(d, about, e.envelope(), e.node());
        }
    }

    /** The time of a deletion is over: its agent is taken to be lost, and its objects serve on until another agent finds them gone. */
    public static void unanswered(DecisionContext d, String shard) {
        DeletionRow row = d.tables().get(Rows.DELETIONS, new RowKey.Aggregate(shard));
        if (row != null && row.deadlineMs() <= d.clock().logTimeMs()) {
            int objects = row.objects().stream().mapToInt(one -> one.blocks().size()).sum();
            d.fact(new DeletionEnded(d.envelope(shard, 0), row.deletion(), OperationReason.NODE_LOST, 0, objects));
        }
    }

    /** The sender of a report deletes the objects of the shard from here on, when no agent does, or an earlier incarnation of it. */
    static void name(DecisionContext d, Envelope about, Envelope report, String node) {
        ShardRow row = row(d, about.aggregate());
        String named = row == null ? null : row.node();
        boolean free = named == null || (row != null && named.equals(node) && row.nodeIncarnation() < report.incarnation());
        if (d.policy().store() != null && free && report.incarnation() > 0 && Checks.isNodeName(node)) {
            d.fact(new StoreAgentNamed(about, node, report.incarnation()));
        }
    }

    private static @Nullable ShardRow row(DecisionContext d, String shard) {
        return d.tables().get(Rows.SHARDS, ShardRows.key(d.clockAggregate(), shard));
    }

    /** Whether eviction is under way or has to begin. */
    private static boolean isAbove(ShardRow row, @Nullable StorePolicy policy) {
        long standing = ShardRows.standing(row);
        return row.reliefBlocks() > 0
                || (policy != null && standing > 0 && Policies.reaches(standing, policy.highMark(), policy.shardBlocks()));
    }

    private static boolean isLow(ShardRow row, @Nullable StorePolicy policy) {
        long standing = ShardRows.standing(row);
        return policy == null || standing == 0 || !Policies.reaches(standing, policy.lowMark(), capacity(row, policy));
    }

    /** What an eviction goes by: the policy's capacity, or what the shard held when the store had no space. */
    private static long capacity(ShardRow row, StorePolicy policy) {
        return row.reliefBlocks() == 0 ? policy.shardBlocks() : Math.min(row.reliefBlocks(), policy.shardBlocks());
    }

    private static List<EvictionPicker.Batch> pick(DecisionContext d, String shard, StorePolicy policy, int most) {
        EvictionRules stays = new EvictionRules.ForStore(d.clock().logTimeMs(), policy.keepMs());
        List<EvictionPicker.Batch> all = EvictionPicker.pick(new EvictionPicker.OfShard(d, shard), stays,
                new EvictionPicker.Most(most, Math.max(1, most), false), d.policy().reliefBatchBlocks());
        return d.clock().coreVersion() <= CoreVersion.UNBOUNDED_NAMES ? all : all.subList(0, RecordBytes.fitting(all, MOST_BYTES,
                batch -> RecordBytes.of(batch.namespace()) + (long) BLOCK_BYTES * batch.blocks().size()));
    }

    private static int delete(DecisionContext d, Envelope about, ShardRow row, List<EvictionPicker.Batch> batches) {
        String node = row.node();
        if (batches.isEmpty() || node == null) {
            return 0;
        }
        List<ShardObjects> objects = batches.stream().map(batch -> new ShardObjects(batch.namespace(), batch.blocks())).toList();
        String deletion = d.nextId(about.aggregate());
        d.fact(new DeletionIssued(about, deletion, node, row.nodeIncarnation(), objects, d.in(d.policy().operationTimeoutMs())));
        d.command(new DeleteObjects(d.envelope(Aggregates.NODE + node, row.nodeIncarnation()), new CommandHeader(d.nextId(about.aggregate()), 0),
                about.aggregate(), deletion, objects));
        d.evolve();
        return batches.stream().mapToInt(batch -> batch.blocks().size()).sum();
    }
}
