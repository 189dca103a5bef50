/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.http;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import io.tierlog.controller.http.HealthParts.State;
import java.util.List;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

class HealthLogTest {
    private final Logger logger = (Logger) LoggerFactory.getLogger(HealthLog.class);
    private final BlockingQueue<String> lines = new LinkedBlockingQueue<>();
    private final AppenderBase<ILoggingEvent> appender = new AppenderBase<>() {
        @Override
        protected void append(ILoggingEvent event) {
            lines.add(event.getLevel() + " " + event.getFormattedMessage());
        }
    };
    private final HealthParts parts = new HealthParts(new PrometheusRegistry());
    private final AtomicInteger looks = new AtomicInteger();
    private volatile State loop = State.WELL;

    @BeforeEach
    void listen() {
        appender.start();
        logger.setLevel(Level.INFO);
        logger.addAppender(appender);
    }

    @AfterEach
    void stop() {
        logger.detachAppender(appender);
        logger.setLevel(null);
    }

    private String becomes(State next) throws InterruptedException {
        loop = next;
        return String.valueOf(lines.poll(30, TimeUnit.SECONDS));
    }

    @Test
    void eachStepToTheWorseIsOneLine() throws InterruptedException {
        parts.add("loop", () -> {
            looks.incrementAndGet();
            return loop;
        });
        parts.add("other", () -> State.failed("of no interest"));
        try (HealthLog _ = new HealthLog("test-health", parts, Set.of("loop", "absent"), 1)) {
            assertEquals("WARN loop is DEGRADED at /health: slow", becomes(State.degraded("slow")));
            int seen = looks.get();
            while (looks.get() < seen + 5) {
                Thread.onSpinWait();
            }
            assertEquals(List.of(), List.copyOf(lines), "it is named once");
            assertEquals("WARN loop is FAILED at /health: stuck", becomes(State.failed("stuck")));
            assertEquals("INFO loop is well again at /health", becomes(State.WELL));
            assertEquals("WARN loop is DEGRADED at /health: slow again", becomes(State.degraded("slow again")));
        }
    }
}
