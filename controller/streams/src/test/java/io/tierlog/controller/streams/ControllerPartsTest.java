/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.streams;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.prometheus.metrics.model.registry.PrometheusRegistry;
import io.tierlog.controller.http.HealthLog;
import io.tierlog.controller.http.HealthParts.State;
import io.tierlog.controller.http.StatusServer;
import io.tierlog.threads.LoggedLines;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.streams.KafkaStreams;
import org.junit.jupiter.api.Test;

class ControllerPartsTest {
    private final Health health = new Health();
    private final ControllerParts parts = new ControllerParts(new PrometheusRegistry(), health);
    private volatile long processedNs = System.nanoTime();
    private double freeShare = 1;
    private boolean owns = true;

    ControllerPartsTest() {
        parts.inputs(() -> processedNs, 1_000, () -> owns);
        parts.producers(() -> freeShare);
    }

    private void assertPart(String part, String level, String detail, boolean answers200) {
        StatusServer.Report report = parts.report("i");
        String json = report.body().toString();
        String expected = "{\"part\":\"" + part + "\",\"level\":\"" + level + "\"" + (detail.isEmpty() ? "}" : ",\"detail\":\"" + detail);
        assertTrue(json.contains(expected), () -> expected + " is not in " + json);
        assertEquals(answers200, report.working(), json);
    }

    @Test
    void everyPartThatIsNotWellHasASentence() {
        assertPart("streams", "FAILED", "nothing is decided: starting", false);
        health.streams(KafkaStreams.State.RUNNING);
        assertTrue(parts.report("i").body().toString().contains("\"health\":\"WELL\""));
        assertPart("streams", "WELL", "", true);

        health.lowSpace("/s has 60 bytes free");
        assertPart("space", "DEGRADED", "/s has 60 bytes free", true);
        health.damaged("partition 1 is restored");
        assertPart("state", "DEGRADED", "partition 1 is restored", true);
        health.violated("I4");
        assertPart("invariants", "DEGRADED", "the tables do not hold what they must, last: I4", true);
        freeShare = 0.05;
        assertPart("producer", "DEGRADED", "the buffer of a producer is nearly full", true);
        parts.parts().add("relay", () -> State.degraded("no message is carried"));
        assertPart("relay", "DEGRADED", "no message is carried", true);
        health.logIsWrong("tierlog.events is missing");
        assertPart("log", "FAILED", "tierlog.events is missing", false);
        health.logIsWell();
        health.waiting("waiting for the schema registry");
        assertPart("registry", "FAILED", "waiting for the schema registry", false);
    }

    @Test
    void anInstanceThatTakesNothingUpHasFailedUnlessItHasNoPartition() {
        health.streams(KafkaStreams.State.RUNNING);
        try (LoggedLines lines = new LoggedLines(HealthLog.class);
                HealthLog _ = new HealthLog("test-health", parts.parts(), Set.of("inputs"))) {
            processedNs = System.nanoTime() - TimeUnit.SECONDS.toNanos(31);
            TestLog.await("a line", () -> lines.with("inputs is FAILED at /health: no record has been processed for ") == 1);
        }
        processedNs = System.nanoTime() - TimeUnit.SECONDS.toNanos(31);
        assertPart("inputs", "FAILED", "no record has been processed for 31 s", false);
        owns = false;
        assertPart("inputs", "WELL", "", true);
        owns = true;
        processedNs = System.nanoTime();
        assertPart("inputs", "WELL", "", true);
        assertFalse(parts.report("i").body().toString().contains("DEGRADED"));
    }
}
