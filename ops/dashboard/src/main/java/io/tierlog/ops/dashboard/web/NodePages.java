/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.dashboard.web;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.tierlog.ops.dashboard.fold.PartitionFold;
import io.tierlog.ops.dashboard.model.History;
import io.tierlog.ops.dashboard.model.NodeRow;
import io.tierlog.ops.dashboard.model.OperationRow;
import io.tierlog.ops.dashboard.model.PolicyRow;
import io.tierlog.ops.dashboard.model.Removal;
import io.tierlog.ops.dashboard.model.RequestRow;
import io.tierlog.schemas.Tier;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.StreamSupport;

/** Nodes, one node and requests as JSON, each from one fold under its lock. Without state. */
final class NodePages {
    private static final int SHOWN = 60;

    private NodePages() {}

    static List<ObjectNode> nodes(PartitionFold fold) {
        Map<String, Integer> inFlight = new HashMap<>();
        fold.inFlight().forEach(operation -> inFlight.merge(operation.node(), 1, Integer::sum));
        List<ObjectNode> all = new ArrayList<>();
        fold.nodes().values().forEach(node -> all.add(node(node, fold.policy()).put("inFlight", inFlight.getOrDefault(node.node(), 0))));
        return all;
    }

    private static ObjectNode node(NodeRow node, Optional<PolicyRow> policy) {
        ObjectNode json = JsonNodeFactory.instance.objectNode();
        json.put("node", node.node()).put("state", node.state()).put("incarnation", node.incarnation()).put("foreign", node.foreign())
                .put("sinceMs", node.sinceMs()).put("seenMs", node.seenMs()).put("waiting", node.waiting()).put("active", node.active());
        ArrayNode instances = json.putArray("instances");
        node.instances().forEach(instances::add);
        ArrayNode tiers = json.putArray("tiers");
        node.tiers().forEach((tier, row) -> {
            ObjectNode one = tiers.addObject();
            one.put("tier", tier.name()).put("capacity", row.capacity()).put("used", row.used()).put("serving", row.serving())
                    .put("filling", row.filling()).put("leaving", row.leaving()).put("quarantined", row.quarantined()).put("pins", row.pins())
                    .put("blockBytes", row.blockBytes()).put("aboveSinceMs", row.aboveSinceMs());
            policy.ifPresent(p -> one.put("highMark", tier == Tier.HOST ? p.hostHighMark() : tier == Tier.DISK ? p.diskHighMark() : 0)
                    .put("lowMark", tier == Tier.HOST ? p.hostLowMark() : tier == Tier.DISK ? p.diskLowMark() : 0));
        });
        return json;
    }

    /** Everything about one node; empty when the fold does not have it. */
    static Optional<ObjectNode> node(PartitionFold fold, String name) {
        NodeRow row = fold.nodes().get(name);
        if (row == null) {
            return Optional.empty();
        }
        ObjectNode json = node(row, fold.policy());
        List<OperationRow> operations = new ArrayList<>();
        fold.inFlight().forEach(operations::add);
        int running = (int) operations.stream().filter(operation -> operation.node().equals(name)).count();
        fold.ended().forEach(operations::add);
        ArrayNode shown = json.put("inFlight", running).putArray("operations");
        operations.stream().filter(operation -> operation.node().equals(name))
                .sorted(Comparator.comparingLong(OperationRow::issuedMs).reversed()).limit(SHOWN).forEach(operation -> shown.add(json(operation)));
        fold.policy().ifPresent(policy -> json.putObject("policy").put("version", policy.version()).put("adoptedMs", policy.adoptedMs())
                .put("text", policy.text()));
        return Optional.of(json);
    }

    /** What left the node's tiers, and their use over a stretch of time; empty when the fold does not have the node. */
    static Optional<ObjectNode> past(PartitionFold fold, String name, long fromMs, long toMs) {
        if (!fold.nodes().containsKey(name)) {
            return Optional.empty();
        }
        ObjectNode json = JsonNodeFactory.instance.objectNode();
        ArrayNode removals = json.putArray("removals");
        for (Removal removal : fold.removals(name).reversed()) {
            if (removal.atMs() > toMs) {
                continue;
            }
            removals.addObject().put("atMs", removal.atMs()).put("tier", removal.tier().name()).put("namespace", removal.namespace())
                    .put("reason", removal.reason().name()).put("blocks", removal.blocks()).put("lastCopies", removal.lastCopies());
        }
        ObjectNode history = json.putObject("history");
        List<long[]> samples = fold.history(name).stream().map(History::samples).flatMap(List::stream)
                .filter(s -> s[0] >= fromMs && s[0] <= toMs).toList();
        List<String> names = List.of("at", "device", "host", "disk");
        for (int i = 0; i < names.size(); i++) {
            ArrayNode values = history.putArray(names.get(i));
            for (long[] sample : samples) {
                values.add(i == 0 ? sample[0] / 1_000.0 : sample[i]);
            }
        }
        return Optional.of(json);
    }

    private static ObjectNode json(OperationRow row) {
        return JsonNodeFactory.instance.objectNode().put("id", row.id()).put("kind", row.kind().name()).put("from", row.from().name())
                .put("to", row.to().name()).put("namespace", row.namespace()).put("request", row.request()).put("blocks", row.blocks())
                .put("issuedMs", row.issuedMs()).put("startedMs", row.startedMs()).put("overdueMs", row.overdueMs()).put("endedMs", row.endedMs())
                .put("end", row.end()).put("movedBytes", row.movedBytes());
    }

    /** The latest attempts that a filter lets through, at most {@code most}. */
    static List<RequestRow> requests(PartitionFold fold, RequestFilter filter, int most) {
        List<RequestRow> all = StreamSupport.stream(fold.requests().spliterator(), false).filter(filter::lets).toList();
        return List.copyOf(all.subList(Math.max(0, all.size() - most), all.size()));
    }

    static ObjectNode json(RequestRow row) {
        ObjectNode json = JsonNodeFactory.instance.objectNode().put("node", row.node()).put("request", row.request()).put("attempt", row.attempt())
                .put("namespace", row.namespace()).put("state", row.state()).put("reason", row.reason()).put("blocks", row.blocks())
                .put("waits", row.waits()).put("expired", row.expired()).put("submittedMs", row.submittedMs()).put("readyMs", row.readyMs())
                .put("prefilledMs", row.prefilledMs()).put("endedMs", row.endedMs());
        json.putObject("found").put("device", row.hits().device()).put("host", row.hits().host()).put("disk", row.hits().disk())
                .put("store", row.hits().store()).put("peer", row.hits().peer()).put("computed", row.hits().computed());
        return json;
    }
}
