/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.dashboard.web;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.fasterxml.jackson.databind.JsonNode;
import io.tierlog.ops.dashboard.model.Names;
import io.tierlog.ops.dashboard.model.Window;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The charts of the overview. */
class OverviewPageTest {
    private static Window window(long atMs, long submitted) {
        Window window = new Window(atMs);
        window.counters().add(Names.SUBMITTED, submitted);
        return window;
    }

    private static String rates(Window... windows) {
        Window sum = new Window(0);
        Span span = new Span(windows[0].atMs(), windows[0].atMs() + windows.length * 10_000L, 10_000);
        JsonNode page = OverviewPage.json(span, List.of(windows), sum, sum);
        return page.at("/series/requests").toString();
    }

    /** Two seconds into a window of ten, 8 requests are 4 a second, and would show as 0.8. */
    @Test
    void aRateHasNoPointForTheWindowThatIsNotOver() {
        assertEquals("[4.0,3.0,null]", rates(window(10_000, 40), window(20_000, 30), window(30_000, 8)));
        assertEquals("[0.8]", rates(window(10_000, 8)));
    }
}
