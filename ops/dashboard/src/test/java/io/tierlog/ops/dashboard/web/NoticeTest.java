/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.dashboard.web;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.Map;
import org.junit.jupiter.api.Test;

/** What a page says when its numbers are old: the cause, not its effects. */
class NoticeTest {
    private static final long NOW_MS = 1_000_000;

    private static String notice(String state, long behind, long brokersSilentMs, long lastMs) {
        return notice(new LogPosition(state, Map.of("tierlog.events-0", behind), brokersSilentMs, ""), lastMs);
    }

    private static String notice(LogPosition log, long lastMs) {
        return Notice.of(log, lastMs, NOW_MS).map(notice -> notice.level() + ": " + notice.text()).orElse("none");
    }

    @Test
    void theCauseComesBeforeItsEffects() {
        assertEquals("none", notice("RUNNING", 10_000, 8_000, NOW_MS - 15_000));
        assertEquals("error: No controller has decided anything for 15 s: is one running, and can it reach the brokers? What the page shows is old.",
                notice("RUNNING", 10_000, 8_000, NOW_MS - 15_001));
        assertEquals("warning: Catching up: 10,001 records behind the log.", notice("RUNNING", 10_001, 8_000, NOW_MS - 15_001));
        assertEquals("warning: The reader of the log is rebalancing: it joins its group or restores its rows, and goes on by itself.",
                notice("REBALANCING", 10_001, 8_000, NOW_MS - 15_001));
        assertEquals("error: The brokers do not answer for 8 s. The page goes on by itself once they do; what it shows is old.",
                notice("REBALANCING", 10_001, 8_001, NOW_MS - 15_001));
    }

    /** While it waits it takes no record and falls behind: the wait is the cause. */
    @Test
    void aReaderThatWaitsForTheRegistrySaysSo() {
        LogPosition waits = new LogPosition("RUNNING", Map.of("tierlog.events-0", 10_001L), 8_000, "waiting for the schema registry: no reply");
        assertEquals("error: The reader of the log stands still, waiting for the schema registry: no reply. It goes on by itself.",
                notice(waits, NOW_MS - 15_001));
    }

    /** A cluster whose first controller has not decided anything yet is not one without a controller. */
    @Test
    void aLogWithoutDecisionsIsNotSilent() {
        assertEquals("none", notice("RUNNING", 0, 0, 0));
    }
}
