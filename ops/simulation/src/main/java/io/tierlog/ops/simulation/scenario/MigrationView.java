/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.simulation.scenario;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.tierlog.controller.core.api.DecideResult;
import io.tierlog.controller.core.api.Outcome;
import io.tierlog.controller.core.table.HeapTables;
import io.tierlog.controller.core.table.Rows;
import io.tierlog.ops.simulation.world.World;
import io.tierlog.schemas.BlockName;
import io.tierlog.schemas.MigrationAnswer;
import io.tierlog.schemas.MigrationMethod;
import io.tierlog.schemas.MigrationState;
import io.tierlog.schemas.RefusalReason;
import io.tierlog.schemas.decision.Fact;
import io.tierlog.schemas.decision.MarkCleared;
import io.tierlog.schemas.decision.MigrationDeclined;
import io.tierlog.schemas.decision.NodeDrained;
import io.tierlog.schemas.event.Event;
import io.tierlog.schemas.event.MarksClearRequested;
import io.tierlog.schemas.event.MigrationCancelRequested;
import io.tierlog.schemas.event.MigrationRequested;
import io.tierlog.schemas.event.NodeDrainRequested;
import io.tierlog.schemas.state.ClockRow;
import io.tierlog.schemas.state.MigrationRow;
import io.tierlog.schemas.state.PartRow;
import io.tierlog.schemas.state.SharesRow;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * What came of what operators have asked for, and the marks there are. An answer is the one that the first delivery of a request got: what comes a
 * second time belongs to the operator API. For one thread.
 */
final class MigrationView implements World.Watcher {
    private final World world;
    private final Labels labels;
    /** Numbers of events of operators that have had their answer. */
    private final Set<Long> answered = new LinkedHashSet<>();
    private final Map<String, ObjectNode> answers = new TreeMap<>();
    private final Map<String, MigrationRow> known = new TreeMap<>();
    /** Steps that ask for a migration under an id that is taken, by the number of the event. */
    private final Map<Long, String> names = new LinkedHashMap<>();

    MigrationView(World world, Labels labels) {
        this.world = world;
        this.labels = labels;
    }

    /** The id of a migration, or the line where the id is taken: what comes of asking again is another answer. */
    String freeName(String id, int line) {
        boolean taken = known.containsKey(id) || names.containsValue(id);
        return taken ? "line " + line : id;
    }

    /** The event of that number was asked for under this name. */
    void asked(long number, String name) {
        names.put(number, name);
    }

    // --- answers

    @Override
    public void decided(int partition, long offset, Event event, DecideResult decided) {
        for (Fact fact : decided.facts()) {
            if (fact instanceof NodeDrained drained) {
                answer("drain " + node(drained.envelope().aggregate())).put("left_blocks", drained.leftBlocks());
            }
        }
        boolean ofOperator = event instanceof MigrationRequested || event instanceof MigrationCancelRequested || event instanceof MarksClearRequested
                || event instanceof NodeDrainRequested;
        if (ofOperator && answered.add(event.envelope().sequence())) {
            String name = names.getOrDefault(event.envelope().sequence(), "");
            if (decided.outcome() instanceof Outcome.Refused refused && !isRepeatedCancel(event, refused)) {
                refused(name, refused, decided);
            } else {
                accepted(event, name, decided);
            }
        }
        remember();
    }

    /** A repeated cancel is not an error: the operator API accepts it. */
    private static boolean isRepeatedCancel(Event event, Outcome.Refused refused) {
        return event instanceof MigrationCancelRequested && refused.reason() == RefusalReason.REPEATED;
    }

    private void refused(String name, Outcome.Refused refused, DecideResult decided) {
        ObjectNode answer = answer(name);
        count(answer, "rejected");
        answer.put("reason", refused.reason().name());
        decided.facts().forEach(fact -> declined(answer, fact));
    }

    private void accepted(Event event, String name, DecideResult decided) {
        if (event instanceof MigrationRequested) {
            return; // what comes of it is in its row
        }
        ObjectNode answer = answer(name);
        if (event instanceof MarksClearRequested) {
            decided.facts().forEach(fact -> answer.put("cleared",
                    answer.path("cleared").asInt() + (fact instanceof MarkCleared cleared ? cleared.keys().size() : 0)));
        }
        count(answer, "accepted");
    }

    private static void declined(ObjectNode answer, Fact fact) {
        if (fact instanceof MigrationDeclined declined) {
            ArrayNode findings = answer.put("accepted", 0).put("state", MigrationState.REJECTED.name()).putArray("findings");
            declined.findings().forEach(findings::add);
        }
    }

    private ObjectNode answer(String name) {
        return answers.computeIfAbsent(name, any -> JsonNodeFactory.instance.objectNode());
    }

    private static void count(ObjectNode answer, String what) {
        answer.put(what, answer.path(what).asInt() + 1);
    }

