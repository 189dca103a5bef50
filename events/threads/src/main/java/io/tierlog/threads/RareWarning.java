/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.threads;

import java.time.Duration;
import java.util.Arrays;
import java.util.function.LongSupplier;
import org.slf4j.Logger;

/**
 * A warning that a fault could repeat without end: the first is logged at once, later ones at most once per interval, with the number of those
 * left out. Safe for use by several threads.
 */
public final class RareWarning {
    /** The interval of {@link #RareWarning(Logger)}. */
    public static final Duration INTERVAL = Duration.ofSeconds(10);

    private final Logger logger;
    private final long intervalNs;
    private final LongSupplier nowNs;
    private boolean warned;
    private long lastNs;
    private long leftOut;

    /** At most one in {@link #INTERVAL}. */
    public RareWarning(Logger logger) {
        this(logger, INTERVAL, System::nanoTime);
    }

    RareWarning(Logger logger, Duration interval, LongSupplier nowNs) {
        this.logger = logger;
        this.intervalNs = interval.toNanos();
        this.nowNs = nowNs;
    }

    /** Logs {@code format} with {@code arguments}, or counts it. */
    public synchronized void warn(String format, Object... arguments) {
        long now = nowNs.getAsLong();
        if (warned && now - lastNs < intervalNs) {
            leftOut++;
            return;
        }
        warned = true;
        lastNs = now;
        if (leftOut > 0) {
            Object[] more = Arrays.copyOf(arguments, arguments.length + 1);
            more[arguments.length] = leftOut;
            logger.warn(format + " ({} more like this were not logged)", more);
            leftOut = 0;
        } else {
            logger.warn(format, arguments);
        }
    }
}
