/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.directory.api;

import io.prometheus.metrics.core.metrics.Counter;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import io.tierlog.controller.http.Problem;
import java.util.Optional;
import java.util.concurrent.Semaphore;
import java.util.function.Supplier;

/** Limits the gRPC queries in progress. A query over the limit is refused and does not wait. Safe for use by several threads. */
final class AdmissionLimiter {
    private final int most;
    private final Semaphore free;
    private final Counter refused;

    AdmissionLimiter(int most, PrometheusRegistry registry) {
        this.most = most;
        free = new Semaphore(most);
        refused = Counter.builder()
                .name("tierlog_directory_grpc_refused_total")
                .help("gRPC queries refused because too many were in progress")
                .register(registry);
    }

    /**
     * Admits one query, which must {@link #release} its slot.
     *
     * @throws Problem OVERLOADED at the limit
     */
    void acquire() {
        if (!free.tryAcquire()) {
            throw refusal();
        }
    }

    private Problem refusal() {
        refused.inc();
        return new Problem(Problem.Kind.OVERLOADED, most + " gRPC queries are in progress", "retry in a moment");
    }

    void release() {
        free.release();
    }

    /**
     * Runs one query.
     *
     * @param otherwise answers it without waiting at the limit, if it can
     * @throws Problem OVERLOADED at the limit when it cannot; and the problems of the query itself
     */
    <R> R within(Supplier<R> how, Supplier<Optional<R>> otherwise) {
        if (!free.tryAcquire()) {
            return otherwise.get().orElseThrow(this::refusal);
        }
        try {
            return how.get();
        } finally {
            release();
        }
    }
}
