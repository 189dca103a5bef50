/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.policy;

import io.tierlog.controller.core.policy.Policies;
import io.tierlog.schemas.EvictionOrder;
import io.tierlog.schemas.ExpiryPolicy;
import io.tierlog.schemas.FetchPolicy;
import io.tierlog.schemas.GroupPolicy;
import io.tierlog.schemas.GroupTier;
import io.tierlog.schemas.MarkClearing;
import io.tierlog.schemas.MigrationMethod;
import io.tierlog.schemas.MigrationPolicy;
import io.tierlog.schemas.MigrationRoute;
import io.tierlog.schemas.PeerPolicy;
import io.tierlog.schemas.Policy;
import io.tierlog.schemas.PromotionPolicy;
import io.tierlog.schemas.Retention;
import io.tierlog.schemas.StorePolicy;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.TierBound;
import io.tierlog.schemas.WritePolicy;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Nodes to a policy: the type and the default of every field. For one document and one thread. */
final class PolicyReader {
    private static final List<WritePolicy> WRITE_POLICIES =
            List.of(WritePolicy.WRITE_BACK, WritePolicy.WRITE_THROUGH, WritePolicy.WRITE_THROUGH_SELECTIVE);
    private static final List<MarkClearing> CLEARINGS = List.of(MarkClearing.ON_WRITE, MarkClearing.ON_EXPIRY);
    private static final List<Retention> RETENTIONS = List.of(Retention.DELETE_SOURCE, Retention.KEEP_BOTH);
    private static final List<MigrationMethod> METHODS = List.of(MigrationMethod.COPY, MigrationMethod.MARK);
    private static final List<Tier> SOURCES = List.of(Tier.HOST, Tier.DISK);

    /** All tiers with a name; a rule of the core decides which of them a route may lead to. */
    private static final List<Tier> TIERS = List.of(Tier.DEVICE, Tier.HOST, Tier.DISK, Tier.STORE);

    private final Findings findings;
    private final Policy base;

    PolicyReader(Findings findings, Policy base) {
        this.findings = findings;
        this.base = base;
    }

    /** The policy; a field that cannot be read is a finding and keeps its value. */
    Policy read(Node document) {
        findings.at("", document.line());
        Section root = new Section(findings, "", document);
        Section reclaim = root.section("reclaim");
        Marks host = marks(reclaim.section("host"), base.hostHighMark(), base.hostLowMark());
        Marks disk = marks(reclaim.section("disk"), base.diskHighMark(), base.diskLowMark());
        Policy policy = new Policy(
                root.count("prefetch_threshold", base.prefetchThresholdBlocks()),
                root.oneOf("write_policy", root.get("write_policy"), WRITE_POLICIES, base.writePolicy()),
                host.high, host.low, disk.high, disk.low,
                root.flag("copy_to_disk", base.copyToDisk()),
                reclaim.count("batch", base.reliefBatchBlocks()),
                root.timeMs("operation_timeout", base.operationTimeoutMs()),
                root.timeMs("lease", base.leaseMs()),
                root.count("node_silent_ticks", base.nodeTimeoutTicks()),
                root.flag("back_up", base.backUp()),
                migration(root),
                fetch(root),
                bounds(root.section("tiers")),
                expiry(root),
                store(root));
        reclaim.end();
        root.end();
        return policy;
    }

    private record Marks(double high, double low) {}

    /** With a high mark alone, and no low mark in the base, eviction ends as soon as usage is below the high mark. */
    private Marks marks(Section section, double baseHigh, double baseLow) {
        boolean sayHigh = section.has("high");
        Node highNode = section.get("high");
        double high = section.share("high", highNode, baseHigh);
        boolean highRead = highNode instanceof Node.Decimal || highNode instanceof Node.NotFinite;
        double otherwise = sayHigh && highRead && (high == 0 || baseLow == 0) ? high : baseLow;
        Node lowNode = section.get("low");
        double low = section.share("low", lowNode, otherwise);
        section.end();
        boolean lowUnread = lowNode != null && !(lowNode instanceof Node.Decimal || lowNode instanceof Node.NotFinite);
        // A mark that cannot be read must not cause a finding about the other one.
        return sayHigh && !highRead ? new Marks(1, low) : new Marks(high, lowUnread ? high : low);
    }

