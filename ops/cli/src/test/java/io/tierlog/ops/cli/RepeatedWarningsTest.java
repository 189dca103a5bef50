/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** A library that warns a thousand times a second. */
class RepeatedWarningsTest {
    @Test
    void tenOfAKindAreLoggedInTenSecondsAndTheRestIsCounted() {
        AtomicLong nowMs = new AtomicLong();
        LoggerContext context = new LoggerContext();
        context.addTurboFilter(new RepeatedWarnings(() -> TimeUnit.MILLISECONDS.toNanos(nowMs.get())));
        Logger logger = context.getLogger("kafka");
        ListAppender<ILoggingEvent> logged = new ListAppender<>();
        logged.start();
        logger.addAppender(logged);
        for (int i = 0; i < 10_001; i++) {
            logger.warn("no such topic, try {}", i);
            nowMs.incrementAndGet();
        }
        logger.error("an error");
        List<String> messages = logged.list.stream().map(ILoggingEvent::getFormattedMessage).toList();
        assertEquals(13, messages.size(), messages.toString());
        assertEquals(
                List.of("no such topic, try 9", "9990 more warnings like the next one were not logged", "no such topic, try 10000", "an error"),
                messages.subList(9, 13));
    }

    @Test
    void retriesOfATransactionAreNoWarnings() {
        LoggerContext context = new LoggerContext();
        context.addTurboFilter(new RepeatedWarnings(() -> 0));
        Logger logger = context.getLogger("org.apache.kafka.clients.producer.internals.Sender");
        ListAppender<ILoggingEvent> logged = new ListAppender<>();
        logged.start();
        logger.addAppender(logged);
        logger.warn("[Producer clientId=c] Got error produce response with correlation id 7, retrying. Error: CONCURRENT_TRANSACTIONS");
        logger.warn("[Producer clientId=c] Got error produce response with correlation id 8, retrying. Error: NOT_LEADER_OR_FOLLOWER");
        assertEquals(1, logged.list.size());
    }
}
