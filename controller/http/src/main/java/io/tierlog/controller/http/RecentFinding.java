/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.http;

import java.time.Duration;
import java.util.function.LongSupplier;

/**
 * The last of findings that each are over at once, such as a record that went to the dead letters: {@code /health} shows it for ten minutes. Safe for
 * use by several threads.
 */
public final class RecentFinding {
    private static final Duration SHOWN = Duration.ofMinutes(10);

    private final LongSupplier nowNs;
    private volatile At last;

    private record At(String what, long ns) {}

    /** None yet. */
    public RecentFinding() {
        this(System::nanoTime);
    }

    RecentFinding(LongSupplier nowNs) {
        this.nowNs = nowNs;
        this.last = new At("", 0);
    }

    /** It was found now; for people. */
    public void found(String what) {
        last = new At(what, nowNs.getAsLong());
    }

    /** The last one; empty when none was found in the last ten minutes. */
    public String recent() {
        At at = last;
        return nowNs.getAsLong() - at.ns() > SHOWN.toNanos() ? "" : at.what();
    }

    /** DEGRADED while there is one. */
    public HealthParts.State state() {
        return HealthParts.State.degradedUnlessEmpty(recent());
    }
}
