/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core;

import java.util.EnumMap;
import java.util.Map;

/** The counters of one core. For one thread. */
final class Counters {
    private final Map<AgentCounter, Long> values = new EnumMap<>(AgentCounter.class);

    Counters() {
        for (AgentCounter counter : AgentCounter.values()) {
            values.put(counter, 0L);
        }
    }

    void add(AgentCounter counter, long more) {
        values.merge(counter, more, Long::sum);
    }

    void increment(AgentCounter counter) {
        add(counter, 1);
    }

    Map<AgentCounter, Long> snapshot() {
        return Map.copyOf(values);
    }
}
