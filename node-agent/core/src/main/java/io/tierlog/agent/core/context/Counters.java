/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core.context;

import io.tierlog.agent.core.api.AgentCounter;
import io.tierlog.agent.core.api.AgentStatus.Ended;
import io.tierlog.schemas.OperationKind;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/** The counters of one core. For one thread. */
public final class Counters {
    private final Map<AgentCounter, Long> values = new EnumMap<>(AgentCounter.class);
    private final Map<OperationKind, Ended> ended = new EnumMap<>(OperationKind.class);

    Counters() {
        for (AgentCounter counter : AgentCounter.values()) {
            values.put(counter, 0L);
        }
        for (OperationKind kind : OperationKind.values()) {
            ended.put(kind, new Ended(kind, 0, 0, 0));
        }
    }

    public void add(AgentCounter counter, long more) {
        values.merge(counter, more, Long::sum);
    }

    public void increment(AgentCounter counter) {
        add(counter, 1);
    }

    /** An operation has ended with that many of its blocks done. */
    public void ended(OperationKind kind, int done, int blocks) {
        boolean whole = done == blocks;
        ended.merge(kind, new Ended(kind, whole ? 1 : 0, !whole && done > 0 ? 1 : 0, !whole && done == 0 ? 1 : 0), Ended::plus);
    }

    /** Operations that have ended, one entry for each kind. */
    public List<Ended> ended() {
        return List.copyOf(ended.values());
    }

    public Map<AgentCounter, Long> snapshot() {
        return Map.copyOf(values);
    }
}
