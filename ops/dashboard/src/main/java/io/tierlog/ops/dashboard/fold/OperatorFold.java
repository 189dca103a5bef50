/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.dashboard.fold;

import io.tierlog.ops.dashboard.model.DrainRow;
import io.tierlog.ops.dashboard.model.MigrationRow;
import io.tierlog.ops.dashboard.model.Names;
import io.tierlog.ops.dashboard.model.PolicyAnswer;
import io.tierlog.schemas.MigrationAnswer;
import io.tierlog.schemas.MigrationOrder;
import io.tierlog.schemas.MigrationProgress;
import io.tierlog.schemas.SampleRule;
import io.tierlog.schemas.decision.ConfigWarning;
import io.tierlog.schemas.decision.DrainAdvanced;
import io.tierlog.schemas.decision.DrainChanged;
import io.tierlog.schemas.decision.Fact;
import io.tierlog.schemas.decision.MigrationChanged;
import io.tierlog.schemas.decision.MigrationDeclined;
import io.tierlog.schemas.decision.MigrationNoted;
import io.tierlog.schemas.decision.MigrationOpened;
import io.tierlog.schemas.decision.MigrationRejected;
import io.tierlog.schemas.decision.NodeDrained;
import io.tierlog.schemas.decision.PolicyRefused;
import io.tierlog.schemas.decision.PolicyVersioned;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.ObjLongConsumer;
import org.jspecify.annotations.Nullable;

/** What operators requested in a partition: migrations, drains and policies, with what was refused and why. Not thread-safe. */
final class OperatorFold {
    private static final char MIGRATION = 'm';
    private static final char DRAIN = 'd';
    private static final char POLICY_ANSWER = 'c';
    private static final int ANSWERS = 50;
    private static final String PREFIX = "migration/";

    private final Recent<MigrationRow> migrations;
    private final Recent<DrainRow> drains;
    private final Recent<PolicyAnswer> answers;

    OperatorFold(FoldLimits limits, Rows rows) {
        migrations = new Recent<>(MIGRATION, limits.migrations(), rows, MigrationRow::id);
        drains = new Recent<>(DRAIN, limits.nodes(), rows, DrainRow::node);
        answers = new Recent<>(POLICY_ANSWER, ANSWERS, rows, PolicyAnswer::id);
    }

    void restore(Map<Character, List<byte[]>> kinds) {
        kinds.getOrDefault(MIGRATION, List.of()).stream().map(value -> Rows.decoded(value, MigrationRow.class))
                .sorted(Comparator.comparingLong(MigrationRow::submittedMs)).forEach(migrations::restore);
        kinds.getOrDefault(DRAIN, List.of()).stream().map(value -> Rows.decoded(value, DrainRow.class))
                .sorted(Comparator.comparingLong(DrainRow::sinceMs)).forEach(drains::restore);
        kinds.getOrDefault(POLICY_ANSWER, List.of()).stream().map(value -> Rows.decoded(value, PolicyAnswer.class))
                .sorted(Comparator.comparingLong(PolicyAnswer::atMs)).forEach(answers::restore);
    }

