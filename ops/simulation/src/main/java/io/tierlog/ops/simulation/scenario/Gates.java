/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.simulation.scenario;

import io.tierlog.ops.simulation.hardware.Machine;
import io.tierlog.ops.simulation.hardware.Unit;
import io.tierlog.ops.simulation.world.AgentProcess;
import io.tierlog.ops.simulation.world.SimNode;
import io.tierlog.schemas.OperationKind;
import io.tierlog.schemas.OperationReason;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.command.Command;
import io.tierlog.schemas.command.DropBlocks;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.LongSupplier;

/**
 * What stands still in a scenario: operations of a kind on a node, and the copy queues of its device. A drop from the host takes no time, so a closed
 * gate keeps its command from being read. For one thread.
 */
final class Gates {
    /** The copy queue of one device. */
    private static final class Queue {
        /** Copies until the queue stands still; below 0 for never. */
        long left = -1;
        /** Copies until one fails; 0 for never. */
        long untilFailure;
    }

    private final Map<String, Set<OperationKind>> closed = new LinkedHashMap<>();
    private final Map<String, Queue> queues = new LinkedHashMap<>();
    private final Set<String> passing = new LinkedHashSet<>();
    private final LongSupplier nowMs;
    /** When units of a slow store end. */
    private final Map<Unit, Long> ends = new LinkedHashMap<>();
    private long slowStoreMs;

    Gates(LongSupplier nowMs) {
        this.nowMs = nowMs;
    }

    /** Units of the store that begin from here on take so long, in milliseconds; none where it is 0. */
    void slowStore(long ms) {
        slowStoreMs = ms;
    }

    boolean isStoreSlow() {
        return slowStoreMs > 0;
    }

    /** When the next unit of a slow store ends; Long.MAX_VALUE while none runs. */
    long nextDueMs() {
        return ends.values().stream().mapToLong(Long::longValue).filter(at -> at > nowMs.getAsLong()).min().orElse(Long.MAX_VALUE);
    }

    void set(String node, OperationKind kind, boolean isClosed) {
        Set<OperationKind> kinds = closed.computeIfAbsent(node, any -> EnumSet.noneOf(OperationKind.class));
        if (isClosed) {
            kinds.add(kind);
        } else {
            kinds.remove(kind);
        }
    }

    void pause(String node, long afterCopies) {
        queue(node).left = afterCopies;
    }

    void resume(String node) {
        queue(node).left = -1;
    }

    void failAt(String node, long copy) {
        queue(node).untilFailure = copy;
    }

    private Queue queue(String node) {
        return queues.computeIfAbsent(node, any -> new Queue());
    }

    private boolean isClosed(String node, OperationKind kind) {
        return closed.getOrDefault(node, Set.of()).contains(kind);
    }

    /** Whether the unit stands still; one of the device first copies what its queue lets it. */
    boolean standsStill(SimNode node, Unit unit) {
        AgentProcess process = node.process();
        if (process == null) {
            return true;
        }
        if (isClosed(node.name(), unit.operation()) || (unit.copiesToStore() && isClosed(node.name(), OperationKind.COPY)) || isSlow(unit)) {
            return true;
        }
        return unit.kind().ofDevice() && !copy(process.machine(), unit, queue(node.name()));
    }

    private boolean isSlow(Unit unit) {
        boolean ofStore = switch (unit.kind()) {
            case STORE_READ, STORE_WRITE, STORE_DELETE, PROBE -> true;
            case LOAD, SAVE, DISK_READ, DISK_WRITE, DISK_DROP, PEER_READ, FIND -> false;
        };
        if (!ofStore) {
            return false;
        }
        if (!ends.containsKey(unit)) {
            ends.put(unit, nowMs.getAsLong() + slowStoreMs);
        }
        boolean runs = ends.getOrDefault(unit, 0L) > nowMs.getAsLong();
        if (!runs) {
            ends.put(unit, 0L);
        }
        return runs;
    }

    /** Copies part by part; true when the unit has copied all. */
    private static boolean copy(Machine machine, Unit unit, Queue queue) {
        while (!machine.isCopied(unit)) {
            if (queue.left == 0) {
                return false;
            }
            queue.left -= queue.left > 0 ? 1 : 0;
            boolean fails = queue.untilFailure == 1;
            queue.untilFailure -= queue.untilFailure > 0 ? 1 : 0;
            machine.copyPart(unit, fails ? OperationReason.DEVICE_FAULT : null);
        }
        return true;
    }

    /** Whether the command is not read yet. */
    boolean standsStill(SimNode node, Command command) {
        boolean gated = command instanceof DropBlocks drop && drop.tier() == Tier.HOST && isClosed(node.name(), OperationKind.DROP);
        return gated && !passing.remove(node.name());
    }

    /** The drop that stands still on the node may go on. */
    void letOnePass(String node) {
        passing.add(node);
    }

    /** The units of the oldest operation of a kind that stand still: those that it began in one step. */
    static List<Unit> oldest(SimNode node, OperationKind kind) {
        AgentProcess process = node.process();
        List<Unit> found = new ArrayList<>();
        for (Unit unit : process == null ? List.<Unit>of() : process.machine().units()) {
            boolean wanted = unit.operation() == kind || (kind == OperationKind.COPY && unit.copiesToStore());
            if (wanted && (found.isEmpty() || found.getFirst().step() == unit.step())) {
                found.add(unit);
            }
        }
        return found;
    }
}
