/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.threads;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

class ThreadFaultsTest {
    private final Logger logger = (Logger) LoggerFactory.getLogger(ThreadFaults.class);
    private final ListAppender<ILoggingEvent> lines = new ListAppender<>();
    private long nowNs = -3_000_000_000L;
    private final ThreadFaults faults = new ThreadFaults(() -> nowNs);

    @BeforeEach
    void listen() {
        lines.start();
        logger.addAppender(lines);
        logger.setAdditive(false);
    }

    @AfterEach
    void stop() {
        logger.detachAppender(lines);
        logger.setAdditive(true);
    }

    @Test
    void eachFaultCountsAndFewAreLogged() {
        for (int i = 0; i < 100; i++) {
            faults.met("a", new StackOverflowError());
            nowNs += TimeUnit.MILLISECONDS.toNanos(100);
        }
        faults.met("b", new IllegalStateException("bad"));
        faults.met("a", new StackOverflowError());

        assertEquals(Map.of("a", 101L, "b", 1L), faults.counts());
        assertEquals(
                List.of("the thread a met a fault that nothing expects, and goes on (0 before it were not logged)",
                        "the thread b met a fault that nothing expects, and goes on (0 before it were not logged)",
                        "the thread a met a fault that nothing expects, and goes on (99 before it were not logged)"),
                lines.list.stream().map(ILoggingEvent::getFormattedMessage).toList());
        assertTrue(lines.list.stream().allMatch(line -> line.getThrowableProxy() != null), "each line has its stack");
    }

    @Test
    void theLastFaultIsShownForAWhile() {
        assertEquals("", faults.recent());
        faults.met("a", new OutOfMemoryError("heap"));
        nowNs += TimeUnit.SECONDS.toNanos(ThreadFaults.SHOWN_S - 1);
        assertEquals("the thread a met a fault that nothing expects 599 s ago, its number 1, and goes on: java.lang.OutOfMemoryError: heap",
                faults.recent());
        nowNs += TimeUnit.SECONDS.toNanos(1);
        assertEquals("", faults.recent());
    }

    @Test
    void theNamesAreBounded() {
        for (int i = 0; i < ThreadFaults.MOST_NAMES + 7; i++) {
            faults.met("thread-" + i, new IllegalStateException("bad"));
        }
        assertEquals(ThreadFaults.MOST_NAMES + 1, faults.counts().size());
        assertEquals(7, faults.counts().get(ThreadFaults.OTHERS));
    }

    /** A fault whose text cannot be made, as when memory is short. */
    @Test
    void aFaultThatCannotBeShownIsCounted() {
        faults.met("a", new IllegalStateException("bad") {
            private static final long serialVersionUID = 1L;

            @Override
            public String toString() {
                throw new StackOverflowError("for the text");
            }
        });
        assertEquals(Map.of("a", 1L), faults.counts());
    }
}
