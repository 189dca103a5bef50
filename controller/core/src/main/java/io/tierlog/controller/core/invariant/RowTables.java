/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.invariant;

import io.tierlog.controller.core.table.Namespaces;
import io.tierlog.controller.core.table.RowKey;
import io.tierlog.controller.core.table.Rows;
import io.tierlog.controller.core.table.Tables;
import io.tierlog.schemas.Block;
import io.tierlog.schemas.OperationKind;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.state.LeaseRow;
import io.tierlog.schemas.state.LeaseState;
import io.tierlog.schemas.state.NodeRow;
import io.tierlog.schemas.state.OperationRow;
import io.tierlog.schemas.state.PeerReadLeaseRow;
import io.tierlog.schemas.state.PlacementRow;
import io.tierlog.schemas.state.PlacementState;
import io.tierlog.schemas.state.RequestRow;
import io.tierlog.schemas.state.TierRow;

/** Single rows of one node, each checked with its neighbours. Used for one sample. */
final class RowTables {
    private final Tables tables;
    private final String aggregate;
    private final NodeRow node;
    private final TableInvariants.Say say;

    RowTables(Tables tables, String aggregate, NodeRow node, TableInvariants.Say say) {
        this.tables = tables;
        this.aggregate = aggregate;
        this.node = node;
        this.say = say;
    }

    void node() {
        for (TierRow tier : node.tiers()) {
            if (tier.leavingBlocks() < 0 || tier.usedBlocks() < tier.leavingBlocks()) {
                say.that(Invariant.I4, "more leaves than is there: " + tier);
            }
            if (tier.drops() < 0 || tier.copies() < 0) {
                say.that(Invariant.I12, "fewer operations than none: " + tier);
            }
        }
    }

    void copy(RowKey.Placement key, PlacementRow row) {
        boolean leaf = TableInvariants.isOrdered(key.tier()) && NodeTables.isLeaf(row);
        if (leaf && (isOutOfOrder(key, row, "") || (!row.group().isEmpty() && isOutOfOrder(key, row, row.group())))) {
            say.that(Invariant.I13, "the eviction order lacks " + key);
        }
        if (!TableInvariants.isCurrent(node, key.tier(), row)) {
            return;
        }
        alone(say, key, row);
        String id = row.operation();
        OperationRow operation = id == null ? null : tables.get(Rows.OPERATIONS, new RowKey.Text(aggregate, id));
        if (id != null && (operation == null || !NodeTables.isUnfinished(operation) || !fits(key.tier(), row.state(), operation))) {
            say.that(Invariant.I12, key + " is " + row.state() + " by " + id + ", which does no such thing: " + operation);
        }
        if (NodeTables.isChild(row.state()) && TableInvariants.isOrdered(key.tier()) && !row.parent().isEmpty()) {
            RowKey.Placement above = new RowKey.Placement(aggregate, key.namespace(), key.tier(), row.parent());
            PlacementRow parent = tables.get(Rows.PLACEMENTS, above);
            if (parent == null || !TableInvariants.isCurrent(node, key.tier(), parent) || parent.children() < 1) {
                say.that(Invariant.I13, key + " extends " + row.parent() + ", which knows of no child");
            }
        }
    }

    private boolean isOutOfOrder(RowKey.Placement key, PlacementRow row, String group) {
        return tables.get(Rows.ORDER, TableInvariants.orderOf(key, row, group)) == null;
    }

    private static boolean fits(Tier tier, PlacementState state, OperationRow operation) {
        return switch (state) {
            case WRITING -> operation.kind() != OperationKind.DROP && operation.kind() != OperationKind.BACK_UP && operation.to() == tier;
            case LEAVING -> operation.kind() == OperationKind.DROP && operation.from() == tier;
            case COPYING, COPYING_KEEP -> operation.kind() == OperationKind.COPY && operation.from() == tier;
            case ABSENT, SERVING, UNKNOWN -> false;
        };
    }

    /** What a row must satisfy by itself. */
    static void alone(TableInvariants.Say say, RowKey.Placement key, PlacementRow row) {
        boolean moving = row.state() != PlacementState.ABSENT && row.state() != PlacementState.SERVING;
        if (moving != (row.operation() != null)) {
            say.that(Invariant.I12, key + " is " + row.state() + " by " + row.operation());
        }
        if (row.children() < 0 || row.holds() < 0 || row.credit() < 0) {
            say.that(Invariant.I13, key + " has fewer children, holds or credit than none: " + row);
        }
        boolean copied = row.state() == PlacementState.COPYING || row.state() == PlacementState.COPYING_KEEP || row.refused();
        if (copied && !TableInvariants.isOrdered(key.tier())) {
            say.that(Invariant.I13, "only the host and the disk are copied from: " + key + " is " + row);
        }
        boolean served = row.state() != PlacementState.ABSENT && row.state() != PlacementState.WRITING;
        if (row.promotedUnder() != null && (key.tier() != Tier.HOST || !served)) {
            say.that(Invariant.I13, "only what serves on the host was promoted: " + key + " is " + row);
        }
        if (row.state() == PlacementState.ABSENT && row.children() == 0 && row.holds() == 0) {
            say.that(Invariant.I13, "nothing refers to " + key + ", which is not there");
        }
    }

