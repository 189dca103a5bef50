/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.audit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** An audit beside a bare reader, without a log. */
class SpeedChoiceTest {
    private final SpeedChoice choice = new SpeedChoice();
    private final List<String> runs = new ArrayList<>();

    private Map<String, Object> measured(Double... speeds) throws InterruptedException {
        ArrayDeque<Double> rest = new ArrayDeque<>(List.of(speeds));
        return choice.measure(() -> {
            runs.add("bare");
            return 1_000_000L;
        }, () -> {
            runs.add("audit");
            return rest.removeFirst();
        });
    }

    @Test
    void eachRunsInTurnAndTheBestCounts() throws Exception {
        choice.compareSpeed = true;
        Map<String, Object> speed = measured(5.0, 7.0, 6.0);

        assertEquals(List.of("bare", "audit", "bare", "audit", "bare", "audit"), runs);
        assertEquals(List.of("bareRecordsPerSecond", "auditRecordsPerSecond", "ratio"), List.copyOf(speed.keySet()));
        assertEquals(7L, speed.get("auditRecordsPerSecond"));
        assertTrue((Long) speed.get("bareRecordsPerSecond") > 1_000_000, "a million records in less than a second: " + speed);
        StringWriter text = new StringWriter();
        SpeedChoice.print(new PrintWriter(text, true), speed);
        assertEquals("speed       0.0 of a bare reader that only decodes: 7 and " + speed.get("bareRecordsPerSecond") + " records a second\n",
                text.toString());
    }

    @Test
    void nothingIsMeasuredUnasked() throws Exception {
        assertEquals(Map.of(), measured());
        assertEquals(List.of(), runs);
        StringWriter text = new StringWriter();
        SpeedChoice.print(new PrintWriter(text, true), Map.of());
        assertEquals("", text.toString());
    }
}
