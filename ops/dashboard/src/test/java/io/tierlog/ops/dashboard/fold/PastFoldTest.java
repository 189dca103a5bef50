/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.dashboard.fold;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.controller.core.Core;
import io.tierlog.controller.core.table.HeapTables;
import io.tierlog.ops.audit.state.LogState;
import io.tierlog.ops.dashboard.model.NodeRow;
import io.tierlog.ops.dashboard.model.OperationRow;
import io.tierlog.ops.simulation.swarm.RandomLog;
import io.tierlog.ops.simulation.world.World;
import io.tierlog.schemas.decision.Fact;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.StreamSupport;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The tables of a moment as a fold against the fold of the same facts: both must name the same nodes, operations and policy. */
class PastFoldTest {
    /** The facts of a random episode, by partition. */
    private static Map<Integer, List<Fact>> episode(long seed) {
        Map<Integer, List<Fact>> facts = new LinkedHashMap<>();
        RandomLog.run(seed, new World.Watcher() {
            @Override
            public void committed(int partition, long offset, Fact fact) {
                facts.computeIfAbsent(partition, p -> new ArrayList<>()).add(fact);
            }
        });
        return facts;
    }

    @ParameterizedTest
    @ValueSource(longs = {5, 6, 7, 8})
    void itNamesWhatTheFoldOfTheSameFactsNames(long seed) {
        episode(seed).forEach((partition, facts) -> {
            HeapTables tables = new HeapTables();
            PartitionFold fold = new PartitionFold(FoldLimits.DEFAULTS);
            for (int i = 0; i < facts.size(); i++) {
                Core.evolve(tables, facts.get(i));
                fold.fact(facts.get(i), 1_000 + i);
                if (i % 97 == 0 || i == facts.size() - 1) {
                    PartitionFold past = PastFold.of(FoldLimits.DEFAULTS,
                            new LogState.Partition(new LogState.At(partition, i, 1_000 + i), tables));
                    assertSame(fold, past, "seed " + seed + ", partition " + partition + ", fact " + i);
                }
            }
        });
    }

    private static void assertSame(PartitionFold fold, PartitionFold past, String where) {
        assertEquals(states(fold), states(past), where);
        assertEquals(operations(fold), operations(past), where);
        assertEquals(fold.seen().lastMs(), past.seen().lastMs(), where);
        fold.policy().ifPresent(policy -> assertEquals(policy.text(), past.policy().orElseThrow().text(), where));
        for (NodeRow node : past.nodes().values()) {
            node.tiers().values().forEach(tier -> assertTrue(tier.used() >= 0 && tier.used() <= tier.capacity(), where + ": " + node));
        }
    }

    private static Map<String, String> states(PartitionFold fold) {
        return fold.nodes().values().stream().filter(node -> node.incarnation() > 0)
                .collect(Collectors.toMap(NodeRow::node, node -> node.incarnation() + (node.state().equals(NodeRow.UP) ? " up" : " gone")));
    }

    private static List<String> operations(PartitionFold fold) {
        return StreamSupport.stream(fold.inFlight().spliterator(), false)
                .map((OperationRow row) -> row.id() + " " + row.node() + " " + row.kind() + " " + row.blocks()).sorted().toList();
    }
}
