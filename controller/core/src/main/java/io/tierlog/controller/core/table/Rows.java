/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.table;

import io.tierlog.schemas.state.ClockRow;
import io.tierlog.schemas.state.DeletionRow;
import io.tierlog.schemas.state.EntryRow;
import io.tierlog.schemas.state.LeaseRow;
import io.tierlog.schemas.state.MarkRow;
import io.tierlog.schemas.state.MigrationRow;
import io.tierlog.schemas.state.NamespaceRow;
import io.tierlog.schemas.state.NodeRow;
import io.tierlog.schemas.state.OperationRow;
import io.tierlog.schemas.state.PeerReadLeaseRow;
import io.tierlog.schemas.state.PlacementRow;
import io.tierlog.schemas.state.PolicyRow;
import io.tierlog.schemas.state.PromotionRow;
import io.tierlog.schemas.state.RequestRow;
import io.tierlog.schemas.state.SealedRow;
import io.tierlog.schemas.state.ShardRow;
import io.tierlog.schemas.state.TaskRow;
import java.util.List;

/** The tables of the controller. Their numbers are part of every key in a store and never change. */
public final class Rows {
    /** Log time and policy of a partition, under clock/PARTITION. */
    public static final Table<RowKey.Aggregate, ClockRow> CLOCK = new Table<>(1, Rows::one, "clock", RowKey.Aggregate::read, ClockRow.TYPE);

    /** The last version of the policy, under policy. */
    public static final Table<RowKey.Aggregate, PolicyRow> POLICY = new Table<>(2, Rows::one, "policy", RowKey.Aggregate::read, PolicyRow.TYPE);

    /** The nodes of a partition, under clock/PARTITION. */
    public static final Table<RowKey.Text, EntryRow> MEMBERS = new Table<>(3, null, "members", RowKey.Text::read, EntryRow.TYPE);

    /** What is due when in a partition, under clock/PARTITION. */
    public static final Table<RowKey.Timer, EntryRow> TIMERS = new Table<>(4, null, "timers", RowKey.Timer::read, EntryRow.TYPE);

    /** Nodes. */
    public static final Table<RowKey.Aggregate, NodeRow> NODES = new Table<>(5, Rows::one, "nodes", RowKey.Aggregate::read, NodeRow.TYPE);

    /** Texts of the namespaces whose digests are in keys. */
    public static final Table<RowKey.Namespace, NamespaceRow> NAMESPACES =
            new Table<>(6, Rows::one, "namespaces", RowKey.Namespace::read, NamespaceRow.TYPE);

    /** Requests, the ended ones for a while. */
    public static final Table<RowKey.Text, RequestRow> REQUESTS = new Table<>(7, Rows::one, "requests", RowKey.Text::read, RequestRow.TYPE);

    /** Sealed blocks that wait for the end of their request. */
    public static final Table<RowKey.Sealed, SealedRow> SEALED = Table.shortQueue(
            8, row -> 1 + row.blocks().size(), RowKey.Sealed::first, "sealed", RowKey.Sealed::read, SealedRow.TYPE);

    /** Operations, the ended ones for a while. */
    public static final Table<RowKey.Text, OperationRow> OPERATIONS =
            new Table<>(9, row -> 1 + row.blocks().size(), "operations", RowKey.Text::read, OperationRow.TYPE);

    /** Leases that have not ended. */
    public static final Table<RowKey.Text, LeaseRow> LEASES =
            new Table<>(10, row -> 1 + row.deepest().size(), "leases", RowKey.Text::read, LeaseRow.TYPE);

    /** Placements of blocks. */
    public static final Table<RowKey.Placement, PlacementRow> PLACEMENTS =
            new Table<>(11, Rows::one, "placements", RowKey.Placement::read, PlacementRow.TYPE);

    /** Leaves in the eviction order. */
    public static final Table<RowKey.Order, EntryRow> ORDER = new Table<>(12, null, "order", RowKey.Order::read, EntryRow.TYPE);

    /** Marks of a node. */
    public static final Table<RowKey.Mark, MarkRow> MARKS = new Table<>(13, Rows::one, "marks", RowKey.Mark::read, MarkRow.TYPE);

    /** A node's parts of the migrations that operators requested; ended ones are kept for a while. */
    public static final Table<RowKey.Text, TaskRow> TASKS =
            new Table<>(14, row -> 1 + row.operations().size(), "tasks", RowKey.Text::read, TaskRow.TYPE);

    /** The migrations that operators requested, each under its own aggregate; ended ones are kept for a while. */
    public static final Table<RowKey.Aggregate, MigrationRow> MIGRATIONS =
            new Table<>(15, row -> 1 + row.parts().size(), "migrations", RowKey.Aggregate::read, MigrationRow.TYPE);

    /** Promotions of single blocks, the ended ones for a while. */
    public static final Table<RowKey.Mark, PromotionRow> PROMOTIONS =
            new Table<>(16, Rows::one, "promotions", RowKey.Mark::read, PromotionRow.TYPE);

    /** Promotions that wait for their turn, the next one first: by the offset of the probe, then the shallower block. */
    public static final Table<RowKey.Order, EntryRow> QUEUE = new Table<>(17, null, "queue", RowKey.Order::read, EntryRow.TYPE);

    /** The peer read leases of a node, by the name of the grant; ended ones are kept for a while. */
    public static final Table<RowKey.Text, PeerReadLeaseRow> GRANTS =
            new Table<>(18, row -> 1 + row.blocks().size(), "grants", RowKey.Text::read, PeerReadLeaseRow.TYPE);

    /** Shards of the store that have objects, under clock/PARTITION. */
    public static final Table<RowKey.Text, ShardRow> SHARDS = new Table<>(19, Rows::one, "shards", RowKey.Text::read, ShardRow.TYPE);

    /** The deletion in flight of each shard. */
    public static final Table<RowKey.Aggregate, DeletionRow> DELETIONS = new Table<>(
            20, row -> 1 + row.objects().stream().mapToInt(one -> one.blocks().size()).sum(), "deletions", RowKey.Aggregate::read,
            DeletionRow.TYPE);

    /** All of them, by number. */
    public static final List<Table<?, ?>> ALL = List.of(
            CLOCK, POLICY, MEMBERS, TIMERS, NODES, NAMESPACES, REQUESTS, SEALED, OPERATIONS, LEASES, PLACEMENTS, ORDER, MARKS, TASKS, MIGRATIONS,
            PROMOTIONS, QUEUE, GRANTS, SHARDS, DELETIONS);

    /** The row of an index. */
    public static final EntryRow ENTRY = new EntryRow(true);

    private Rows() {}

    private static int one(Object row) {
        return 1;
    }
}
