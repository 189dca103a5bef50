/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.streams.api;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.tierlog.controller.core.policy.GroupQuotas;
import io.tierlog.schemas.Policy;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.state.GroupRow;
import io.tierlog.schemas.state.GroupTierRow;
import io.tierlog.schemas.state.NamespaceRow;
import io.tierlog.schemas.state.NodeRow;
import io.tierlog.schemas.state.SharesRow;
import io.tierlog.schemas.state.TierRow;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Nodes as JSON. Static and without state. */
final class NodeJson {
    private NodeJson() {}

    /** What a list shows of a node. */
    static void summary(ObjectNode json, String name, NodeRow row) {
        SharesRow shares = row.shares();
        json.put("node", name).put("alive", row.alive()).put("incarnation", row.incarnation());
        json.put("draining", shares != null && shares.draining()).put("drained", shares != null && shares.drained());
        json.put("left_blocks", shares != null && shares.drained() ? shares.drainLeft() : 0);
        ArrayNode instances = json.putArray("draining_instances");
        if (shares != null) {
            shares.drainingInstances().forEach(instances::add);
        }
        ArrayNode tiers = json.putArray("tiers");
        row.tiers().forEach(tier -> tier(tiers.addObject(), tier));
    }

    /** A node with all details; of its namespaces at most the limit. */
    static void whole(ObjectNode json, String name, NodeRow row, StateSnapshot state, int mostNamespaces) {
        summary(json, name, row);
        json.put("process_id", row.processId());
        ArrayNode engines = json.putArray("engines");
        row.engines().forEach(engine -> engines.addObject().put("instance", engine.instance()).put("device_blocks", engine.deviceBlocks()));
        SharesRow shares = row.shares();
        Policy policy = state.policy();
        ArrayNode groups = json.putArray("groups");
        ArrayNode routes = json.putArray("routes");
        if (shares != null) {
            for (GroupRow group : shares.groups()) {
                ArrayNode tiers = groups.addObject().put("group", group.group()).putArray("tiers");
                group.tiers().forEach(use -> Usage.of(row, use, GroupQuotas.quotaBytes(policy, group.group(), use.tier())).put(tiers.addObject()));
            }
            shares.routes().forEach(route -> routes.addObject().put("group", route.group()).put("source", route.source().name())
                    .put("target", route.target().name()).put("operations", route.operations()).put("blocks", route.blocks()));
        }
        List<NamespaceRow> namespaces = state.namespaces(name, row);
        ArrayNode shown = json.putArray("namespaces");
        namespaces.stream().limit(mostNamespaces).forEach(namespace -> namespace(shown.addObject(), namespace, row, policy));
        json.put("namespaces_left_out", Math.max(0, namespaces.size() - mostNamespaces));
    }

    private static void tier(ObjectNode json, TierRow row) {
        json.put("tier", row.tier().name()).put("block_bytes", row.blockBytes());
        json.put("capacity_blocks", row.capacityBlocks()).put("capacity_bytes", row.capacityBlocks() * row.blockBytes());
        json.put("used_blocks", row.usedBlocks()).put("used_bytes", row.usedBlocks() * row.blockBytes());
        json.put("leaving_blocks", row.leavingBlocks()).put("leaving_bytes", row.leavingBlocks() * row.blockBytes());
        json.put("in_relief", row.inRelief());
    }

    private static void namespace(ObjectNode json, NamespaceRow row, NodeRow node, Policy policy) {
        json.put("namespace", row.namespace()).put("group", GroupQuotas.groupOf(policy, row.namespace()));
        ArrayNode tiers = json.putArray("tiers");
        row.tiers().stream().filter(tier -> tier.usedBlocks() > 0).forEach(tier -> tiers.addObject().put("tier", tier.tier().name())
                .put("used_blocks", tier.usedBlocks()).put("used_bytes", tier.usedBlocks() * blockBytes(node, tier.tier())));
    }

    /** Size of a block of a tier in bytes; 0 of one that the node does not have. */
    static long blockBytes(NodeRow node, Tier tier) {
        return node.tiers().stream().filter(row -> row.tier() == tier).mapToLong(TierRow::blockBytes).findFirst().orElse(0);
    }

    /**
     * Use of a tier by a group.
     *
     * @param quotaBytes what it may have; null for no quota
     */
    record Usage(Tier tier, long usedBlocks, long usedBytes, long leavingBlocks, long leavingBytes, @Nullable Long quotaBytes,
            boolean inRelief) {
        static Usage of(NodeRow node, GroupTierRow use, @Nullable Long quotaBytes) {
            long blockBytes = blockBytes(node, use.tier());
            return new Usage(use.tier(), use.usedBlocks(), use.usedBlocks() * blockBytes, use.leavingBlocks(), use.leavingBlocks() * blockBytes,
                    quotaBytes, use.inRelief());
        }

        Usage plus(Usage that) {
            Long quota = quotaBytes == null || that.quotaBytes == null ? null : Long.valueOf(quotaBytes + that.quotaBytes);
            return new Usage(tier, usedBlocks + that.usedBlocks, usedBytes + that.usedBytes, leavingBlocks + that.leavingBlocks,
                    leavingBytes + that.leavingBytes, quota, inRelief || that.inRelief);
        }

        void put(ObjectNode json) {
            json.put("tier", tier.name()).put("used_blocks", usedBlocks).put("used_bytes", usedBytes);
            json.put("leaving_blocks", leavingBlocks).put("leaving_bytes", leavingBytes);
            if (quotaBytes == null) {
                json.putNull("quota_bytes").putNull("share");
            } else {
                json.put("quota_bytes", quotaBytes);
                // As levels are counted: what is on its way out is gone. A quota of 0 is full as soon as anything is there.
                double share = quotaBytes == 0 ? (usedBytes > leavingBytes ? 1 : 0) : (double) (usedBytes - leavingBytes) / quotaBytes;
                json.put("share", share);
            }
            json.put("in_relief", inRelief);
        }
    }
}