    /** Applies a fact, and counts what it says. */
    void fact(Fact fact, long atMs, ObjLongConsumer<String> count) {
        String node = PartitionFold.name(fact.envelope().aggregate());
        // Facts of other types are about no request of an operator.
        switch (fact) {
            case MigrationOpened f -> opened(f, atMs);
            case MigrationDeclined f -> {
                String id = id(f);
                migrations.put(new MigrationRow(id, "REJECTED", "", "", "", "", 0, false, atMs, atMs, Map.of(), String.join("; ", f.findings())));
            }
            case MigrationNoted f -> migrations.change(id(f), row -> row.with(f.node(), part(row.parts().get(f.node()), f.answer(), f.progress())));
            case MigrationChanged f -> migrations.change(id(f), row -> row.in(f.to().name(), atMs));
            case MigrationRejected f -> f.refused().forEach(each ->
                    count.accept(Names.rejected(f.move().trigger(), f.source(), f.target(), each.reason()), each.keys().size()));
            case DrainChanged f -> drains.put(drained(node, f, atMs));
            case DrainAdvanced f -> drains.change(node, row -> new DrainRow(node, row.draining(), row.instances(), row.sinceMs(), f.pass(),
                    f.savingBlocks(), f.leftBlocks(), 0));
            case NodeDrained f -> drains.change(node, row -> new DrainRow(node, row.draining(), row.instances(), row.sinceMs(), row.pass(), 0,
                    f.leftBlocks(), atMs));
            case PolicyVersioned f -> answers.put(new PolicyAnswer("v" + f.version(), atMs, PolicyAnswer.APPLIED, f.version(), ""));
            case PolicyRefused f -> answers.put(new PolicyAnswer("r" + f.envelope().cause(), atMs, PolicyAnswer.REFUSED, 0,
                    f.reason() + ": " + String.join("; ", f.findings())));
            case ConfigWarning f -> answers.put(new PolicyAnswer("w" + f.policyVersion() + "\n" + f.envelope().aggregate() + "\n" + f.kind() + "\n"
                    + f.group() + "\n" + f.source() + "\n" + f.target(), atMs, f.kind().name(), f.policyVersion(), f.detail()));
            default -> {}
        }
    }

    private static String id(Fact fact) {
        return id(fact.envelope().aggregate());
    }

    /** The name of the migration of an aggregate. */
    static String id(String aggregate) {
        return aggregate.startsWith(PREFIX) ? aggregate.substring(PREFIX.length()) : aggregate;
    }

    private void opened(MigrationOpened f, long atMs) {
        MigrationOrder order = f.order();
        Map<String, MigrationRow.Part> parts = new TreeMap<>();
        f.nodes().forEach(node -> parts.put(node, MigrationRow.UNANSWERED));
        migrations.put(row(id(f), "SUBMITTED", order, atMs, 0, parts));
    }

    /** A migration by its order. */
    static MigrationRow row(String id, String state, MigrationOrder order, long submittedMs, long endedMs, Map<String, MigrationRow.Part> parts) {
        SampleRule sample = order.sample();
        return new MigrationRow(id, state, order.method().name(), order.source().name(), order.target().name(), order.retention().name(),
                sample == null ? order.blocks().size() : sample.count(), order.dryRun(), submittedMs, endedMs, parts, "");
    }

    /** A node's part after a report; the answer comes with the first one. */
    static MigrationRow.Part part(MigrationRow.@Nullable Part was, @Nullable MigrationAnswer answer, MigrationProgress p) {
        MigrationRow.Part before = was == null ? MigrationRow.UNANSWERED : was;
        Map<String, Integer> refused = new TreeMap<>(before.refused());
        int accepted = before.accepted();
        if (answer != null) {
            refused.clear();
            answer.reasons().forEach(reason -> refused.merge(reason.name(), 1, Integer::sum));
            accepted = answer.copied().size() + answer.marked().size();
        }
        return new MigrationRow.Part(before.answered() || answer != null, accepted, refused, p.running(), p.doneBlocks(), p.failedBlocks(),
                p.movedBytes());
    }

    private DrainRow drained(String node, DrainChanged f, long atMs) {
        DrainRow was = drains.get(node);
        boolean whole = was != null && was.draining();
        List<String> instances = new ArrayList<>(was == null ? List.of() : was.instances());
        String instance = f.instance();
        if (instance == null) {
            whole = f.drain();
        } else {
            instances.remove(instance);
            if (f.drain()) {
                instances.add(instance);
            }
        }
        return new DrainRow(node, whole, List.copyOf(instances), atMs, 0, 0, 0, 0);
    }

    void restore(MigrationRow row) {
        migrations.restore(row);
    }

    void restore(DrainRow row) {
        drains.restore(row);
    }

    /** Migrations, the latest last. */
    Iterable<MigrationRow> migrations() {
        return migrations.all().values();
    }

    /** Drains, by node. */
    Map<String, DrainRow> drains() {
        return drains.all();
    }

    /** Answers to policies, the latest last. */
    Iterable<PolicyAnswer> answers() {
        return answers.all().values();
    }
}