    private @Nullable MigrationPolicy migration(Section root) {
        boolean present = root.has("marks") || root.has("throttle") || root.has("groups");
        MigrationPolicy before = Policies.migration(base);
        Section marks = root.section("marks");
        Section throttle = root.section("throttle");
        MigrationPolicy frame = new MigrationPolicy(
                marks.timeMs("timeout", before.markTimeoutMs()),
                marks.oneOf("clear", marks.get("clear"), CLEARINGS, before.markClearing()),
                throttle.count("migrations", before.migrationsInFlight()),
                throttle.bytes("bytes", before.migrationBytesInFlight()),
                before.groups());
        marks.end();
        throttle.end();
        List<GroupPolicy> groups = new ArrayList<>();
        root.sections("groups").forEach(section -> groups.add(group(section, frame)));
        return present || base.migration() != null
                ? new MigrationPolicy(frame.markTimeoutMs(), frame.markClearing(), frame.migrationsInFlight(), frame.migrationBytesInFlight(),
                        root.has("groups") ? List.copyOf(groups) : before.groups())
                : null;
    }

    private @Nullable List<TierBound> bounds(Section section) {
        List<TierBound> bounds = new ArrayList<>();
        for (Tier tier : SOURCES) {
            Long before = Policies.bound(base, tier);
            Section one = section.section(Section.name(tier));
            Node capacity = one.get("capacity");
            long bytes = one.bytes("capacity", before == null ? 0 : before);
            EvictionOrder order = order(one, boundOf(tier));
            if (capacity != null && bytes == 0 && order != null) { // in the policy itself 0 is what the node has
                one.wrong("capacity", capacity, "1 byte or more", 0L);
            }
            one.end();
            if (capacity != null || before != null || order != null) {
                bounds.add(new TierBound(tier, bytes, order));
            }
        }
        section.end();
        return bounds.isEmpty() ? null : bounds;
    }

    /** The eviction order that the base says for a tier. */
    private @Nullable EvictionOrder boundOf(Tier tier) {
        List<TierBound> tiers = base.tiers();
        for (TierBound bound : tiers == null ? List.<TierBound>of() : tiers) {
            if (bound.tier() == tier) {
                return bound.order();
            }
        }
        return null;
    }

    private static @Nullable EvictionOrder order(Section section, @Nullable EvictionOrder otherwise) {
        Node node = section.get("order");
        return node == null ? otherwise : section.oneOf("order", node, PolicyDocument.EVICTION_ORDERS, EvictionOrder.LRU);
    }

    private @Nullable ExpiryPolicy expiry(Section root) {
        ExpiryPolicy before = Policies.expiry(base);
        Section section = root.section("expiry");
        ExpiryPolicy expiry = new ExpiryPolicy(section.timeMs("nodes", before.nodesMs()), section.timeMs("namespaces", before.namespacesMs()));
        section.end();
        return root.has("expiry") || base.expiry() != null ? expiry : null;
    }

    private @Nullable StorePolicy store(Section root) {
        StorePolicy before = base.store() == null ? Policies.STORE : base.store();
        Section section = root.section("store");
        int blocks = section.count("shard_blocks", (int) before.shardBlocks());
        long keepMs = section.timeMs("keep", before.keepMs());
        Marks marks = marks(section, before.highMark(), before.lowMark());
        return root.has("store") || base.store() != null ? new StorePolicy(blocks, marks.high, marks.low, keepMs) : null;
    }

