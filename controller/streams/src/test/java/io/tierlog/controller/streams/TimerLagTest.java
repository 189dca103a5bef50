/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.streams;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.prometheus.metrics.model.snapshots.GaugeSnapshot;
import io.tierlog.controller.core.state.ClockRows;
import io.tierlog.controller.core.table.HeapTables;
import io.tierlog.controller.core.table.RowKey;
import io.tierlog.controller.core.table.Rows;
import io.tierlog.threads.LoggedLines;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.kafka.streams.KafkaStreams;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Timers that are still due after a tick are measured, and shown once they are too late. */
class TimerLagTest {
    private final HeapTables tables = new HeapTables();
    private final ControllerMetrics metrics = new ControllerMetrics();
    private final Health health = new Health();
    private final TimerLag lag = new TimerLag(metrics, health, 3);

    @BeforeEach
    void deciding() {
        health.streams(KafkaStreams.State.RUNNING);
        now(1_000_000);
    }

    private void now(long ms) {
        tables.put(Rows.CLOCK, new RowKey.Aggregate("clock/3"), ClockRows.at(ClockRows.opened(1), ms, 1, null));
    }

    private void due(RowKey.Timer.Kind kind, long ms) {
        tables.put(Rows.TIMERS, RowKey.Timer.of("clock/3", ms, kind, "node/a", "x"), Rows.ENTRY);
    }

    @Test
    void aLeaseThatShouldHaveEndedIsShown() {
        due(RowKey.Timer.Kind.LEASE, 990_000);
        due(RowKey.Timer.Kind.REQUEST, 900_000);
        due(RowKey.Timer.Kind.MARK, 1_000_001);
        lag.tick(tables);
        assertEquals(Map.of("act", 10.0, "mark", 0.0, "forget", 100.0, "expire", 0.0), seconds());
        assertTrue(health.report("i").working(), "just not too late");

        try (LoggedLines lines = new LoggedLines(TimerLag.class)) {
            now(1_000_001);
            lag.tick(tables);
            lag.tick(tables);
            assertEquals(1, lines.with("timers of partition 3 are late, in ms: {ACT=10001}"), lines::toString);
        }

        assertEquals(Health.State.TIMERS_LATE, health.state());
        assertTrue(health.report("i").working(), "it decides: an orchestrator that started it again would make it later");
        assertEquals("deciding; timers of partition 3 are late, in ms: {ACT=10001}", health.detail());
        lag.close();
        assertEquals(Health.State.RUNNING, health.state());
        assertEquals(Map.of(), seconds());
    }

    @Test
    void rowsMayStayLonger() {
        due(RowKey.Timer.Kind.ENDED, 699_999);
        lag.tick(tables);
        assertEquals("deciding; timers of partition 3 are late, in ms: {FORGET=300001}", health.detail());
        tables.delete(Rows.TIMERS, RowKey.Timer.of("clock/3", 699_999, RowKey.Timer.Kind.ENDED, "node/a", "x"));
        lag.tick(tables);
        assertEquals(Health.State.RUNNING, health.state());
    }

    private Map<String, Double> seconds() {
        List<GaugeSnapshot> found = metrics.registry().scrape(name -> name.equals("tierlog_timer_lag_seconds")).stream()
                .map(GaugeSnapshot.class::cast).toList();
        Map<String, Double> values = new TreeMap<>();
        found.forEach(gauge -> gauge.getDataPoints().forEach(point -> {
            assertEquals("3", point.getLabels().get("partition"));
            values.put(point.getLabels().get("queue"), point.getValue());
        }));
        return values;
    }
}
