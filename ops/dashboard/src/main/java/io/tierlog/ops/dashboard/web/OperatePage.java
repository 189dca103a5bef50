/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.dashboard.web;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.tierlog.controller.core.policy.Policies;
import io.tierlog.ops.dashboard.fold.PartitionFold;
import io.tierlog.ops.dashboard.model.Counters;
import io.tierlog.ops.dashboard.model.DrainRow;
import io.tierlog.ops.dashboard.model.MigrationRow;
import io.tierlog.ops.dashboard.model.Names;
import io.tierlog.ops.dashboard.model.NodeRow;
import io.tierlog.ops.dashboard.model.PolicyAnswer;
import io.tierlog.ops.dashboard.model.PolicyRow;
import io.tierlog.ops.policy.PolicyDocument;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Migrations, drains and the policy as JSON, from the rows of all partitions. Without state. */
final class OperatePage {
    private static final int MIGRATIONS = 50;
    private static final int ANSWERS = 12;

    private OperatePage() {}

    /** What the page needs of one partition, taken under the lock of its fold. */
    record Part(List<MigrationRow> migrations, List<DrainRow> drains, List<NodeRow> nodes, List<PolicyAnswer> answers, Optional<PolicyRow> policy) {
        static Part of(PartitionFold fold) {
            List<MigrationRow> migrations = new ArrayList<>();
            fold.migrations().forEach(migrations::add);
            List<PolicyAnswer> answers = new ArrayList<>();
            fold.policyAnswers().forEach(answers::add);
            return new Part(migrations, List.copyOf(fold.drains().values()), List.copyOf(fold.nodes().values()), answers, fold.policy());
        }
    }

    static ObjectNode json(Iterable<Part> parts, Counters counters) {
        List<MigrationRow> migrations = new ArrayList<>();
        List<PolicyAnswer> answers = new ArrayList<>();
        Map<String, DrainRow> drains = new TreeMap<>();
        Map<String, NodeRow> nodes = new TreeMap<>();
        Optional<PolicyRow> policy = Optional.empty();
        for (Part part : parts) {
            migrations.addAll(part.migrations());
            answers.addAll(part.answers());
            part.drains().forEach(drain -> drains.put(drain.node(), drain));
            part.nodes().forEach(node -> nodes.put(node.node(), node));
            policy = newer(policy, part.policy());
        }
        ObjectNode body = JsonNodeFactory.instance.objectNode();
        ArrayNode list = body.putArray("migrations");
        migrations.stream().sorted(Comparator.comparingLong(MigrationRow::submittedMs).reversed().thenComparing(MigrationRow::id)).limit(MIGRATIONS)
                .forEach(row -> migration(list.addObject(), row));
        ArrayNode each = body.putArray("nodes");
        nodes.values().stream().filter(node -> !node.foreign()).forEach(node -> node(each.addObject(), node, drains.get(node.node())));
        body.putObject("policy").put("version", policy.map(PolicyRow::version).orElse(0L))
                .put("adoptedMs", policy.map(PolicyRow::adoptedMs).orElse(0L))
                .put("document", policy.map(PolicyRow::text).orElseGet(() -> PolicyDocument.write(Policies.INITIAL)));
        ArrayNode items = body.putArray("answers");
        answers.stream().sorted(Comparator.comparingLong(PolicyAnswer::atMs).reversed().thenComparing(PolicyAnswer::id)).limit(ANSWERS)
                .forEach(answer -> items.addObject().put("atMs", answer.atMs()).put("what", answer.what()).put("version", answer.version())
                        .put("detail", answer.detail()));
        ArrayNode rejected = body.putArray("rejected");
        counters.forEach((name, blocks) -> {
            if (name.startsWith(Names.REJECTED)) {
                String[] words = name.split("\\.", -1);
                rejected.addObject().put("trigger", words[1]).put("from", words[2]).put("to", words[3]).put("reason", words[4]).put("blocks", blocks);
            }
        });
        return body;
    }

    private static Optional<PolicyRow> newer(Optional<PolicyRow> one, Optional<PolicyRow> other) {
        return one.map(PolicyRow::version).orElse(-1L) >= other.map(PolicyRow::version).orElse(-1L) ? one : other;
    }

    private static void migration(ObjectNode json, MigrationRow row) {
        json.put("id", row.id()).put("state", row.state()).put("method", row.method()).put("source", row.source()).put("target", row.target())
                .put("retention", row.retention()).put("wanted", row.wanted()).put("dryRun", row.dryRun()).put("submittedMs", row.submittedMs())
                .put("endedMs", row.endedMs()).put("why", row.why());
        Map<String, Integer> refused = new TreeMap<>();
        long accepted = 0;
        long done = 0;
        long failed = 0;
        long bytes = 0;
        for (MigrationRow.Part part : row.parts().values()) {
            part.refused().forEach((reason, blocks) -> refused.merge(reason, blocks, Integer::sum));
            accepted += part.accepted();
            done += part.doneBlocks();
            failed += part.failedBlocks();
            bytes += part.movedBytes();
        }
        json.put("nodes", row.parts().size()).put("answered", row.parts().values().stream().filter(MigrationRow.Part::answered).count());
        json.put("accepted", accepted).put("done", done).put("failed", failed).put("movedBytes", bytes);
        ObjectNode reasons = json.putObject("refused");
        refused.forEach(reasons::put);
    }

    private static void node(ObjectNode json, NodeRow node, @Nullable DrainRow drain) {
        json.put("node", node.node()).put("state", node.state()).put("draining", drain != null && drain.draining());
        ArrayNode instances = json.putArray("instances");
        if (drain != null) {
            drain.instances().forEach(instances::add);
            json.put("sinceMs", drain.sinceMs()).put("pass", drain.pass()).put("saving", drain.saving()).put("left", drain.left())
                    .put("doneMs", drain.doneMs());
        }
    }
}