    /** Rows are forgotten a day after the end; what came of a migration is not. */
    private void remember() {
        world.state().rows(Rows.MIGRATIONS).forEach((key, row) -> known.put(key.aggregate().substring(key.aggregate().indexOf('/') + 1), row));
    }

    // --- looking

    /** What came of everything that operators asked for, by its name. */
    Map<String, ObjectNode> outcomes() {
        remember();
        Map<String, ObjectNode> all = new TreeMap<>();
        answers.forEach((name, answer) -> all.put(name, answer.deepCopy()));
        known.forEach((id, row) -> {
            ObjectNode one = all.computeIfAbsent(id, any -> JsonNodeFactory.instance.objectNode());
            one.setAll(outcome(row));
        });
        world.state().rows(Rows.NODES).forEach((key, row) -> {
            ObjectNode one = all.get("drain " + node(key.aggregate()));
            SharesRow shares = row.shares();
            if (one != null) {
                one.put("draining", shares != null && shares.draining()).put("drained", shares != null && shares.drained());
                if (shares != null && !shares.drainingInstances().isEmpty()) {
                    shares.drainingInstances().forEach(one.putArray("draining_instances")::add);
                }
            }
        });
        return all;
    }

    private ObjectNode outcome(MigrationRow row) {
        ObjectNode one = JsonNodeFactory.instance.objectNode();
        TreeMap<String, String> reasons = new TreeMap<>();
        TreeMap<String, String> blocks = new TreeMap<>();
        int copied = 0;
        int marked = 0;
        int running = 0;
        long done = 0;
        long failed = 0;
        for (PartRow part : row.parts()) {
            MigrationAnswer answer = part.answer();
            String prefix = row.parts().size() == 1 ? "" : part.node() + "/";
            if (answer != null) {
                copied += answer.copied().size();
                marked += answer.marked().size();
                answer.copied().forEach(block -> blocks.put(prefix + label(block), MigrationMethod.COPY.name()));
                answer.marked().forEach(block -> blocks.put(prefix + label(block), MigrationMethod.MARK.name()));
                for (int i = 0; i < answer.refused().size(); i++) {
                    reasons.put(prefix + label(answer.refused().get(i)), answer.reasons().get(i).name());
                }
            }
            running += part.progress().running();
            done += part.progress().doneBlocks();
            failed += part.progress().failedBlocks();
        }
        one.put("state", row.state().name()).put("accepted", copied + marked).put("rejected", reasons.size()).put("copied", copied);
        one.put("marked", marked).put("running", running).put("done_blocks", done).put("failed_blocks", failed);
        blocks.putAll(reasons);
        reasons.forEach(one.putObject("reasons")::put);
        blocks.forEach(one.putObject("blocks")::put);
        return one;
    }

    private String label(BlockName block) {
        return labels.of(block.namespace(), block.key());
    }

    /** Each migration with what was ordered, by its id. */
    ObjectNode migrations() {
        remember();
        ObjectNode all = JsonNodeFactory.instance.objectNode();
        known.forEach((id, row) -> {
            ObjectNode one = all.putObject(id)
                    .put("method", row.order().method().name())
                    .put("source", row.order().source().name())
                    .put("target", row.order().target().name())
                    .put("retention", row.order().retention().name())
                    .put("dry_run", row.order().dryRun());
            ArrayNode nodes = one.putArray("nodes");
            row.parts().forEach(part -> nodes.add(part.node()));
            one.setAll(outcome(row));
        });
        return all;
    }

    /** The marks of all nodes, sorted. */
    ArrayNode marks() {
        HeapTables state = world.state();
        long nowMs = state.rows(Rows.CLOCK).values().stream().mapToLong(ClockRow::logTimeMs).max().orElse(0);
        TreeMap<String, ObjectNode> sorted = new TreeMap<>();
        state.rows(Rows.MARKS).forEach((key, row) -> {
            String node = node(key.aggregate());
            sorted.put(node + "/" + row.namespace() + "/" + key.block().hex(), JsonNodeFactory.instance.objectNode()
                    .put("node", node)
                    .put("namespace", row.namespace())
                    .put("key", key.block().hex())
                    .put("block", labels.of(row.namespace(), key.block()))
                    .put("target", row.target().name())
                    .put("fallback_from", row.fallbackFrom() == MigrationMethod.UNKNOWN ? "NONE" : row.fallbackFrom().name())
                    .put("writing", row.operation() != null)
                    .put("ends_in_ms", row.endMs() - nowMs));
        });
        ArrayNode all = JsonNodeFactory.instance.arrayNode();
        sorted.values().forEach(all::add);
        return all;
    }

    private static String node(String aggregate) {
        return aggregate.substring(aggregate.indexOf('/') + 1);
    }
}
