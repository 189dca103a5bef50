/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.http;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.prometheus.metrics.core.metrics.CounterWithCallback;
import io.prometheus.metrics.core.metrics.GaugeWithCallback;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import io.tierlog.threads.ThreadFaults;
import java.util.Map;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/**
 * The health of a process as that of its named parts: it is as well as the worst of them. Parts are asked at each request for {@code /health} and at
 * each scrape, so what they answer from must be cheap and must not wait. Safe for use by several threads.
 */
public final class HealthParts {
    /** How a part is, from the best to the worst. */
    public enum Level {
        /** It does what it is for. */
        WELL(0),
        /** It works with a restriction that a person should know. */
        DEGRADED(1),
        /** The process cannot do its work: {@code /health} answers 503. */
        FAILED(2);

        private final int metric;

        Level(int metric) {
            this.metric = metric;
        }
    }

    /**
     * How one part is.
     *
     * @param detail a sentence for people; empty for a part that is well
     */
    public record State(Level level, String detail) {
        /** Nothing to report. */
        public static final State WELL = new State(Level.WELL, "");

        /** Refuses a part that is not well and does not say why. */
        public State {
            if (level != Level.WELL && detail.isBlank()) {
                throw new IllegalArgumentException("a part that is " + level + " needs a sentence that says why");
            }
        }

        /** Works with a restriction. */
        public static State degraded(String detail) {
            return new State(Level.DEGRADED, detail);
        }

        /** Does not work. */
        public static State failed(String detail) {
            return new State(Level.FAILED, detail);
        }

        /** DEGRADED for this reason; WELL for none. */
        public static State degradedUnlessEmpty(String detail) {
            return detail.isEmpty() ? WELL : degraded(detail);
        }
    }

    private final Map<String, Supplier<State>> parts = new ConcurrentSkipListMap<>();

    /**
     * Parts whose levels are also the metric {@code tierlog_health_level} of {@code registry}: 0 well, 1 degraded, 2 failed. The part {@code threads}
     * is there from the start: DEGRADED for ten minutes after a thread of the process met a fault and went on.
     */
    public HealthParts(PrometheusRegistry registry) {
        GaugeWithCallback.builder()
                .name("tierlog_health_level")
                .help("How a part of the process is, as at /health: 0 well, 1 degraded, 2 failed")
                .labelNames("part")
                .callback(callback -> parts.forEach((name, part) -> callback.call(part.get().level().metric, name)))
                .register(registry);
        CounterWithCallback.builder()
                .name("tierlog_thread_failures_total")
                .help("Faults that nothing expects, met by a thread of the process that went on; a thread that met none is not listed")
                .labelNames("thread")
                .callback(callback -> ThreadFaults.ofProcess().counts().forEach((thread, count) -> callback.call(count, thread)))
                .register(registry);
        add("threads", () -> State.degradedUnlessEmpty(ThreadFaults.ofProcess().recent()));
    }

    /**
     * Adds a part, or replaces the one of that name.
     *
     * @param name of a short closed list: lower case letters and underscores
     */
    public void add(String name, Supplier<State> part) {
        parts.put(name, part);
    }

    /** How a part is; WELL when there is none of that name. */
    State state(String name) {
        return parts.getOrDefault(name, () -> State.WELL).get();
    }

    /** The level of the worst part. */
    public Level worst() {
        return parts.values().stream().map(part -> part.get().level()).max(Level::compareTo).orElse(Level.WELL);
    }

    /** The sentences of the parts that are not well, in the order of their names; empty when all are well. */
    public String detail() {
        return parts.values().stream().map(part -> part.get().detail()).filter(text -> !text.isEmpty()).collect(Collectors.joining("; "));
    }

    /** Adds {@code health}, the worst level, and {@code parts} to the body of {@code /health}; returns that level. */
    public Level describe(ObjectNode body) {
        Level worst = Level.WELL;
        ArrayNode all = body.arrayNode();
        for (Map.Entry<String, Supplier<State>> part : parts.entrySet()) {
            State state = part.getValue().get();
            worst = state.level().compareTo(worst) > 0 ? state.level() : worst;
            ObjectNode one = all.addObject().put("part", part.getKey()).put("level", state.level().name());
            if (!state.detail().isEmpty()) {
                one.put("detail", state.detail());
            }
        }
        body.put("health", worst.name()).set("parts", all);
        return worst;
    }
}
