/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.evolve;

import io.tierlog.controller.core.api.IllegalHistory;
import io.tierlog.controller.core.policy.Groups;
import io.tierlog.controller.core.policy.Policies;
import io.tierlog.controller.core.state.Aggregates;
import io.tierlog.controller.core.state.ClockRows;
import io.tierlog.controller.core.state.NodeRows;
import io.tierlog.controller.core.state.PlacementRows;
import io.tierlog.controller.core.state.ShareRows;
import io.tierlog.controller.core.table.RowKey;
import io.tierlog.controller.core.table.Rows;
import io.tierlog.controller.core.table.Tables;
import io.tierlog.schemas.Block;
import io.tierlog.schemas.EvictionOrder;
import io.tierlog.schemas.PagedBlock;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.decision.BlocksBackedUp;
import io.tierlog.schemas.decision.BlocksPlaced;
import io.tierlog.schemas.decision.BlocksRemoved;
import io.tierlog.schemas.decision.BlocksTouched;
import io.tierlog.schemas.decision.BlocksUnconfirmed;
import io.tierlog.schemas.decision.Fact;
import io.tierlog.schemas.state.NodeRow;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Facts about placements of blocks. Without state. */
final class EvolvePlacements {
    private EvolvePlacements() {}

    static void placed(Tables t, BlocksPlaced fact) {
        EvolvePromotions.Placed fresh = EvolvePromotions.placed(t, fact);
        PlacementWriter copies = open(t, fact, fact.tier(), fact.namespace());
        copies.rememberNamespace();
        boolean stored = fact.heldAlso() == Tier.STORE;
        for (PagedBlock block : fact.blocks()) {
            copies.place(block, fact.touch(), stored);
        }
        fresh.blocks().forEach(block -> copies.promoted(block, fresh.lease()));
        close(t, fact, fact.tier(), copies);
        String operation = fact.operation();
        if (operation != null) {
            EvolveOperations.settled(t, fact, operation);
        } else if (fact.tier() == Tier.HOST || fact.tier() == Tier.DISK) {
            EvolveMigrations.foundByAgent(t, fact);
        }
    }

    static void touched(Tables t, BlocksTouched fact) {
        PlacementWriter copies = open(t, fact, fact.tier(), fact.namespace());
        for (Block block : fact.deepest()) {
            copies.touch(block, fact.touch());
        }
        close(t, fact, fact.tier(), copies);
    }

    static void backedUp(Tables t, BlocksBackedUp fact) {
        stored(t, fact, fact.namespace(), fact.blocks(), true);
    }

    static void unconfirmed(Tables t, BlocksUnconfirmed fact) {
        stored(t, fact, fact.namespace(), fact.blocks(), false);
    }

    private static void stored(Tables t, Fact fact, String namespace, List<Block> blocks, boolean stored) {
        for (Tier tier : List.of(Tier.HOST, Tier.DISK)) {
            if (NodeRows.tier(Evolve.node(t, fact), tier) != null) {
                PlacementWriter copies = open(t, fact, tier, namespace);
                for (Block block : blocks) {
                    copies.stored(block, stored);
                }
                close(t, fact, tier, copies);
            }
        }
    }

    static void removed(Tables t, BlocksRemoved fact) {
        PlacementWriter copies = open(t, fact, fact.tier(), fact.namespace());
        for (Block block : fact.blocks()) {
            copies.remove(block);
        }
        close(t, fact, fact.tier(), copies);
        EvolveExpiry.removed(t, fact, fact.namespace());
    }

    /** The placements on a tier of the aggregate that the fact is about. */
    static PlacementWriter open(Tables t, Fact fact, Tier tier, String namespace) {
        return new PlacementWriter(t, fact.envelope().aggregate(), owner(t, fact), tier, namespace,
                new InForce(t, fact, tier, namespace), fact.envelope().timeMs());
    }

    /** Read only when it is asked. */
    private record InForce(Tables t, Fact fact, Tier tier, String namespace) implements PlacementWriter.Rules {
        @Override
        public String groupOfNew() {
            return Groups.of(Evolve.policy(t, fact), namespace);
        }

        @Override
        public EvictionOrder order(String group) {
            return Policies.order(Evolve.clockOf(t, fact), tier, group);
        }
    }

    /** Writes what is open, and the counts of the tier when they have changed. */
    static void close(Tables t, Fact fact, Tier tier, PlacementWriter copies) {
        copies.close();
        if (copies.rows() != 0) {
            RowKey.Aggregate clock = new RowKey.Aggregate(Aggregates.clockOf(fact.envelope().sender()));
            t.put(Rows.CLOCK, clock, ClockRows.placed(Evolve.clockOf(t, fact), copies.rows()));
        }
        NodeRow owner = owner(t, fact);
        if (owner == null) {
            PlacementWriter.Deltas objects = copies.deltas().get(PlacementWriter.ALL);
            if (objects != null) {
                EvolveStore.count(t, fact, objects);
            }
            return;
        }
        boolean missed = copies.hasNewlyUnsaved() && PlacementRows.isOrdered(tier) && ShareRows.orNothing(owner.shares()).draining();
        if (copies.deltas().isEmpty() && !missed) {
            return;
        }
        NodeState node = NodeState.of(owner);
        if (missed) {
            node.shares.unsavedWhileDraining();
        }
        copies.deltas().forEach((group, more) -> {
            if (group.equals(PlacementWriter.ALL)) {
                count(node.tier(tier), more);
            } else {
                node.shares.count(group, tier, more.used, more.leaving);
            }
        });
        t.put(Rows.NODES, Evolve.key(fact), node.toRow());
        PlacementWriter.Deltas all = copies.deltas().get(PlacementWriter.ALL);
        if (all != null && all.used != 0 && PlacementRows.isOrdered(tier)) {
            copies.countNamespace(all.used);
            if (all.used < 0) {
                EvolveExpiry.removed(t, fact, copies.namespace());
            }
        }
    }

    private static void count(NodeState.TierState use, PlacementWriter.Deltas more) {
        use.usedBlocks += more.used;
        use.leavingBlocks += more.leaving;
        if (use.usedBlocks < 0 || use.leavingBlocks < 0) {
            throw new IllegalHistory("A tier holds fewer than 0 blocks: " + use.toRow());
        }
    }

    private static @Nullable NodeRow owner(Tables t, Fact fact) {
        return Aggregates.isStore(fact.envelope().aggregate()) ? null : Evolve.node(t, fact);
    }


}
