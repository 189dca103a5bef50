/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.dashboard.web;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.tierlog.ops.dashboard.model.Counters;
import io.tierlog.ops.dashboard.model.Names;
import io.tierlog.ops.dashboard.model.NodeRow;
import io.tierlog.schemas.RemovalReason;
import io.tierlog.schemas.Tier;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** What is an alarm, and in which order. */
class AlarmsTest {
    private static final long HOUR_MS = 3_600_000;

    private static NodeRow node(String name, long aboveSinceMs) {
        return new NodeRow(name, 1, NodeRow.UP, false, 1, 1, 0, 0, Set.of(),
                Map.of(Tier.HOST, new NodeRow.TierRow(9, 1, 0, 9, 0, 0, 0, 0, aboveSinceMs)), 0);
    }

    private static List<String> alarms(Counters sum, List<NodeRow> nodes, long lastMs) {
        return Alarms.of(sum, nodes, lastMs).valueStream().map(alarm -> alarm.path("what").asText()).toList();
    }

    /** Its last report is older than the loss: the controller may have been away for hours before it found the node lost. */
    @Test
    void aNodeIsAnAlarmForAnHourAfterItWasLost() {
        List<NodeRow> nodes = List.of(node("a", 0).ended(NodeRow.LOST, 5 * HOUR_MS));

        assertEquals(List.of("Node a is lost"), alarms(new Counters(), nodes, 6 * HOUR_MS - 1));
        assertEquals(List.of(), alarms(new Counters(), nodes, 6 * HOUR_MS));
    }

    @Test
    void errorsComeFirstAndCountsBeforeNodes() {
        Counters sum = new Counters();
        sum.add(Names.SKIPPED, 2);
        sum.add(Names.lastCopies(Tier.HOST, RemovalReason.WATER_LEVEL), 3);
        List<NodeRow> nodes = List.of(node("a", 1), node("b", 0).ended(NodeRow.LOST, HOUR_MS));

        assertEquals(List.of("3 blocks left without another known copy", "Node b is lost", "2 records were skipped: they are dead letters",
                "HOST of a is above its high mark for 3599 s"), alarms(sum, nodes, HOUR_MS));
    }
}
