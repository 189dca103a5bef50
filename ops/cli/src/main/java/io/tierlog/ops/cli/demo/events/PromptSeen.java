/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.demo.events;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * What a directory says of one prompt. Immutable.
 *
 * @param when in the run
 * @param blocks of the prompt, whole ones
 * @param nodes each node that has its first block, the longest prefix first
 * @param unknownFrom the first block that is UNKNOWN, for each length of keys in bytes; -1 for none
 */
record PromptSeen(String when, int blocks, List<Node> nodes, Map<Integer, Integer> unknownFrom) {
    /** A node and how much it has of the prompt: on all its tiers together, and on each. */
    record Node(String name, int blocks, Map<String, Integer> tiers) {}

    /** Blocks that a node has. */
    int of(String name) {
        return nodes.stream().filter(node -> node.name().equals(name)).mapToInt(Node::blocks).findFirst().orElse(0);
    }

    /** Whether some of it is UNKNOWN. */
    boolean unknown() {
        return unknownFrom.values().stream().anyMatch(from -> from >= 0);
    }

    /** Whether some of it is UNKNOWN to engines with keys of that length. */
    boolean unknown(int keyBytes) {
        return unknownFrom.getOrDefault(keyBytes, -1) >= 0;
    }

    /** For people. */
    List<String> lines() {
        List<String> lines = new ArrayList<>();
        lines.add("The router, " + when + ": a prompt of " + blocks + " blocks is at");
        for (Node node : nodes) {
            List<String> tiers = new ArrayList<>();
            node.tiers().forEach((tier, count) -> tiers.add(tier + " " + count));
            lines.add(String.format(Locale.ROOT, "  %-22s %4d blocks  %s", node.name(), node.blocks(), String.join(", ", tiers)));
        }
        if (nodes.isEmpty()) {
            lines.add("  no node");
        }
        unknownFrom.forEach((width, from) -> {
            if (from >= 0) {
                lines.add(String.format(Locale.ROOT, "  %-22s from block %d on, by keys of %d bytes", "UNKNOWN", from, width));
            }
        });
        return lines;
    }

    /** For programs. */
    ObjectNode toJson() {
        ObjectNode json = JsonNodeFactory.instance.objectNode();
        json.put("when", when).put("blocks", blocks).put("unknown", unknown());
        ObjectNode byNode = json.putObject("nodes");
        nodes.forEach(node -> byNode.put(node.name(), node.blocks()));
        return json;
    }
}
