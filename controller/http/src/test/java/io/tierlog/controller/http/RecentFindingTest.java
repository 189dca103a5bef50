/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.http;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class RecentFindingTest {
    private long nowNs = -5;

    @Test
    void theLastIsShownForTenMinutes() {
        RecentFinding finding = new RecentFinding(() -> nowNs);
        assertEquals(HealthParts.State.WELL, finding.state());
        finding.found("one");
        nowNs += TimeUnit.MINUTES.toNanos(9);
        assertEquals(HealthParts.State.degraded("one"), finding.state());
        finding.found("two");
        nowNs += TimeUnit.MINUTES.toNanos(10);
        assertEquals("two", finding.recent());
        nowNs++;
        assertEquals(HealthParts.State.WELL, finding.state());
    }
}
