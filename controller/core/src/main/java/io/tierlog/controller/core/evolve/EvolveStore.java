/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.evolve;

import io.tierlog.controller.core.api.IllegalHistory;
import io.tierlog.controller.core.state.Aggregates;
import io.tierlog.controller.core.state.ShardRows;
import io.tierlog.controller.core.table.RowKey;
import io.tierlog.controller.core.table.Rows;
import io.tierlog.controller.core.table.Tables;
import io.tierlog.schemas.OperationReason;
import io.tierlog.schemas.PagedBlock;
import io.tierlog.schemas.ShardObjects;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.decision.DeletionEnded;
import io.tierlog.schemas.decision.DeletionIssued;
import io.tierlog.schemas.decision.Fact;
import io.tierlog.schemas.decision.StoreAgentNamed;
import io.tierlog.schemas.state.DeletionRow;
import io.tierlog.schemas.state.ShardRow;

/** Facts about shards of the store: what they hold, and the deletion of each. A shard without objects and without either has no row. */
final class EvolveStore {
    private EvolveStore() {}

    /** Objects of the shard have come, have gone, or are to go. */
    static void count(Tables t, Fact fact, PlacementWriter.Deltas more) {
        ShardRow.Edit shard = shard(t, fact).edit();
        shard.usedBlocks += more.used;
        shard.leavingBlocks += more.leaving;
        if (shard.leavingBlocks < 0 || shard.usedBlocks < shard.leavingBlocks) {
            throw new IllegalHistory("A shard holds fewer blocks than leave it: " + shard.row());
        }
        put(t, fact, shard.row());
    }

    /** Eviction begins, going by {@code blocks}, or has ended: then that is 0. */
    static void inRelief(Tables t, Fact fact, long blocks) {
        ShardRow.Edit shard = shard(t, fact).edit();
        shard.reliefBlocks = blocks;
        put(t, fact, shard.row());
    }

    static void named(Tables t, StoreAgentNamed fact) {
        ShardRow.Edit shard = shard(t, fact).edit();
        shard.node = fact.node();
        shard.nodeIncarnation = fact.nodeIncarnation();
        put(t, fact, shard.row());
    }

    static void issued(Tables t, DeletionIssued fact) {
        ShardRow.Edit shard = shard(t, fact).edit();
        if (shard.deletion != null) {
            throw new IllegalHistory("Deletion " + shard.deletion + " has not ended");
        }
        shard.deletion = fact.deletion();
        put(t, fact, shard.row());
        t.put(Rows.DELETIONS, Evolve.key(fact), new DeletionRow(fact.deletion(), fact.objects(), fact.deadlineMs()));
        Timers.set(t, fact, RowKey.Timer.Kind.DELETION, fact.deletion(), fact.deadlineMs());
        for (ShardObjects objects : fact.objects()) {
            PlacementWriter copies = EvolvePlacements.open(t, fact, Tier.STORE, objects.namespace());
            for (PagedBlock block : objects.blocks()) {
                copies.leave(block.block(), fact.deletion());
            }
            EvolvePlacements.close(t, fact, Tier.STORE, copies);
        }
    }

    /** What was not removed serves on. An agent that did not answer deletes no more; when nothing went, nothing is tried for a while. */
    static void ended(Tables t, DeletionEnded fact) {
        DeletionRow deletion = t.get(Rows.DELETIONS, Evolve.key(fact));
        if (deletion == null || !deletion.deletion().equals(fact.deletion())) {
            throw new IllegalHistory("Deletion " + fact.deletion() + " was never issued, or has ended");
        }
        for (ShardObjects objects : deletion.objects()) {
            PlacementWriter copies = EvolvePlacements.open(t, fact, Tier.STORE, objects.namespace());
            for (PagedBlock block : objects.blocks()) {
                copies.settle(block.block(), fact.deletion());
            }
            EvolvePlacements.close(t, fact, Tier.STORE, copies);
        }
        t.delete(Rows.DELETIONS, Evolve.key(fact));
        Timers.cancel(t, fact, RowKey.Timer.Kind.DELETION, fact.deletion(), deletion.deadlineMs());
        ShardRow.Edit shard = shard(t, fact).edit();
        shard.deletion = null;
        shard.pausedUntilMs = fact.deletedBlocks() > 0 ? 0 : fact.envelope().timeMs() + Evolve.policy(t, fact).operationTimeoutMs();
        if (fact.reason() == OperationReason.NODE_LOST) {
            shard.node = null;
            shard.nodeIncarnation = 0;
        }
        put(t, fact, shard.row());
    }

    /** Whether a timer is for a deletion that has not ended. */
    static boolean isInFlight(Tables t, RowKey.Timer timer) {
        DeletionRow row = t.get(Rows.DELETIONS, new RowKey.Aggregate(timer.owner()));
        return row != null && row.deletion().equals(timer.id());
    }

    private static ShardRow shard(Tables t, Fact fact) {
        ShardRow row = t.get(Rows.SHARDS, key(fact));
        return row == null ? ShardRows.EMPTY : row;
    }

    private static void put(Tables t, Fact fact, ShardRow row) {
        if (row.usedBlocks() == 0 && row.reliefBlocks() == 0 && row.deletion() == null) {
            t.delete(Rows.SHARDS, key(fact));
        } else {
            t.put(Rows.SHARDS, key(fact), row);
        }
    }

    private static RowKey.Text key(Fact fact) {
        return ShardRows.key(Aggregates.clockOf(fact.envelope().sender()), fact.envelope().aggregate());
    }
}
