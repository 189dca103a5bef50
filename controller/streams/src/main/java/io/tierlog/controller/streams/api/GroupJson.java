/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.streams.api;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.tierlog.controller.core.policy.GroupQuotas;
import io.tierlog.controller.core.policy.Policies;
import io.tierlog.schemas.GroupPolicy;
import io.tierlog.schemas.Policy;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.state.GroupRow;
import io.tierlog.schemas.state.GroupTierRow;
import io.tierlog.schemas.state.NamespaceRow;
import io.tierlog.schemas.state.NodeRow;
import io.tierlog.schemas.state.SharesRow;
import io.tierlog.schemas.state.TierRow;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;

/** What each group has, per node and in all: collected from the nodes for one answer. */
final class GroupJson {
    private static final List<Tier> TIERS = List.of(Tier.HOST, Tier.DISK);

    private final StateSnapshot state;
    private final Policy policy;
    private final Map<String, Group> groups = new LinkedHashMap<>();

    private static final class Group {
        private final Map<String, List<NodeJson.Usage>> nodes = new LinkedHashMap<>();
        private final TreeSet<String> namespaces = new TreeSet<>();
    }

    private GroupJson(StateSnapshot state) {
        this.state = state;
        policy = state.policy();
        for (GroupPolicy group : Policies.migration(policy).groups()) {
            groups.put(group.name(), new Group());
        }
        state.nodes().forEach(this::collect);
    }

    /** All groups that policy names, and those that have something still. */
    static void list(ArrayNode json, StateSnapshot state, int mostNamespaces) {
        GroupJson all = new GroupJson(state);
        all.groups.forEach((name, group) -> all.put(json.addObject(), name, group, mostNamespaces));
    }

    private void collect(String node) {
        NodeRow row = state.knownNode(node);
        if (!row.alive()) {
            return;
        }
        SharesRow shares = row.shares();
        Map<String, GroupRow> uses = new LinkedHashMap<>();
        if (shares != null) {
            shares.groups().forEach(use -> uses.put(use.group(), use));
        }
        uses.keySet().forEach(name -> groups.computeIfAbsent(name, _ -> new Group()));
        groups.forEach((name, group) -> {
            List<NodeJson.Usage> usage = usage(row, name, uses.get(name) == null ? List.of() : uses.get(name).tiers());
            if (!usage.isEmpty()) {
                group.nodes.put(node, usage);
            }
        });
        for (NamespaceRow namespace : state.namespaces(node, row)) {
            Group group = groups.get(GroupQuotas.groupOf(policy, namespace.namespace()));
            if (group != null) {
                group.namespaces.add(namespace.namespace());
            }
        }
    }

    /** Each tier that the group uses or has a quota on. */
    private List<NodeJson.Usage> usage(NodeRow node, String group, List<GroupTierRow> uses) {
        List<NodeJson.Usage> usage = new ArrayList<>();
        for (TierRow tier : node.tiers()) {
            Long quota = TIERS.contains(tier.tier()) ? GroupQuotas.quotaBytes(policy, group, tier.tier()) : null;
            uses.stream().filter(use -> use.tier() == tier.tier()).findFirst().ifPresentOrElse(
                    use -> usage.add(NodeJson.Usage.of(node, use, quota)),
                    () -> {
                        if (quota != null) {
                            usage.add(new NodeJson.Usage(tier.tier(), 0, 0, 0, 0, quota, false));
                        }
                    });
        }
        return usage;
    }

    private void put(ObjectNode json, String name, Group group, int mostNamespaces) {
        json.put("group", name);
        Map<Tier, NodeJson.Usage> sums = new EnumMap<>(Tier.class);
        group.nodes.values().forEach(tiers -> tiers.forEach(use -> sums.merge(use.tier(), use, NodeJson.Usage::plus)));
        ArrayNode tiers = json.putArray("tiers");
        sums.values().forEach(use -> use.put(tiers.addObject()));
        ArrayNode nodes = json.putArray("nodes");
        group.nodes.forEach((node, uses) -> {
            ArrayNode ofNode = nodes.addObject().put("node", node).putArray("tiers");
            uses.forEach(use -> use.put(ofNode.addObject()));
        });
        ArrayNode namespaces = json.putArray("namespaces");
        group.namespaces.stream().limit(mostNamespaces).forEach(namespaces::add);
        json.put("namespaces_left_out", Math.max(0, group.namespaces.size() - mostNamespaces));
    }
}
