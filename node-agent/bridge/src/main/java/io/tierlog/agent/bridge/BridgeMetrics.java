/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.bridge;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.prometheus.metrics.core.metrics.CounterWithCallback;
import io.prometheus.metrics.core.metrics.Gauge;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import io.tierlog.agent.bridge.source.Followed;
import io.tierlog.agent.bridge.view.BridgeCounter;
import io.tierlog.agent.bridge.view.BridgeCounts;
import io.tierlog.controller.http.HealthParts;
import java.util.Collection;

/** The metrics of a bridge. Safe for use by several threads. */
final class BridgeMetrics {
    private final PrometheusRegistry registry = new PrometheusRegistry();
    private final Gauge sources = gauge("tierlog_bridge_sources", "Addresses that are listened to");
    private final Gauge leftOut = gauge("tierlog_bridge_sources_left_out", "Addresses that cannot be listened to now; they are tried again");
    private final Gauge publishers = gauge("tierlog_bridge_publishers", "Publishers with at least one batch");
    private final Gauge unknown = gauge("tierlog_bridge_publishers_unknown", "Publishers of which batches are lost for good, for now");
    private final Gauge blocks = gauge("tierlog_bridge_blocks", "Blocks that engines hold, by their own words");
    private final Gauge nodes = gauge("tierlog_bridge_nodes_registered", "Engine instances that the controller has accepted");

    BridgeMetrics(BridgeCounts counts) {
        for (BridgeCounter counter : BridgeCounter.values()) {
            CounterWithCallback.builder()
                    .name(counter.metric())
                    .help(counter.help())
                    .callback(callback -> callback.call((double) counts.of(counter)))
                    .register(registry);
        }
    }

    private Gauge gauge(String name, String help) {
        return Gauge.builder().name(name).help(help).register(registry);
    }

    PrometheusRegistry registry() {
        return registry;
    }

    /** Takes the numbers, on the thread that owns the sources. */
    void measure(Collection<? extends Followed> all, int without, int registered) {
        sources.set(all.size());
        leftOut.set(without);
        publishers.set(all.stream().mapToInt(Followed::publishers).sum());
        unknown.set(all.stream().mapToInt(Followed::unknown).sum());
        blocks.set((double) all.stream().mapToLong(Followed::blocks).sum());
        nodes.set(registered);
    }

    /** How the engines' events arrive. */
    HealthParts.State sources() {
        long without = (long) leftOut.get();
        long lost = (long) unknown.get();
        return without == 0 && lost == 0 ? HealthParts.State.WELL : HealthParts.State.degraded(
                without + " addresses cannot be listened to, and of " + lost + " publishers batches are lost for good");
    }

    /** The same for people. */
    void report(ObjectNode body) {
        body.put("sources", (long) sources.get());
        body.put("sourcesLeftOut", (long) leftOut.get());
        body.put("publishers", (long) publishers.get());
        body.put("unknownPublishers", (long) unknown.get());
        body.put("blocks", (long) blocks.get());
        body.put("registeredNodes", (long) nodes.get());
    }
}
