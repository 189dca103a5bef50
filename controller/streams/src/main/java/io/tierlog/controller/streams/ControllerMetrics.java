/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.streams;

import io.prometheus.metrics.core.metrics.Counter;
import io.prometheus.metrics.core.metrics.Gauge;
import io.prometheus.metrics.core.metrics.Histogram;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import io.tierlog.controller.core.invariant.Invariant;
import io.tierlog.controller.core.table.PlacementRuns;
import io.tierlog.controller.core.table.RowKey.Timer.Queue;
import io.tierlog.schemas.WireRecord;
import io.tierlog.schemas.WireType;
import io.tierlog.schemas.command.Command;
import io.tierlog.schemas.decision.Fact;
import io.tierlog.schemas.event.Event;
import java.util.Locale;
import java.util.concurrent.TimeUnit;

/**
 * What an instance counts of its own work: inputs, facts, commands, outcomes, and how long deciding takes. Every label value that can occur
 * is there from the start with 0, so that a dashboard sees what has not happened. Safe for use by several threads.
 *
 * <p>Trade-off: counted when decided, not when committed, so what an aborted transaction decided is counted twice.
 */
final class ControllerMetrics {
    private final PrometheusRegistry registry = new PrometheusRegistry();
    private final Counter inputs = counter("tierlog_inputs_total", "Records taken from the events topic, by type", "type");
    private final Counter facts = counter("tierlog_facts_total", "Decisions made, by type", "type");
    private final Counter commands = counter("tierlog_commands_total", "Commands decided, by type", "type");
    private final Counter commandsLost = counter("tierlog_commands_lost_total", "Commands that could not be sent; the overdue operation sends again");
    private final Counter outcomes = counter("tierlog_outcomes_total", "Inputs by what became of them", "outcome");
    private final Counter ticksLost = counter("tierlog_ticks_lost_total", "Ticks that could not be appended");
    private final Counter relayed = counter("tierlog_messages_relayed_total", "Messages appended to the events topic by the relay");
    private final Counter messagesAside = counter("tierlog_messages_put_aside_total", "Messages that no event can hold, in the dead letters");
    private final Counter registryWaits = counter("tierlog_registry_waits_total", "Times a record waited for the schema registry");
    private final Counter rowsSampled = counter("tierlog_invariant_rows_checked_total", "Rows of the tables that samples have looked at");
    private final Counter violations = counter("tierlog_invariant_violations_total", "What samples have found that does not hold", "invariant");
    private final Counter threadsReplaced =
            counter("tierlog_stream_threads_replaced_total", "Stream threads that another one replaced after a fault of the brokers");
    private final Counter damaged = counter("tierlog_state_damaged_total", "Times that damaged state was set aside and restored");
    private final Gauge timerLag = Gauge.builder()
            .name("tierlog_timer_lag_seconds")
            .help("How long the oldest timer that is due has been due, in log time, by partition and queue: act, mark or forget")
            .labelNames("partition", "queue")
            .register(registry);
    private final Gauge placements = Gauge.builder()
            .name("tierlog_placements_in_memory")
            .help("Blocks on tiers, all of which are in memory, by partition; above 16,000,000 more is refused")
            .labelNames("partition")
            .register(registry);
    private final Gauge placementBytes = Gauge.builder()
            .name("tierlog_placements_memory_bytes")
            .help("Memory that these blocks take, by partition")
            .labelNames("partition")
            .register(registry);
    private final Histogram decisionTime = Histogram.builder()
            .name("tierlog_decision_seconds")
            .help("Time to decide one input, from its bytes to the bytes of all that follows from it")
            .classicOnly()
            .classicUpperBounds(0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1)
            .register(registry);
    private final Histogram inputAge = Histogram.builder()
            .name("tierlog_input_age_seconds")
            .help("Age of an input when it is decided, by the wall clock of its sender")
            .classicOnly()
            .classicUpperBounds(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 30)
            .register(registry);
    private final FactMetrics factDetails = new FactMetrics(registry);
    private volatile long decidedNs = System.nanoTime();

    ControllerMetrics() {
        initialise(inputs, Event.class);
        initialise(facts, Fact.class);
        initialise(commands, Command.class);
        inputs.initLabelValues(UNREADABLE);
        for (Invariant invariant : Invariant.values()) {
            violations.initLabelValues(invariant.name());
        }
        for (Outcomes outcome : Outcomes.values()) {
            outcomes.initLabelValues(outcome.name());
        }
    }

    private static final String UNREADABLE = "unreadable";

    PrometheusRegistry registry() {
        return registry;
    }

    void input(Event event) {
        inputs.labelValues(event.schema().getName()).inc();
    }

    void unreadable() {
        inputs.labelValues(UNREADABLE).inc();
    }

    void fact(Fact fact) {
        facts.labelValues(fact.schema().getName()).inc();
        factDetails.observe(fact);
    }

    void command(Command command) {
        commands.labelValues(command.schema().getName()).inc();
    }

    void commandLost() {
        commandsLost.inc();
    }

    void tickLost() {
        ticksLost.inc();
    }

    void relayed() {
        relayed.inc();
    }

    void messagePutAside() {
        messagesAside.inc();
    }

    void registryWait() {
        registryWaits.inc();
    }

    void threadReplaced() {
        threadsReplaced.inc();
    }

    void damaged() {
        damaged.inc();
    }

    void sampled(int rows) {
        rowsSampled.inc(rows);
    }

    void violated(Invariant invariant) {
        violations.labelValues(invariant.name()).inc();
    }

    void timerLag(int partition, Queue queue, long lagMs) {
        timerLag.labelValues(Integer.toString(partition), name(queue)).set(lagMs / 1_000.0);
    }

    void placements(int partition, PlacementRuns.Size size) {
        placements.labelValues(Integer.toString(partition)).set(size.blocks());
        placementBytes.labelValues(Integer.toString(partition)).set((double) size.bytes());
    }

    /** The partition is no longer of this instance: what it showed of it would stand still. */
    void released(int partition) {
        factDetails.released(partition);
        placements.remove(Integer.toString(partition));
        placementBytes.remove(Integer.toString(partition));
        for (Queue queue : Queue.values()) {
            timerLag.remove(Integer.toString(partition), name(queue));
        }
    }

    private static String name(Queue queue) {
        return queue.name().toLowerCase(Locale.ROOT);
    }

    void decided(String outcome, long nanos, long ageMs) {
        decidedNs = System.nanoTime();
        outcomes.labelValues(outcome).inc();
        decisionTime.observe((double) nanos / TimeUnit.SECONDS.toNanos(1));
        inputAge.observe(Math.max(0, ageMs) / 1_000.0);
    }

    /** When an input was last decided, by {@link System#nanoTime}; at the start, the start. */
    long decidedNs() {
        return decidedNs;
    }

    private Counter counter(String name, String help, String... labels) {
        return Counter.builder().name(name).help(help).labelNames(labels).register(registry);
    }

    private static void initialise(Counter counter, Class<? extends WireRecord> family) {
        WireType.ofFamily(family).forEach(type -> counter.initLabelValues(type.schema().getName()));
    }
}
