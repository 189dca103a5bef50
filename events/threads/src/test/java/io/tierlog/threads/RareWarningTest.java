/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.threads;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

/** Warnings a millisecond apart, of which one in ten seconds is logged. */
class RareWarningTest {
    private final AtomicLong nowMs = new AtomicLong(-5);

    @Test
    void oneIsLoggedPerIntervalWithTheNumberOfThoseLeftOut() {
        Logger logger = (Logger) LoggerFactory.getLogger(RareWarningTest.class);
        ListAppender<ILoggingEvent> logged = new ListAppender<>();
        logged.start();
        logger.addAppender(logged);
        RareWarning warning = new RareWarning(logger, Duration.ofSeconds(10), () -> TimeUnit.MILLISECONDS.toNanos(nowMs.get()));
        for (int i = 0; i <= 10_000; i++) {
            warning.warn("failure {}", i);
            nowMs.incrementAndGet();
        }
        warning.warn("failure {}", "last");
        assertEquals(
                List.of("failure 0", "failure 10000 (9999 more like this were not logged)"),
                logged.list.stream().map(ILoggingEvent::getFormattedMessage).toList());
    }
}
