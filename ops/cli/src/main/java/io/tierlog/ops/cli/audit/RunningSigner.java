/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.audit;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.prometheus.metrics.core.metrics.CounterWithCallback;
import io.prometheus.metrics.core.metrics.GaugeWithCallback;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import io.tierlog.controller.http.Endpoint;
import io.tierlog.controller.http.HealthParts;
import io.tierlog.controller.http.StatusServer;
import io.tierlog.events.Closers;
import io.tierlog.ops.audit.heads.HeadSigner;
import io.tierlog.tls.Tls;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** A signer, with its metrics and health if they have an address. Safe for use by several threads. */
final class RunningSigner implements AutoCloseable {
    private static final double MILLIS = 1_000.0;

    private final Closers closers;
    private final HeadSigner signer;
    private final PrometheusRegistry registry = new PrometheusRegistry();
    private final HealthParts health = new HealthParts(registry);
    private @Nullable StatusServer status;

    private RunningSigner(HeadSigner signer, Closers closers) {
        this.closers = closers;
        this.signer = closers.add("signer", signer);
        CounterWithCallback.builder()
                .name("tierlog_heads_signed_total")
                .help("Heads of the log that this process has signed")
                .callback(callback -> callback.call((double) signer.signed()))
                .register(registry);
        CounterWithCallback.builder()
                .name("tierlog_heads_faults_total")
                .help("How often the signer began again after a fault, as when Kafka is away")
                .callback(callback -> callback.call((double) signer.faults()))
                .register(registry);
        GaugeWithCallback.builder()
                .name("tierlog_heads_last_seconds")
                .help("When the last head of the log was signed, seconds since 1970; 0 before the first one")
                .callback(callback -> callback.call(signer.last().timeMs() / MILLIS))
                .register(registry);
        health.add("signer", this::state);
    }

    /**
     * Starts both.
     *
     * @param closers what it closes after them; the caller's when this throws
     * @throws io.tierlog.events.LogSetupException as {@link HeadSigner#start}
     * @throws io.tierlog.controller.http.ServerException when the address is taken
     */
    static RunningSigner start(HeadSigner.Config config, Optional<Endpoint> listen, Tls tls, Closers closers) {
        RunningSigner running = new RunningSigner(HeadSigner.start(config), closers);
        running.status = listen.map(at -> closers.add("status server",
                new StatusServer("--sign-status-listen", at, tls, running.registry, running::report))).orElse(null);
        return running;
    }

    private HealthParts.State state() {
        return signer.ended().isDone() ? HealthParts.State.failed("it has ended: " + signer.ended().join().getMessage())
                : HealthParts.State.degradedUnlessEmpty(signer.trouble());
    }

    private StatusServer.Report report() {
        ObjectNode body = JsonNodeFactory.instance.objectNode();
        body.put("lastHead", signer.last().number());
        body.put("lastHeadMs", signer.last().timeMs());
        return new StatusServer.Report(health.describe(body) != HealthParts.Level.FAILED, body);
    }

    HeadSigner signer() {
        return signer;
    }

    /** The port of metrics and health; -1 when there is none. */
    int statusPort() {
        StatusServer open = status;
        return open == null ? -1 : open.port();
    }

    @Override
    public void close() {
        closers.close();
    }
}
