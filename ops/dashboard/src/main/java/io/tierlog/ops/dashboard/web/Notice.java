/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.dashboard.web;

import java.util.Locale;
import java.util.Optional;

/**
 * Why what a page shows is old, in plain words, with what happens next. Every page shows it above its numbers.
 *
 * @param level {@code error} where an operator must act, {@code warning} where the page goes on by itself
 */
record Notice(String level, String text) {
    /** A heartbeat goes every 2.5 s, and a restart of a broker takes some seconds. */
    private static final long SILENT_MS = 8_000;
    private static final long QUIET_MS = 15_000;
    private static final long BEHIND = 10_000;

    /**
     * The first of them that holds, the cause before its effect.
     *
     * @param lastMs time of the latest decision; 0 without one
     */
    static Optional<Notice> of(LogPosition log, long lastMs, long nowMs) {
        if (log.brokersSilentMs() > SILENT_MS) {
            return notice("error", "The brokers do not answer for " + seconds(log.brokersSilentMs())
                    + ". The page goes on by itself once they do; what it shows is old.");
        }
        if (!log.waitsFor().isEmpty()) {
            return notice("error", "The reader of the log stands still, " + log.waitsFor() + ". It goes on by itself.");
        }
        if (!log.state().equals(LogPosition.RUNNING)) {
            return notice("warning", "The reader of the log is " + log.state().toLowerCase(Locale.ROOT) + ": it joins its group or restores its rows,"
                    + " and goes on by itself.");
        }
        if (log.behind() > BEHIND) {
            return notice("warning", "Catching up: " + String.format(Locale.ROOT, "%,d", log.behind()) + " records behind the log.");
        }
        if (lastMs > 0 && nowMs - lastMs > QUIET_MS) {
            return notice("error", "No controller has decided anything for " + seconds(nowMs - lastMs)
                    + ": is one running, and can it reach the brokers? What the page shows is old.");
        }
        return Optional.empty();
    }

    private static Optional<Notice> notice(String level, String text) {
        return Optional.of(new Notice(level, text));
    }

    private static String seconds(long ms) {
        return ms / 1_000 + " s";
    }
}
