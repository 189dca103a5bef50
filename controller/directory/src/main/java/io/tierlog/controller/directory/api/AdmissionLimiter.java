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
     * Takes room for one question, to be given back.
     *
     * @throws Problem OVERLOADED when there is none
     */
    void take() {
        if (!free.tryAcquire()) {
            throw refusal();
        }
    }

    private Problem refusal() {
        refused.inc();
        return new Problem(Problem.Kind.OVERLOADED, most + " questions over gRPC are in progress", "ask again in a moment");
    }

    void giveBack() {
        free.release();
    }

    /**
     * Has one question answered.
     *
     * @param otherwise answers it without waiting when there is no room, if it can
     * @throws Problem OVERLOADED when there is no room and it cannot; whatever the one that answers throws
     */
    <R> R within(Supplier<R> how, Supplier<Optional<R>> otherwise) {
        if (!free.tryAcquire()) {
            return otherwise.get().orElseThrow(this::refusal);
        }
        try {
            return how.get();
        } finally {
            giveBack();
        }
    }
}
