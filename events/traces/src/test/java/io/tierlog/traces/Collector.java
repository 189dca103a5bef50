/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.traces;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest;
import io.opentelemetry.proto.common.v1.KeyValue;
import io.opentelemetry.proto.trace.v1.ResourceSpans;
import io.opentelemetry.proto.trace.v1.ScopeSpans;
import io.opentelemetry.proto.trace.v1.Span;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Predicate;

/** A collector that keeps the spans it receives, by OTLP over HTTP on loopback. Safe for use by several threads. */
public final class Collector implements AutoCloseable {
    /**
     * A span as it arrived.
     *
     * @param service service.name of its resource
     * @param trace trace id, 32 digits
     * @param id span id, 16 digits
     * @param parent span id of its parent, empty for a root
     * @param attributes its own, as text
     * @param links attributes of each link, as text, with the linked span under "span"
     */
    public record Received(
            String service,
            String name,
            String trace,
            String id,
            String parent,
            long startNs,
            long endNs,
            boolean failed,
            Map<String, String> attributes,
            List<Map<String, String>> links) {}

    private final HttpServer server;
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
    private final List<Received> spans = new CopyOnWriteArrayList<>();
    private final AtomicInteger posts = new AtomicInteger();
    private volatile boolean holds;
    private volatile int status = 200;

    /** Starts to listen on a free port. */
    public Collector() {
        try {
            server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        server.createContext("/v1/traces", this::receive);
        server.setExecutor(threads);
        server.start();
    }

    /** What --otlp-endpoint takes. */
    public String endpoint() {
        return "http://127.0.0.1:" + server.getAddress().getPort();
    }

    /** Whether posts wait until it is false again. */
    public void holds(boolean hold) {
        holds = hold;
    }

    /** Answers posts with this status, and keeps nothing unless it is 200. */
    public void answers(int code) {
        status = code;
    }

    /** All spans so far. */
    public List<Received> spans() {
        return List.copyOf(spans);
    }

    /** Posts so far, count; those that are held too. */
    public int posts() {
        return posts.get();
    }

    /** Spans of a trace in the order of their beginnings. */
    public List<Received> trace(String trace) {
        return spans.stream().filter(span -> span.trace().equals(trace)).sorted(Comparator.comparingLong(Received::startNs)).toList();
    }

    /** The first span that fits, within 60 s. */
    public Received await(String what, Predicate<Received> fits) {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
        while (true) {
            for (Received span : spans) {
                if (fits.test(span)) {
                    return span;
                }
            }
            if (System.nanoTime() - end > 0) {
                throw new AssertionError("no span within 60 s: " + what + "; there are " + spans.stream().map(Received::name).toList());
            }
            LockSupport.parkNanos(5_000_000);
        }
    }

    private void receive(HttpExchange exchange) throws IOException {
        try (exchange) {
            ExportTraceServiceRequest request = ExportTraceServiceRequest.parseFrom(exchange.getRequestBody());
            posts.incrementAndGet();
            while (holds) {
                LockSupport.parkNanos(5_000_000);
            }
            if (status == 200) {
                request.getResourceSpansList().forEach(this::keep);
            }
            exchange.getResponseHeaders().add("Content-Type", "application/x-protobuf");
            exchange.sendResponseHeaders(status, -1);
        }
    }

    private void keep(ResourceSpans resource) {
        String service = attributes(resource.getResource().getAttributesList()).getOrDefault("service.name", "");
        for (ScopeSpans scope : resource.getScopeSpansList()) {
            scope.getSpansList().forEach(span -> spans.add(received(service, span)));
        }
    }

    private static Received received(String service, Span span) {
        HexFormat hex = HexFormat.of();
        List<Map<String, String>> links = span.getLinksList().stream().map(link -> {
            Map<String, String> all = new TreeMap<>(attributes(link.getAttributesList()));
            all.put("span", hex.formatHex(link.getSpanId().toByteArray()));
            return all;
        }).toList();
        return new Received(
                service, span.getName(), hex.formatHex(span.getTraceId().toByteArray()), hex.formatHex(span.getSpanId().toByteArray()),
                hex.formatHex(span.getParentSpanId().toByteArray()), span.getStartTimeUnixNano(), span.getEndTimeUnixNano(),
                span.getStatus().getCodeValue() == 2, attributes(span.getAttributesList()), links);
    }

    private static Map<String, String> attributes(List<KeyValue> list) {
        Map<String, String> all = new TreeMap<>();
        for (KeyValue one : list) {
            var value = one.getValue();
            all.put(one.getKey(), value.hasIntValue() ? String.valueOf(value.getIntValue()) : value.getStringValue());
        }
        return all;
    }

    @Override
    public void close() {
        holds = false;
        server.stop(0);
        threads.shutdownNow();
    }
}
