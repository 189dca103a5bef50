/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.turbo.TurboFilter;
import ch.qos.logback.core.spi.FilterReply;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;
import org.slf4j.Marker;

/**
 * Bounds what repeated warnings write to the log, those of libraries included: of each logger and message, arguments aside, at most
 * {@value #MOST} in ten seconds. The first one of the next interval says how many were left out. Safe for use by several threads.
 *
 * <p>A producer that tries again since the transaction before is not complete yet is no warning at all: that is how transactions begin on a busy
 * broker. Trade-off: of warnings that differ only in their arguments some are not logged.
 */
final class RepeatedWarnings extends TurboFilter {
    private static final int MOST = 10;
    private static final int KINDS = 1_000;
    private static final long INTERVAL_NS = Duration.ofSeconds(10).toNanos();
    private static final String LEFT_OUT = "{} more warnings like the next one were not logged";

    private final LongSupplier nowNs;
    /** By logger and message; the one that was logged longest ago leaves first. */
    private final Map<String, Interval> intervals = new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Interval> eldest) {
            return size() > KINDS;
        }
    };

    private static final class Interval {
        private long sinceNs;
        private int seen;
    }

    RepeatedWarnings(LongSupplier nowNs) {
        this.nowNs = nowNs;
    }

    /** Adds one to the process's logging; nothing when that is not Logback. */
    static void install() {
        if (LoggerFactory.getILoggerFactory() instanceof LoggerContext context) {
            context.addTurboFilter(new RepeatedWarnings(System::nanoTime));
        }
    }

    /** Kafka's loggers put the arguments into the message themselves. */
    private static boolean isRetryOfATransaction(Logger logger, String message) {
        return logger.getName().endsWith(".Sender") && message.contains("CONCURRENT_TRANSACTIONS");
    }

    @Override
    public FilterReply decide(
            @Nullable Marker marker, Logger logger, Level level, @Nullable String format, Object @Nullable [] params, @Nullable Throwable t) {
        if (format == null || level.toInt() != Level.WARN_INT || format.equals(LEFT_OUT)
                || logger.getEffectiveLevel().toInt() > Level.WARN_INT) {
            return FilterReply.NEUTRAL;
        }
        if (isRetryOfATransaction(logger, format)) {
            return FilterReply.DENY;
        }
        int leftOut = 0;
        synchronized (intervals) {
            Interval interval = intervals.computeIfAbsent(logger.getName() + " " + format, k -> new Interval());
            long now = nowNs.getAsLong();
            if (interval.seen == 0 || now - interval.sinceNs >= INTERVAL_NS) {
                leftOut = Math.max(0, interval.seen - MOST);
                interval.sinceNs = now;
                interval.seen = 0;
            }
            interval.seen++;
            if (interval.seen > MOST) {
                return FilterReply.DENY;
            }
        }
        if (leftOut > 0) {
            logger.warn(LEFT_OUT, leftOut);
        }
        return FilterReply.NEUTRAL;
    }
}
