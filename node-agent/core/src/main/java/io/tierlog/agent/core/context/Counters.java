/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core.context;

import io.tierlog.agent.core.api.AgentCounter;
import java.util.EnumMap;
import java.util.Map;

/** The counters of one core. For one thread. */
public final class Counters {
    private final Map<AgentCounter, Long> values = new EnumMap<>(AgentCounter.class);

    Counters() {
        for (AgentCounter counter : AgentCounter.values()) {
            values.put(counter, 0L);
        }
    }

    public void add(AgentCounter counter, long more) {
        values.merge(counter, more, Long::sum);
    }

    public void increment(AgentCounter counter) {
        add(counter, 1);
    }

    public Map<AgentCounter, Long> snapshot() {
        return Map.copyOf(values);
    }
}
