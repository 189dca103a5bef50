/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.streams;

import io.prometheus.metrics.model.registry.PrometheusRegistry;
import io.tierlog.controller.http.HealthParts;
import io.tierlog.controller.http.HealthParts.Level;
import io.tierlog.controller.http.HealthParts.State;
import io.tierlog.controller.http.StatusServer;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.DoubleSupplier;
import java.util.function.LongSupplier;

/** The parts of a controller at {@code /health}: what {@link Health} knows, and what each loop says of itself. Safe for use by several threads. */
final class ControllerParts {
    /** Ticks arrive in each partition: an instance that has processed nothing for so long, or for three ticks, is stuck. */
    private static final long STUCK_MS = 30_000;
    private static final double LOW_BUFFER = 0.1;

    private final HealthParts parts;
    private final Health health;

    ControllerParts(PrometheusRegistry registry, Health health) {
        this.parts = new HealthParts(registry);
        this.health = health;
        health.addTo(parts);
    }

    HealthParts parts() {
        return parts;
    }

    /** The body of {@code /health}: 503 while the instance does not decide, or a part has failed. */
    StatusServer.Report report(String instance) {
        StatusServer.Report report = health.report(instance);
        Level worst = parts.describe(report.body());
        return new StatusServer.Report(report.working() && worst != Level.FAILED, report.body());
    }

    /**
     * Adds the stream threads' own progress.
     *
     * @param processedNs when a record was last processed, by {@link System#nanoTime}
     * @param tickMs time between two ticks
     * @param hasPartitions whether this instance has any: one without has nothing to process
     */
    void inputs(LongSupplier processedNs, long tickMs, BooleanSupplier hasPartitions) {
        parts.add("inputs", () -> {
            long ms = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - processedNs.getAsLong());
            return ms < Math.max(STUCK_MS, 3 * tickMs) || !health.isDeciding() || !hasPartitions.getAsBoolean() ? State.WELL : State.failed(
                    "no record has been processed for " + ms / 1_000 + " s, though ticks come: look at the brokers and at a thread dump");
        });
    }

    /** Adds the buffer of the transactional producers: the free share of the fullest, 0 to 1. */
    void producers(DoubleSupplier freeShare) {
        parts.add("producer", () -> freeShare.getAsDouble() >= LOW_BUFFER ? State.WELL
                : State.degraded("the buffer of a producer is nearly full: the brokers take decisions slower than they are made"));
    }
}
