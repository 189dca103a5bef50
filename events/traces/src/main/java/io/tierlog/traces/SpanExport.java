/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.traces;

import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.Context;
import io.opentelemetry.exporter.otlp.http.trace.OtlpHttpSpanExporter;
import io.opentelemetry.sdk.common.CompletableResultCode;
import io.opentelemetry.sdk.resources.Resource;
import io.opentelemetry.sdk.trace.ReadWriteSpan;
import io.opentelemetry.sdk.trace.ReadableSpan;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.SpanProcessor;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.export.SpanExporter;
import io.opentelemetry.sdk.trace.samplers.Sampler;
import io.tierlog.events.Causes;
import io.tierlog.threads.RareWarning;
import io.tierlog.threads.Supervised;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import java.util.logging.Level;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Spans on their way to a collector: a bounded queue, and one thread that posts batches by OTLP over HTTP. Safe for use by several threads.
 *
 * <p>Ending a span never waits: with a full queue it is dropped and counted. A batch that the collector does not take in time is lost and counted,
 * with one warning in ten seconds; it is not sent again. The queue is ours because the SDK's own tells only a meter what it drops.
 */
public final class SpanExport implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(SpanExport.class);

    /** Kept, since a logger without a reference loses its level. What it says, the warning here says with a bound. */
    private static final java.util.logging.Logger LIBRARY = java.util.logging.Logger.getLogger("io.opentelemetry.exporter");

    /**
     * What bounds it.
     *
     * @param queue ended spans that wait, count
     * @param batch most spans of one post, count
     * @param linger how long the first span of a batch waits for others
     * @param timeout longest time for one post
     */
    public record Limits(int queue, int batch, Duration linger, Duration timeout) {
        public static final Limits DEFAULTS = new Limits(4_096, 512, Duration.ofMillis(500), Duration.ofSeconds(5));
    }

    /**
     * What has become of ended spans, counts since the start.
     *
     * @param exported taken by the collector
     * @param dropped the queue was full
     * @param failed sent, and not taken by the collector in time
     */
    public record Counts(long exported, long dropped, long failed) {
        public static final Counts NONE = new Counts(0, 0, 0);
    }

    private final URI endpoint;
    private final Limits limits;
    private final BlockingQueue<SpanData> queue;
    private final SpanExporter exporter;
    private final SdkTracerProvider provider;
    private final Thread thread;
    private final RareWarning warning = new RareWarning(LOG);
    private final AtomicLong exported = new AtomicLong();
    private final AtomicLong dropped = new AtomicLong();
    private final AtomicLong failed = new AtomicLong();
    private volatile boolean closed;

    /**
     * Starts the thread; the collector need not be there.
     *
     * @param endpoint as {@link TraceOptions#endpoint(String)} makes it
     * @param service name of the program, for example tierlog-agent
     * @param instance name of this process among those, for example its node
     */
    public SpanExport(URI endpoint, String service, String instance, Limits limits) {
        this.endpoint = endpoint;
        this.limits = limits;
        queue = new ArrayBlockingQueue<>(limits.queue());
        LIBRARY.setLevel(Level.OFF);
        exporter = OtlpHttpSpanExporter.builder()
                .setEndpoint(endpoint.toString())
                .setTimeout(limits.timeout())
                .setConnectTimeout(limits.timeout())
                .setRetryPolicy(null)
                .build();
        Attributes resource = Attributes.builder()
                .put("service.namespace", "tierlog")
                .put("service.name", service)
                .put("service.instance.id", instance)
                .build();
        provider = SdkTracerProvider.builder()
                .setResource(Resource.create(resource))
                .setSampler(Sampler.parentBased(Sampler.alwaysOff()))
                .addSpanProcessor(new Ended())
                .build();
        thread = Supervised.start(service + "-spans", this::run);
    }

    /** Makes spans: recorded where the parent is sampled, nothing otherwise. */
    public Tracer tracer() {
        return provider.get("io.tierlog");
    }

    /** A clock for the times of spans: nanoseconds since 1970 as the wall clock had them at this call, and monotonic from there on. */
    public static LongSupplier epochNs() {
        long origin = TimeUnit.MILLISECONDS.toNanos(System.currentTimeMillis()) - System.nanoTime();
        return () -> origin + System.nanoTime();
    }

    /** What has become of ended spans. */
    public Counts counts() {
        return new Counts(exported.get(), dropped.get(), failed.get());
    }

    /** Sends what waits, within a bound. Closing twice is nothing. */
    @Override
    public synchronized void close() {
        if (closed) {
            return;
        }
        closed = true;
        try {
            thread.join(limits.linger().plus(limits.timeout()));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        provider.close();
        exporter.shutdown();
    }

    /** Takes ended spans; on the threads that end them. */
    private final class Ended implements SpanProcessor {
        @Override
        public void onStart(Context parent, ReadWriteSpan span) {
            // Spans are sent once they have ended.
        }

        @Override
        public boolean isStartRequired() {
            return false;
        }

        @Override
        public void onEnd(ReadableSpan span) {
            if (closed || !queue.offer(span.toSpanData())) {
                dropped.incrementAndGet();
                warning.warn("spans for {} were dropped: more than {} wait", endpoint, limits.queue());
            }
        }

        @Override
        public boolean isEndRequired() {
            return true;
        }
    }

    /** Runs again after a fault, without the spans of the batch that met it. */
    private void run() {
        List<SpanData> batch = new ArrayList<>(limits.batch());
        try {
            while (!closed) {
                collect(batch);
                if (!batch.isEmpty()) {
                    export(batch);
                    batch.clear();
                }
            }
            queue.drainTo(batch, limits.batch());
            if (!batch.isEmpty()) {
                export(batch);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        dropped.addAndGet(queue.size());
    }

    /** Waits for a span and then a while for more; none after some time without spans. */
    private void collect(List<SpanData> batch) throws InterruptedException {
        long lingerNs = limits.linger().toNanos();
        SpanData next = queue.poll(lingerNs, TimeUnit.NANOSECONDS);
        long endNs = System.nanoTime() + lingerNs;
        while (next != null) {
            batch.add(next);
            next = batch.size() < limits.batch() && !closed ? queue.poll(endNs - System.nanoTime(), TimeUnit.NANOSECONDS) : null;
        }
    }

    private void export(List<SpanData> batch) {
        CompletableResultCode result = exporter.export(List.copyOf(batch));
        result.join(limits.timeout().toMillis(), TimeUnit.MILLISECONDS);
        if (result.isSuccess()) {
            exported.addAndGet(batch.size());
        } else {
            failed.addAndGet(batch.size());
            Throwable why = result.getFailureThrowable();
            warning.warn("{} spans were not taken by {}: {}", batch.size(), endpoint,
                    why == null ? "no answer in time" : why.getCause() == null ? "it answered with an error" : Causes.of(why));
        }
    }
}
