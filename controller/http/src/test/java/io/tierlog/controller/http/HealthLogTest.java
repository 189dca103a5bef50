/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.http;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import io.tierlog.controller.http.HealthParts.State;
import io.tierlog.threads.LoggedLines;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

class HealthLogTest {
    private final Logger logger = (Logger) LoggerFactory.getLogger(HealthLog.class);
    private final HealthParts parts = new HealthParts(new PrometheusRegistry());
    private final AtomicInteger looks = new AtomicInteger();

    @BeforeEach
    void logInfo() {
        logger.setLevel(Level.INFO);
    }

    @AfterEach
    void logAsBefore() {
        logger.setLevel(null);
    }

    /** Each look finds the next of the states; a part that is well for one look less than needed is not well again. */
    @Test
    void eachStepToTheWorseIsOneLineAndAPartIsWellAgainWhenItStaysSo() {
        List<State> states = new ArrayList<>(List.of(State.degraded("slow"), State.degraded("slow"), State.WELL, State.degraded("slow again"),
                State.failed("stuck")));
        states.addAll(Collections.nCopies(HealthLog.STEADY_LOOKS - 1, State.WELL));
        states.add(State.degraded("slow again"));
        states.addAll(Collections.nCopies(HealthLog.STEADY_LOOKS, State.WELL));
        states.add(State.degraded("slow later"));
        parts.add("loop", () -> states.get(Math.min(looks.getAndIncrement(), states.size() - 1)));
        parts.add("other", () -> State.failed("of no interest"));
        try (LoggedLines lines = new LoggedLines(HealthLog.class);
                HealthLog _ = new HealthLog("test-health", parts, Set.of("loop", "absent"), 1)) {
            while (looks.get() < states.size() + 2) {
                Thread.onSpinWait();
            }
            assertEquals("[loop is DEGRADED at /health: slow, loop is FAILED at /health: stuck, loop is well again at /health,"
                    + " loop is DEGRADED at /health: slow later]", lines.toString());
        }
    }
}