    private @Nullable FetchPolicy fetch(Section root) {
        FetchPolicy before = Policies.fetch(base);
        Section section = root.section("fetch");
        FetchPolicy fetch = new FetchPolicy(
                promotion(section.section("promotion"), before.promotion()), peers(section.section("peers"), before.peers()));
        section.end();
        return root.has("fetch") || base.fetch() != null ? fetch : null;
    }

    private static PromotionPolicy promotion(Section section, PromotionPolicy before) {
        PromotionPolicy promotion = new PromotionPolicy(
                section.flag("enabled", before.enabled()),
                section.count("operations", before.operations()),
                section.count("operation_blocks", before.operationBlocks()),
                section.count("queued_blocks", before.queuedBlocks()),
                section.timeMs("dedup", before.dedupMs()),
                section.timeMs("cooldown", before.cooldownMs()));
        section.end();
        return promotion;
    }

    private static PeerPolicy peers(Section section, PeerPolicy before) {
        PeerPolicy peers = new PeerPolicy(
                section.flag("enabled", before.enabled()),
                section.count("reads", before.reads()),
                section.count("lent_blocks", before.leasedBlocks()),
                section.timeMs("grant", before.grantMs()),
                section.count("host_block_micros", before.hostBlockMicros()),
                section.count("disk_block_micros", before.diskBlockMicros()),
                section.count("store_block_micros", before.storeBlockMicros()),
                section.count("compute_block_micros", before.computeBlockMicros()));
        section.end();
        return peers;
    }

    private GroupPolicy group(Section section, MigrationPolicy frame) {
        List<GroupTier> tiers = new ArrayList<>();
        Section byTier = section.section("tiers");
        for (Tier tier : SOURCES) {
            if (byTier.has(Section.name(tier))) {
                Section one = byTier.section(Section.name(tier));
                Long quota = quota(one);
                EvictionOrder order = order(one, null);
                Marks marks = marks(one, 0, 0);
                tiers.add(new GroupTier(tier, quota, marks.high, marks.low, order));
            } else {
                byTier.get(Section.name(tier));
            }
        }
        byTier.end();
        List<MigrationRoute> routes = new ArrayList<>();
        section.sections("routes").forEach(one -> routes.add(route(one, frame)));
        GroupPolicy group = new GroupPolicy(
                section.text("name", section.required("name"), ""),
                List.copyOf(section.texts("namespaces", section.required("namespaces"))),
                quota(section), List.copyOf(tiers), List.copyOf(routes));
        section.end();
        return group;
    }

    private static @Nullable Long quota(Section section) {
        boolean present = section.has("quota");
        long quota = section.bytes("quota", 0);
        return present ? quota : null;
    }

    private MigrationRoute route(Section section, MigrationPolicy frame) {
        Set<MigrationMethod> methods = methods(section);
        MigrationRoute route = new MigrationRoute(
                section.oneOf("source", section.required("source"), TIERS, Tier.UNKNOWN),
                section.oneOf("target", section.required("target"), TIERS, Tier.UNKNOWN),
                section.share("threshold", section.required("threshold"), 0),
                methods.contains(MigrationMethod.COPY),
                methods.contains(MigrationMethod.MARK),
                section.oneOf("retention", section.get("retention"), RETENTIONS, Retention.UNKNOWN),
                section.count("concurrency", frame.migrationsInFlight()),
                section.bytes("bytes_in_flight", frame.migrationBytesInFlight()));
        section.end();
        return route;
    }

    private Set<MigrationMethod> methods(Section section) {
        Set<MigrationMethod> methods = EnumSet.noneOf(MigrationMethod.class);
        List<Node> items = section.items("methods", section.required("methods"));
        for (int i = 0; i < items.size(); i++) {
            String one = "methods[" + i + "]";
            MigrationMethod method = section.oneOf(one, items.get(i), METHODS, MigrationMethod.UNKNOWN);
            if (method == MigrationMethod.UNKNOWN) {
                findings.broken(section.path("methods"));
            } else if (!methods.add(method)) {
                findings.add(section.path(one), "is given twice", items.get(i).line());
            }
        }
        return methods;
    }
}
