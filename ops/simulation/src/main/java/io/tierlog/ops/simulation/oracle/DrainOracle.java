/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.simulation.oracle;

import io.tierlog.controller.core.api.DecideResult;
import io.tierlog.controller.core.state.NodeRows;
import io.tierlog.controller.core.table.HeapTables;
import io.tierlog.controller.core.table.RowKey;
import io.tierlog.controller.core.table.Rows;
import io.tierlog.ops.simulation.world.UndoTables;
import io.tierlog.ops.simulation.world.World;
import io.tierlog.schemas.Block;
import io.tierlog.schemas.DrainEnd;
import io.tierlog.schemas.MoveCause;
import io.tierlog.schemas.MoveTrigger;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.decision.Fact;
import io.tierlog.schemas.decision.NodeDrained;
import io.tierlog.schemas.decision.NodeEnded;
import io.tierlog.schemas.decision.OperationEnded;
import io.tierlog.schemas.decision.OperationIssued;
import io.tierlog.schemas.event.Event;
import io.tierlog.schemas.state.NamespaceRow;
import io.tierlog.schemas.state.NodeRow;
import io.tierlog.schemas.state.PlacementState;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * A node is drained when the store itself holds every block that serves there, and no copy that its drain has begun goes on. What the store has
 * lost, and what the controller counts as left, is exempt. For one thread.
 */
public final class DrainOracle implements World.Watcher {
    private final World world;
    private final Map<String, OperationIssued> open = new LinkedHashMap<>();
    /** Nodes that the last decision has called drained, with nothing left. */
    private final Set<String> drained = new LinkedHashSet<>();

    /** Looks at the rows of the controller of {@code world}. */
    public DrainOracle(World world) {
        this.world = world;
    }

    @Override
    public void decided(int partition, long offset, Event event, DecideResult decided) {
        drained.clear();
        for (Fact fact : decided.facts()) {
            if (fact instanceof NodeDrained f && f.leftBlocks() == 0) {
                drained.add(f.envelope().aggregate());
            }
        }
    }

    @Override
    public void touched(int partition, HeapTables state, List<UndoTables.Touched<?, ?>> rows) {
        drained.forEach(aggregate -> requireSaved(state, aggregate));
        drained.clear();
    }

    private void requireSaved(HeapTables state, String aggregate) {
        NodeRow node = state.rows(Rows.NODES).get(new RowKey.Aggregate(aggregate));
        state.rows(Rows.PLACEMENTS).forEach((key, row) -> {
            boolean serves = key.aggregate().equals(aggregate) && (key.tier() == Tier.HOST || key.tier() == Tier.DISK)
                    && row.state() == PlacementState.SERVING && node != null && NodeRows.isCurrent(node, key.tier(), row);
            if (serves) {
                NamespaceRow text = state.rows(Rows.NAMESPACES).get(new RowKey.Namespace(aggregate, key.namespace()));
                String namespace = text == null ? "" : text.namespace();
                if (!world.store().holds(namespace, key.block()) && !world.store().hasLostSince(0, namespace, key.block())) {
                    throw new IllegalStateException("effect, drain: " + aggregate + " is drained, and the store lacks block " + key.block() + " of "
                            + namespace + ", which serves on " + key.tier());
                }
            }
        });
    }

    @Override
    public void committed(int partition, long offset, Fact fact) {
        switch (fact) {
            case OperationIssued f -> {
                MoveCause move = f.move();
                if (move != null && move.trigger() == MoveTrigger.DRAIN) {
                    open.put(f.operation(), f);
                }
            }
            case OperationEnded f -> open.remove(f.operation());
            case NodeEnded f -> open.values().removeIf(one -> one.envelope().aggregate().equals(f.envelope().aggregate()));
            case NodeDrained f when f.reason() == DrainEnd.DONE -> drained(f);
            default -> {}
        }
    }

    private void drained(NodeDrained f) {
        for (OperationIssued copy : open.values()) {
            if (copy.envelope().aggregate().equals(f.envelope().aggregate()) && copy.blocks().stream().anyMatch(block -> isSaving(copy, block))) {
                throw new IllegalStateException("effect, drain: " + f.envelope().aggregate() + " is drained, and this goes on: " + copy);
            }
        }
    }

    private boolean isSaving(OperationIssued copy, Block block) {
        HeapTables state = world.state();
        return state.rows(Rows.PLACEMENTS).entrySet().stream().anyMatch(one -> {
            var key = one.getKey();
            var row = one.getValue();
            return key.aggregate().equals(copy.envelope().aggregate()) && key.tier() == copy.from() && key.block().equals(block.key())
                    && row.state() != PlacementState.ABSENT && !row.stored();
        });
    }
}
