/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core.copy;

import java.util.Map;
import java.util.TreeMap;

/** Runs plans over arrays: the slow obvious device. */
final class PlanRunner {
    private final Map<Long, byte[]> memory = new TreeMap<>();

    Allocation add(Allocation.Side side, long address, byte[] bytes) {
        Allocation added = new Allocation(memory.size() + 1L, side, address, bytes.length);
        memory.put(added.id(), bytes);
        return added;
    }

    void run(CopyPlan plan, Direction direction) {
        for (Copy.Linear run : plan.runs()) {
            Place from = direction == Direction.LOAD ? run.host() : run.device();
            Place to = direction == Direction.LOAD ? run.device() : run.host();
            System.arraycopy(bytes(from), (int) from.offset(), bytes(to), (int) to.offset(), (int) run.bytes());
        }
    }

    private byte[] bytes(Place place) {
        byte[] found = memory.get(place.allocation().id());
        if (found == null) {
            throw new IllegalArgumentException("no " + place);
        }
        return found;
    }
}
