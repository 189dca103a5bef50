/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.simulation.oracle;

import io.tierlog.controller.core.api.DecideResult;
import io.tierlog.controller.core.table.HeapTables;
import io.tierlog.controller.core.table.RowKey;
import io.tierlog.controller.core.table.Rows;
import io.tierlog.ops.simulation.world.UndoTables;
import io.tierlog.ops.simulation.world.World;
import io.tierlog.schemas.OperationState;
import io.tierlog.schemas.decision.Fact;
import io.tierlog.schemas.decision.TimeAdvanced;
import io.tierlog.schemas.event.Event;
import io.tierlog.schemas.event.Tick;
import io.tierlog.schemas.state.NodeRow;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What falls due at a tick ends at that tick: operations, leases and marks of nodes that live. Where more timers are due than one tick serves, it
 * says nothing. For one thread.
 */
public final class TimerOracle implements World.Watcher {
    private final World world;
    private @Nullable TimeAdvanced time;
    private int served;

    /** Looks at the rows of the controller of {@code world}. */
    public TimerOracle(World world) {
        this.world = world;
    }

    @Override
    public void decided(int partition, long offset, Event event, DecideResult decided) {
        List<Fact> facts = decided.facts();
        time = event instanceof Tick
                ? facts.stream().filter(TimeAdvanced.class::isInstance).map(TimeAdvanced.class::cast).findFirst().orElse(null)
                : null;
        served = facts.size();
    }

    @Override
    public void touched(int partition, HeapTables state, List<UndoTables.Touched<?, ?>> rows) {
        TimeAdvanced now = time;
        if (now == null || served + stillDue(state, partition, now.logTimeMs()) >= world.limits().timersPerTick()) {
            return;
        }
        long nowMs = now.logTimeMs();
        state.rows(Rows.OPERATIONS).forEach((key, row) -> {
            boolean runs = row.state() == OperationState.ISSUED || row.state() == OperationState.OVERDUE;
            require(!runs || row.deadlineMs() > nowMs || !lives(state, partition, key.aggregate(), row.incarnation()), key, row, nowMs);
        });
        state.rows(Rows.LEASES).forEach((key, row) ->
                require(row.endMs() > nowMs || !lives(state, partition, key.aggregate(), row.incarnation()), key, row, nowMs));
        state.rows(Rows.MARKS).forEach((key, row) ->
                require(row.endMs() > nowMs || row.operation() != null || world.log().partitionOf(key.aggregate()) != partition, key, row, nowMs));
    }

    private static long stillDue(HeapTables state, int partition, long nowMs) {
        String clock = "clock/" + partition;
        return state.rows(Rows.TIMERS).keySet().stream().filter(key ->
                key.aggregate().equals(clock) && key.queue() != RowKey.Timer.Queue.FORGET && key.dueMs() <= nowMs).count();
    }

    private boolean lives(HeapTables state, int partition, String aggregate, long incarnation) {
        if (world.log().partitionOf(aggregate) != partition) {
            return false;
        }
        NodeRow node = state.get(Rows.NODES, new RowKey.Aggregate(aggregate));
        return node != null && node.alive() && node.incarnation() == incarnation;
    }

    private static void require(boolean holds, Object key, Object row, long nowMs) {
        if (!holds) {
            throw new IllegalStateException("effect, time: it is " + nowMs + " ms, and this goes on: " + key + " " + row);
        }
    }
}
