/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.simulation.oracle;

import io.tierlog.controller.core.table.HeapTables;
import io.tierlog.controller.core.table.Rows;
import io.tierlog.ops.simulation.world.World;
import io.tierlog.schemas.Block;
import io.tierlog.schemas.MoveCause;
import io.tierlog.schemas.MoveTrigger;
import io.tierlog.schemas.decision.Fact;
import io.tierlog.schemas.decision.NodeDrained;
import io.tierlog.schemas.decision.NodeEnded;
import io.tierlog.schemas.decision.OperationEnded;
import io.tierlog.schemas.decision.OperationIssued;
import io.tierlog.schemas.state.PlacementState;
import java.util.LinkedHashMap;
import java.util.Map;

/** A node is drained when no copy that its drain has begun goes on, unless the store has its blocks already. For one thread. */
public final class DrainOracle implements World.Watcher {
    private final World world;
    private final Map<String, OperationIssued> open = new LinkedHashMap<>();

    /** Looks at the rows of the controller of {@code world}. */
    public DrainOracle(World world) {
        this.world = world;
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
            case NodeDrained f -> drained(f);
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
