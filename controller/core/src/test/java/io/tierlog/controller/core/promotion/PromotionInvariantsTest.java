/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.promotion;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.controller.core.Agent;
import io.tierlog.controller.core.api.Input;
import io.tierlog.controller.core.evolve.NodeState;
import io.tierlog.controller.core.evolve.PromotionCounts;
import io.tierlog.controller.core.invariant.Invariant;
import io.tierlog.controller.core.invariant.LogInvariants;
import io.tierlog.controller.core.invariant.TableInvariants;
import io.tierlog.controller.core.invariant.Violation;
import io.tierlog.controller.core.state.PromotionRows;
import io.tierlog.controller.core.table.Namespaces;
import io.tierlog.controller.core.table.RowKey;
import io.tierlog.controller.core.table.Rows;
import io.tierlog.schemas.OperationReason;
import io.tierlog.schemas.PromotionOutcome;
import io.tierlog.schemas.PromotionPolicy;
import io.tierlog.schemas.RemovalReason;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.command.PromoteBlocks;
import io.tierlog.schemas.decision.Fact;
import io.tierlog.schemas.decision.PromotionSettled;
import io.tierlog.schemas.state.NodeRow;
import io.tierlog.schemas.state.PromotionRow;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

/** Each promoted block has one outcome, by the log; the counts, the queue and the rows agree, by the tables: a spoiled one is found. */
final class PromotionInvariantsTest extends PromotionScene {
    /** The log with the outcomes as {@code spoiled} makes them: what does not hold of I12. */
    private List<String> told(UnaryOperator<List<PromotionSettled>> spoiled) {
        List<String> found = new ArrayList<>();
        LogInvariants invariants = new LogInvariants(v -> {
            if (v.invariant() == Invariant.I12) {
                found.add(v.detail().replaceAll("block \\w+ ", ""));
            }
        });
        int next = 0;
        for (Input input : w.log) {
            invariants.event(0, input.offset(), ((Input.Recorded) input).event());
            while (next < w.facts.size() && String.valueOf(w.facts.get(next).envelope().cause()).endsWith("@" + input.offset())) {
                Fact fact = w.facts.get(next++);
                if (fact instanceof PromotionSettled settled) {
                    spoiled.apply(List.of(settled)).forEach(one -> invariants.decision(0, 0, one));
                } else {
                    invariants.decision(0, 0, fact);
                }
            }
        }
        invariants.atEnd(false);
        return found.stream().distinct().toList();
    }

    private PromoteBlocks start() {
        ask(0, 1);
        return w.command(PromoteBlocks.class);
    }

    @Test
    void whatFailsHasItsOutcome() {
        w.input(failed(start(), OperationReason.IO));
        assertEquals(List.of(), told(s -> s));
        List<String> without = told(s -> List.of());
        assertTrue(without.getFirst().startsWith("was not brought by"), without::toString);
    }

    @Test
    void whatLeavesHasItsOutcomeOnce() {
        w.input(done(start(), 0));
        w.input(a.evicted(Tier.HOST, RemovalReason.PRESSURE, Agent.paged(p, 0, 1, 0)));
        assertEquals(List.of(), told(s -> s));
        assertEquals(List.of("has left the host, and has no outcome"), told(s -> List.of()));
        assertEquals(List.of("has the outcome PROMOTED_EVICTED_BEFORE_USE, and it was not promoted, or had one before"),
                told(s -> List.of(s.getFirst(), s.getFirst())));
    }

    @Test
    void whatIsUsedWasThere() {
        PromoteBlocks command = start();
        w.input(a.submit("r", p).answered().event());
        assertEquals(List.of(), told(s -> s));
        assertEquals(List.of("has the outcome PROMOTED_HIT, and it was UNDER_WAY"), told(s -> s.stream().map(one -> new PromotionSettled(
                one.envelope(), one.namespace(), PromotionOutcome.PROMOTED_HIT, one.reason(), one.blocks())).toList()));
        w.input(done(command, 0));
        assertEquals(List.of(), told(s -> s));
    }

    private List<Invariant> found() {
        return TableInvariants.check(w.tables, 0).stream().map(Violation::invariant).distinct().toList();
    }

    private RowKey.Mark key(int index) {
        return new RowKey.Mark(a.aggregate(), Namespaces.digest(Agent.NAMESPACE), p.get(index));
    }

    /** One under way, one that waits. */
    private void two() {
        w.policy(policy(new PromotionPolicy(true, 1, 1, 10, 30_000, 5_000)));
        ask(0, 2);
        assertEquals(List.of(), found());
    }

    @Test
    void aCountThatIsWrongIsFound() {
        two();
        NodeRow r = w.node(a);
        PromotionCounts counts = PromotionCounts.of(r.promotions());
        counts.queuedBlocks++;
        NodeState state = NodeState.of(r);
        state.promotions = counts.toRow();
        w.tables.put(Rows.NODES, new RowKey.Aggregate(a.aggregate()), state.toRow());
        assertEquals(List.of(Invariant.I12), found());
    }

    @Test
    void whatWaitsAndIsNotInTheQueueIsFound() {
        two();
        List<RowKey.Order> waiting = PromotionRows.waiting(w.tables, a.aggregate(), 1, 10);
        assertEquals(1, waiting.size());
        w.tables.delete(Rows.QUEUE, waiting.getFirst());
        assertEquals(List.of(Invariant.I13), found());
    }

    @Test
    void whatAnOperationDoesNotBringIsFound() {
        two();
        PromotionRow row = Objects.requireNonNull(w.tables.get(Rows.PROMOTIONS, key(0)));
        w.tables.put(Rows.PROMOTIONS, key(0), new PromotionRow(row.incarnation(), 0, "node/a@7.7", 0, row.reason(), row.block(), false));
        assertEquals(List.of(Invariant.I12), found());
    }
}
