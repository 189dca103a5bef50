/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.dashboard.web;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.tierlog.ops.dashboard.model.Counters;
import io.tierlog.ops.dashboard.model.Names;
import io.tierlog.ops.dashboard.model.NodeRow;
import io.tierlog.schemas.Tier;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;

/** What an operator should look at, with what it means, from the numbers that the overview shows: errors first, and counts before nodes. */
final class Alarms {
    private static final long ABOVE_MS = 60_000;
    private static final long LOST_MS = 3_600_000;
    private static final long LEAST_REQUESTS = 20;
    private static final double EXPIRED_SHARE = 0.1;

    private final List<ObjectNode> found = new ArrayList<>();

    private Alarms() {}

    static ArrayNode of(Counters sum, List<NodeRow> nodes, long lastMs) {
        Alarms alarms = new Alarms();
        alarms.counts(sum);
        for (NodeRow node : nodes) {
            alarms.node(node, lastMs);
        }
        // "error" comes before "warning", and equals stay in their order.
        alarms.found.sort(Comparator.comparing(alarm -> alarm.path("level").asText()));
        return JsonNodeFactory.instance.arrayNode().addAll(alarms.found);
    }

    private void node(NodeRow node, long lastMs) {
        // A node that was taken out of the cluster stays lost for ever.
        if (node.state().equals(NodeRow.LOST) && lastMs - node.endedMs() < LOST_MS) {
            add("error", "Node " + node.node() + " is lost", "its agent was silent for too long; blocks in its memory count no more", "nodes");
        }
        for (Map.Entry<Tier, NodeRow.TierRow> tier : node.tiers().entrySet()) {
            long since = tier.getValue().aboveSinceMs();
            if (since > 0 && lastMs - since > ABOVE_MS && node.state().equals(NodeRow.UP)) {
                add("warning", tier.getKey() + " of " + node.node() + " is above its high mark for " + (lastMs - since) / 1_000 + " s",
                        "eviction does not reach the low mark: pins, or a tier below that is full", "nodes");
            }
        }
    }

    private void counts(Counters sum) {
        long submitted = sum.get(Names.SUBMITTED);
        long expired = sum.get(Names.EXPIRED);
        if (submitted >= LEAST_REQUESTS && expired > EXPIRED_SHARE * submitted) {
            add("warning", expired + " of " + submitted + " requests waited in vain for a fetch", "they computed what the store or a disk has",
                    "requests");
        }
        count(sum.sum(Names.LAST_COPIES), "error", " blocks left without another known copy", "they must be computed again", "overview");
        count(sum.get(Names.OVERDUE), "warning", " operations were overdue", "an agent is slow or stuck", "nodes");
        count(sum.get(Names.SKIPPED), "warning", " records were skipped: they are dead letters", "the topic of dead letters has them", "log");
        count(sum.get(Names.UNREADABLE), "warning", " records could not be decoded by this page", "a newer version writes, or damage", "log");
    }

    private void count(long count, String level, String what, String means, String page) {
        if (count > 0) {
            add(level, count + what, means, page);
        }
    }

    private void add(String level, String what, String means, String page) {
        found.add(JsonNodeFactory.instance.objectNode().put("level", level).put("what", what).put("means", means).put("page", page));
    }
}
