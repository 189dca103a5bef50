/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import io.prometheus.metrics.model.snapshots.CounterSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot;
import io.tierlog.controller.http.HealthParts.Level;
import io.tierlog.controller.http.HealthParts.State;
import io.tierlog.threads.ThreadFaults;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

class HealthPartsTest {
    private final PrometheusRegistry registry = new PrometheusRegistry();
    private final HealthParts parts = new HealthParts(registry);

    private ObjectNode body() {
        ObjectNode body = JsonNodeFactory.instance.objectNode();
        assertEquals(parts.worst(), parts.describe(body));
        return body;
    }

    private Map<String, Double> levels() {
        return registry.scrape(name -> name.equals("tierlog_health_level")).stream().map(GaugeSnapshot.class::cast)
                .flatMap(gauge -> gauge.getDataPoints().stream())
                .collect(Collectors.toMap(point -> String.valueOf(point.getLabels().get("part")), GaugeSnapshot.GaugeDataPointSnapshot::getValue));
    }

    @Test
    void aProcessIsAsWellAsTheWorstOfItsParts() {
        assertEquals(Level.WELL, parts.worst());
        parts.add("streams", () -> State.WELL);
        assertEquals("{\"health\":\"WELL\",\"parts\":[{\"part\":\"streams\",\"level\":\"WELL\"},"
                + "{\"part\":\"threads\",\"level\":\"WELL\"}]}", body().toString());

        parts.add("relay", () -> State.degraded("no message for 9 s"));
        assertEquals(Level.DEGRADED, parts.worst());
        parts.add("log", () -> State.failed("no topics"));
        assertEquals("{\"health\":\"FAILED\",\"parts\":[{\"part\":\"log\",\"level\":\"FAILED\",\"detail\":\"no topics\"},"
                + "{\"part\":\"relay\",\"level\":\"DEGRADED\",\"detail\":\"no message for 9 s\"},{\"part\":\"streams\",\"level\":\"WELL\"},"
                + "{\"part\":\"threads\",\"level\":\"WELL\"}]}",
                body().toString());
        assertEquals("no topics; no message for 9 s", parts.detail());
        assertEquals(Map.of("log", 2.0, "relay", 1.0, "streams", 0.0, "threads", 0.0), levels());
    }

    @Test
    void aThreadThatMetAFaultIsAPartAndANumber() {
        assertEquals(Map.of(), failures());
        ThreadFaults.ofProcess().met("relay", new StackOverflowError());
        try {
            assertEquals(Level.DEGRADED, parts.worst());
            assertTrue(parts.detail().startsWith("the thread relay met a fault"), parts::detail);
            assertEquals(Map.of("relay", 1.0), failures());
        } finally {
            ThreadFaults.ofProcess().forget();
        }
    }

    private Map<String, Double> failures() {
        return registry.scrape(name -> name.equals("tierlog_thread_failures")).stream().map(CounterSnapshot.class::cast)
                .flatMap(counter -> counter.getDataPoints().stream())
                .collect(Collectors.toMap(point -> String.valueOf(point.getLabels().get("thread")), point -> point.getValue()));
    }

    @Test
    void aPartThatIsNotWellSaysWhy() {
        assertThrows(IllegalArgumentException.class, () -> State.degraded(""));
        assertEquals(State.WELL, State.degradedUnlessEmpty(""));
    }
}
