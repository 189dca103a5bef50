/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.status;

import io.prometheus.metrics.core.metrics.CounterWithCallback;
import io.prometheus.metrics.core.metrics.GaugeWithCallback;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import io.tierlog.agent.core.api.AgentCounter;
import io.tierlog.agent.core.api.AgentPhase;
import io.tierlog.agent.core.api.AgentStatus;
import io.tierlog.agent.disk.DiskCounter;
import io.tierlog.agent.disk.DiskStatus;
import io.tierlog.schemas.OperationKind;
import io.tierlog.schemas.TierUsage;
import java.util.Locale;
import java.util.Map;
import java.util.function.DoubleSupplier;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * The metrics of one agent. All but the transfers and the engine's calls are read at each scrape from what the loop has left after its last batch,
 * so the loop does not wait for a scraper. Safe for use by several threads.
 */
public final class AgentMetrics {
    private final PrometheusRegistry registry;
    private final Supplier<AgentStatus> status;

    /**
     * Registers what the core counts.
     *
     * @param status how the agent was after its last batch; must not wait
     */
    public AgentMetrics(PrometheusRegistry registry, Supplier<AgentStatus> status, long blockBytes) {
        this.registry = registry;
        this.status = status;
        for (AgentCounter counter : AgentCounter.values()) {
            CounterWithCallback.builder()
                    .name("tierlog_agent_" + counter.name().toLowerCase(Locale.ROOT) + "_total")
                    .help(counter.help())
                    .callback(callback -> callback.call((double) status.get().count(counter)))
                    .register(registry);
        }
        gauge("tierlog_agent_block_bytes", "Size of a block", () -> (double) blockBytes);
        GaugeWithCallback.builder()
                .name("tierlog_agent_phase")
                .help("1 for the phase the agent is in")
                .labelNames("phase")
                .callback(callback -> {
                    for (AgentPhase phase : AgentPhase.values()) {
                        callback.call(phase == status.get().phase() ? 1 : 0, phase.name());
                    }
                })
                .register(registry);
        pages();
        operations();
        fromStatus("tierlog_agent_incarnation", "Number of the process as the controller counts it; 0 before registration", AgentStatus::incarnation);
        fromStatus("tierlog_agent_requests_live", "Attempts that live or whose device pages are still pinned", AgentStatus::liveRequests);
        fromStatus("tierlog_agent_requests_waiting", "Attempts that wait for the store's answer or for a fetch", AgentStatus::waitingRequests);
        fromStatus("tierlog_agent_operations_active", "Operations in progress", AgentStatus::activeOperations);
        fromStatus("tierlog_agent_host_largest_free_run_pages", "Host pages in the longest run of free neighbours", AgentStatus::largestFreeRun);
    }

    private void pages() {
        GaugeWithCallback.builder()
                .name("tierlog_agent_pages")
                .help("Pages by tier and state; bounce pages are the agent's own, in no tier")
                .labelNames("tier", "state")
                .callback(callback -> {
                    AgentStatus now = status.get();
                    for (TierUsage usage : now.usage()) {
                        String tier = usage.tier().name().toLowerCase(Locale.ROOT);
                        callback.call((double) usage.freeBlocks(), tier, "free");
                        callback.call((double) usage.reservedBlocks(), tier, "reserved");
                        callback.call((double) usage.fillingBlocks(), tier, "filling");
                        callback.call((double) usage.servingBlocks(), tier, "serving");
                        callback.call((double) usage.leavingBlocks(), tier, "leaving");
                        callback.call((double) usage.quarantinedBlocks(), tier, "quarantined");
                    }
                    AgentStatus.Bounce bounce = now.bounce();
                    callback.call(bounce.free(), "bounce", "free");
                    callback.call(bounce.pages() - bounce.free() - bounce.quarantined(), "bounce", "filling");
                    callback.call(bounce.quarantined(), "bounce", "quarantined");
                })
                .register(registry);
        GaugeWithCallback.builder()
                .name("tierlog_agent_pins")
                .help("Named pins on pages, by tier")
                .labelNames("tier")
                .callback(callback -> {
                    AgentStatus now = status.get();
                    callback.call((double) now.devicePins(), "device");
                    now.usage().forEach(usage -> callback.call((double) usage.pinCount(), usage.tier().name().toLowerCase(Locale.ROOT)));
                })
                .register(registry);
        GaugeWithCallback.builder()
                .name("tierlog_agent_leases")
                .help("Leases that are open: of engines (offers and reservations), and of peers whose reads are being sent")
                .labelNames("holder")
                .callback(callback -> {
                    AgentStatus.Leases leases = status.get().leases();
                    callback.call(leases.engines(), "engine");
                    callback.call(leases.peers(), "peer");
                })
                .register(registry);
    }

    private void operations() {
        CounterWithCallback.builder()
                .name("tierlog_agent_operations_ended_total")
                .help("Operations that have ended, by kind, and by whether all of their blocks came where they were wanted, some, or none")
                .labelNames("kind", "end")
                .callback(callback -> {
                    for (AgentStatus.Ended ended : status.get().ended()) {
                        if (ended.kind() != OperationKind.UNKNOWN) {
                            callback.call((double) ended.done(), ended.kind().name(), "done");
                            callback.call((double) ended.partly(), ended.kind().name(), "partly");
                            callback.call((double) ended.failed(), ended.kind().name(), "failed");
                        }
                    }
                })
                .register(registry);
    }

    private void fromStatus(String name, String help, Function<AgentStatus, Number> value) {
        gauge(name, help, () -> value.apply(status.get()).doubleValue());
    }

    /** Adds a number that is read at each scrape; {@code value} must not wait. */
    public void gauge(String name, String help, DoubleSupplier value) {
        GaugeWithCallback.builder().name(name).help(help).callback(callback -> callback.call(value.getAsDouble())).register(registry);
    }

    /** Adds a number that only rises and is read at each scrape; {@code value} must not wait. */
    public void counter(String name, String help, DoubleSupplier value) {
        CounterWithCallback.builder().name(name).help(help).callback(callback -> callback.call(value.getAsDouble())).register(registry);
    }

    /** Adds numbers by one label, read at each scrape. */
    public void gauges(String name, String help, String label, Map<String, DoubleSupplier> values) {
        GaugeWithCallback.builder()
                .name(name)
                .help(help)
                .labelNames(label)
                .callback(callback -> values.forEach((key, value) -> callback.call(value.getAsDouble(), key)))
                .register(registry);
    }

    /** Adds what the files of the disk tier are, and what it has counted. */
    public void disk(Supplier<DiskStatus> disk) {
        gauge("tierlog_agent_disk_live_bytes", "Bytes on disk of the blocks held, headers and padding included", () -> disk.get().liveBytes());
        gauge("tierlog_agent_disk_file_bytes", "Bytes of all segment files; what exceeds the live bytes is dead or not yet written",
                () -> disk.get().fileBytes());
        gauge("tierlog_agent_disk_segments", "Segment files of the disk tier", () -> disk.get().segments());
        CounterWithCallback.builder()
                .name("tierlog_agent_disk_events_total")
                .help("What the disk tier has counted since it was opened: blocks, bytes, forces and segments, as DiskCounter names them")
                .labelNames("event")
                .callback(callback -> {
                    DiskStatus now = disk.get();
                    for (DiskCounter counter : DiskCounter.values()) {
                        callback.call((double) now.count(counter), counter.name().toLowerCase(Locale.ROOT));
                    }
                })
                .register(registry);
    }
}