    /** Every row of the eviction order is a leaf, and is at its right place. */
    void order(RowKey.Order key) {
        RowKey.Placement of = new RowKey.Placement(aggregate, key.namespace(), key.tier(), key.block());
        PlacementRow row = tables.get(Rows.PLACEMENTS, of);
        boolean its = row != null && (key.group().isEmpty() || key.group().equals(row.group()));
        if (row == null || !its || !NodeTables.isLeaf(row) || !TableInvariants.orderOf(of, row, key.group()).equals(key)) {
            say.that(Invariant.I13, "the eviction order has " + key + ", and the placement is " + row);
        }
    }

    /** A lease of a request of this incarnation exists and belongs to that request. */
    void request(RowKey.Text key, RequestRow row) {
        String id = row.lease();
        if (id == null || row.incarnation() != node.incarnation() || !node.alive()) {
            return;
        }
        LeaseRow lease = tables.get(Rows.LEASES, new RowKey.Text(aggregate, id));
        if (lease == null || lease.incarnation() != node.incarnation() || !lease.request().equals(key.id()) || lease.attempt() != row.attempt()) {
            say.that(Invariant.I5, "request " + key.id() + " has lease " + id + ", which is not its own");
        }
    }

    void operation(RowKey.Text key, OperationRow row) {
        if (!NodeTables.isUnfinished(row) && !row.blocks().isEmpty()) {
            say.that(Invariant.I12, "operation " + key.id() + " has ended as " + row.state() + " and still has " + row.blocks().size() + " blocks");
        }
    }

    /** Whether a lease has no request: a promotion keeps what it has brought. */
    static boolean isOfPromotion(LeaseRow row) {
        return row.request().isEmpty() && row.attempt() == 0;
    }

    /** A peer read lease has a pin lease of the same name, from its grant to its end. */
    void grant(RowKey.Text key, PeerReadLeaseRow row) {
        LeaseRow lease = tables.get(Rows.LEASES, key);
        boolean goesOn = !row.blocks().isEmpty() && row.incarnation() == node.incarnation() && node.alive();
        if (goesOn && (lease == null || !lease.operation().isEmpty())) {
            say.that(Invariant.I1, "grant " + key.id() + " goes on, and has no lease");
        }
    }

    void lease(RowKey.Text key, LeaseRow row) {
        if (row.incarnation() != node.incarnation() || !node.alive()) {
            return;
        }
        boolean ofPeer = row.operation().isEmpty();
        PeerReadLeaseRow grant = ofPeer ? tables.get(Rows.GRANTS, key) : null;
        if (ofPeer && (grant == null || grant.blocks().isEmpty() || grant.incarnation() != row.incarnation())) {
            say.that(Invariant.I1, "lease " + key.id() + " goes on, and its grant has ended");
        }
        RequestRow owner = tables.get(Rows.REQUESTS, new RowKey.Text(aggregate, row.request()));
        if (ofPeer) {
            return;
        }
        if (isOfPromotion(row)) {
            OperationRow operation = tables.get(Rows.OPERATIONS, new RowKey.Text(aggregate, row.operation()));
            if (operation != null && operation.kind() != OperationKind.PROMOTE) {
                say.that(Invariant.I5, "lease " + key.id() + " has no request, and its operation is not a promotion: " + operation);
            }
        } else if (owner == null || owner.attempt() != row.attempt() || !key.id().equals(owner.lease())) {
            say.that(Invariant.I5, "lease " + key.id() + " goes on, and " + row.request() + " does not have it");
        }
        if (row.state() == LeaseState.HELD) {
            for (Block block : row.deepest()) {
                PlacementRow copy = tables.get(Rows.PLACEMENTS, new RowKey.Placement(aggregate, Namespaces.digest(row.namespace()), Tier.HOST,
                        block.key()));
                if (copy == null || copy.holds() < 1) {
                    say.that(Invariant.I1, "lease " + key.id() + " holds block " + block.key() + ", whose row does not know of it");
                    return;
                }
            }
        }
    }
}
