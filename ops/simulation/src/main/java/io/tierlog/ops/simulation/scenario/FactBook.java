/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.simulation.scenario;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.tierlog.controller.core.api.DecideResult;
import io.tierlog.ops.simulation.world.World;
import io.tierlog.schemas.MigrationMethod;
import io.tierlog.schemas.OperationKind;
import io.tierlog.schemas.PromotionOutcome;
import io.tierlog.schemas.decision.BlocksRemoved;
import io.tierlog.schemas.decision.ConfigWarning;
import io.tierlog.schemas.decision.DeletionEnded;
import io.tierlog.schemas.decision.Fact;
import io.tierlog.schemas.decision.MarkAdded;
import io.tierlog.schemas.decision.MarkCleared;
import io.tierlog.schemas.decision.MarkConsumed;
import io.tierlog.schemas.decision.MarkExpired;
import io.tierlog.schemas.decision.MigrationCompleted;
import io.tierlog.schemas.decision.MigrationRejected;
import io.tierlog.schemas.decision.MigrationSubmitted;
import io.tierlog.schemas.decision.OperationEnded;
import io.tierlog.schemas.decision.OperationIssued;
import io.tierlog.schemas.decision.PromotionSettled;
import io.tierlog.schemas.decision.PromotionsPaused;
import io.tierlog.schemas.decision.QuotaExceeded;
import io.tierlog.schemas.decision.WaterLevelCrossed;
import io.tierlog.schemas.decision.WaterLevelRelieved;
import io.tierlog.schemas.event.Event;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The decisions of a scenario by the record that led to them: decided again, they are the same ones. From it come counts, the ends of migrations
 * and the
 * order of facts in the log. For one thread.
 */
final class FactBook implements World.Watcher {
    private record At(int partition, long offset) {}

    private final Map<At, List<Fact>> facts = new LinkedHashMap<>();
    private final Map<At, List<Fact>> forgotten = new LinkedHashMap<>();

    @Override
    public void decided(int partition, long offset, Event event, DecideResult decided) {
        At at = new At(partition, offset);
        (forgotten.containsKey(at) ? forgotten : facts).put(at, decided.facts());
    }

    /** What was decided so far is not listed again; it is counted still. */
    void forget() {
        forgotten.putAll(facts);
        facts.clear();
    }

    /** Types of the facts since the last {@link #forget}, in order. */
    ArrayNode log() {
        ArrayNode log = JsonNodeFactory.instance.arrayNode();
        facts.values().forEach(list -> list.forEach(fact -> log.add(fact.getClass().getSimpleName())));
        return log;
    }

    /** Ends of migrations' copies, and of writes that marks have led, in order. */
    ArrayNode moves() {
        ArrayNode moves = JsonNodeFactory.instance.arrayNode();
        forgotten.values().forEach(list -> list.forEach(fact -> move(moves, fact)));
        facts.values().forEach(list -> list.forEach(fact -> move(moves, fact)));
        return moves;
    }

    private static void move(ArrayNode moves, Fact fact) {
        if (fact instanceof MigrationCompleted f) {
            String migration = f.move().migration();
            moves.addObject()
                    .put("node", f.envelope().aggregate().substring(f.envelope().aggregate().indexOf('/') + 1))
                    .put("method", f.method().name())
                    .put("fallback_from", f.fallbackFrom() == MigrationMethod.UNKNOWN ? "NONE" : f.fallbackFrom().name())
                    .put("source", f.source().name())
                    .put("target", f.target().name())
                    .put("state", f.state().name())
                    .put("reason", f.reason().name())
                    .put("done_blocks", f.doneBlocks())
                    .put("failed_blocks", f.failedBlocks())
                    .put("trigger", f.move().trigger().name())
                    .put("group", f.move().group())
                    .put("level", f.move().level())
                    .put("threshold", f.move().threshold())
                    .put("migration", migration == null ? "" : migration);
        }
    }

    /** How often what happened. */
    ObjectNode counters() {
        TreeMap<String, Long> counts = new TreeMap<>();
        for (Map<At, List<Fact>> some : List.of(forgotten, facts)) {
            some.values().forEach(list -> list.forEach(fact -> count(counts, fact)));
            add(counts, "FACTS", some.values().stream().mapToInt(List::size).sum());
        }
        ObjectNode all = JsonNodeFactory.instance.objectNode();
        counts.forEach(all::put);
        return all;
    }

    private static void count(Map<String, Long> counts, Fact fact) {
        switch (fact) {
            case MigrationSubmitted f -> add(counts, "SUBMITTED_" + f.method(), 1);
            case MigrationCompleted f -> add(counts, "COMPLETED_" + f.method() + "_" + f.state(), 1);
            case MigrationRejected f -> f.refused().forEach(one -> add(counts, "REJECTED_" + one.reason(), one.keys().size()));
            case MarkAdded f -> add(counts, "MARKS_ADDED", f.keys().size());
            case MarkConsumed f -> add(counts, "MARKS_CONSUMED", f.keys().size());
            case MarkExpired _ -> add(counts, "MARKS_EXPIRED", 1);
            case MarkCleared f -> add(counts, "MARKS_CLEARED_" + f.reason(), f.keys().size());
            case QuotaExceeded f -> add(counts, "QUOTA_EXCEEDED_" + f.tier(), 1);
            case ConfigWarning f -> add(counts, "WARNED_" + f.kind(), 1);
            case WaterLevelCrossed f -> add(counts, "CROSSED_" + f.tier(), 1);
            case WaterLevelRelieved f -> add(counts, "RELIEVED_" + f.tier(), 1);
            case OperationIssued f -> {
                if (f.kind() == OperationKind.DROP) {
                    add(counts, "DROPS_" + f.from(), f.blocks().size());
                } else if (f.kind() == OperationKind.PROMOTE) {
                    add(counts, "PROMOTIONS_STARTED", f.blocks().size());
                }
            }
            case OperationEnded f -> {
                if (f.kind() == OperationKind.PROMOTE) {
                    add(counts, "PROMOTIONS_DONE", f.doneBlocks());
                }
            }
            case PromotionSettled f -> add(counts, f.outcome() == PromotionOutcome.FAILED ? "PROMOTION_FAILED_" + f.reason() : f.outcome().name(),
                    f.blocks().size());
            case DeletionEnded f -> {
                add(counts, "DELETED", f.deletedBlocks());
                add(counts, "DELETIONS_" + f.reason(), 1);
            }
            case PromotionsPaused f -> add(counts, "PROMOTIONS_GIVEN_UP", f.cancelledBlocks());
            case BlocksRemoved f -> add(counts, "REMOVED_" + f.reason(), f.blocks().size());
            default -> {}
        }
    }

    private static void add(Map<String, Long> counts, String what, long by) {
        counts.merge(what, by, Long::sum);
    }
}
