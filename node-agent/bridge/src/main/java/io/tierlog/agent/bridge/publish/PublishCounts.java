/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.bridge.publish;

import io.prometheus.metrics.core.metrics.CounterWithCallback;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.LongAdder;

/** The counters of a publisher. Safe for use by several threads. */
public final class PublishCounts {
    private final Map<PublishCounter, LongAdder> counts = new EnumMap<>(PublishCounter.class);
    private final PrometheusRegistry registry = new PrometheusRegistry();

    /** All begin at 0. */
    PublishCounts() {
        for (PublishCounter counter : PublishCounter.values()) {
            counts.put(counter, new LongAdder());
            CounterWithCallback.builder()
                    .name(counter.metric())
                    .help(counter.help())
                    .callback(callback -> callback.call((double) of(counter)))
                    .register(registry);
        }
    }

    void add(PublishCounter counter, long more) {
        Objects.requireNonNull(counts.get(counter)).add(more);
    }

    public long of(PublishCounter counter) {
        return Objects.requireNonNull(counts.get(counter)).sum();
    }

    PrometheusRegistry registry() {
        return registry;
    }
}
