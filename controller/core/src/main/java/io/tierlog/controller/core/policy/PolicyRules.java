/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.policy;

import io.tierlog.controller.core.api.Limits;
import io.tierlog.schemas.EvictionOrder;
import io.tierlog.schemas.FetchPolicy;
import io.tierlog.schemas.GroupPolicy;
import io.tierlog.schemas.GroupTier;
import io.tierlog.schemas.MarkClearing;
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
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The rules of a valid policy. It checks the whole policy and reports every finding; of a list that is too long, it checks only as many elements as
 * the list may hold. For one policy and one thread.
 */
public final class PolicyRules {
    /** Marks are counted in millionths of the capacity. */
    private static final double LEAST_MARK = 0.000_001;

    private static final Set<Tier> SOURCES = EnumSet.of(Tier.HOST, Tier.DISK);
    private static final Set<Tier> TARGETS = EnumSet.of(Tier.DISK, Tier.STORE);

    private final PolicyLimits limits;
    private final Limits core;
    private final List<PolicyFinding> findings = new ArrayList<>();

    private PolicyRules(PolicyLimits limits, Limits core) {
        this.limits = limits;
        this.core = core;
    }

    public static List<PolicyFinding> findings(Policy policy, Limits core) {
        PolicyRules rules = new PolicyRules(PolicyLimits.DEFAULTS, core);
        rules.node(policy);
        if (policy.migration() != null) {
            rules.migration(policy.migration());
        }
        if (policy.fetch() != null) {
            rules.fetch(policy.fetch());
        }
        if (policy.tiers() != null) {
            rules.bounds(policy.tiers());
        }
        if (policy.expiry() != null) {
            rules.within(rules.limits.longestMarkMs(), policy.expiry().nodesMs(), "expiry.nodes");
            rules.within(rules.limits.longestMarkMs(), policy.expiry().namespacesMs(), "expiry.namespaces");
        }
        if (policy.store() != null) {
            rules.store(policy.store());
        }
        return List.copyOf(rules.findings);
    }

    private void bounds(List<TierBound> tiers) {
        atMost(limits.tiersPerGroup(), tiers.size(), "tiers", "tiers");
        Set<Tier> seen = EnumSet.noneOf(Tier.class);
        for (TierBound bound : tiers.subList(0, Math.min(tiers.size(), limits.tiersPerGroup()))) {
            String one = "tiers." + name(bound.tier());
            check(SOURCES.contains(bound.tier()), one, "has neither capacity nor order here: only host and disk have");
            check(seen.add(bound.tier()), one, "must appear once");
            if (bound.order() == null || bound.capacityBytes() != 0) {
                within(limits.mostBytes(), bound.capacityBytes(), one + ".capacity");
            }
            order(bound.order(), one);
        }
    }

    private void store(StorePolicy store) {
        within(core.placements(), store.shardBlocks(), "store.shard_blocks");
        marks("store", store.highMark(), store.lowMark());
        check(store.highMark() > 0, "store.high", "must be above 0: a store without a bound has no shard_blocks");
        upTo(limits.longestMarkMs(), store.keepMs(), "store.keep");
    }

    private void fetch(FetchPolicy fetch) {
        PromotionPolicy promotion = fetch.promotion();
        within(limits.promotions(), promotion.operations(), "fetch.promotion.operations");
        within(core.blocksPerDecision(), promotion.operationBlocks(), "fetch.promotion.operation_blocks");
        upTo(limits.queuedBlocks(), promotion.queuedBlocks(), "fetch.promotion.queued_blocks");
        upTo(limits.longestMs(), promotion.dedupMs(), "fetch.promotion.dedup");
        upTo(limits.longestMs(), promotion.cooldownMs(), "fetch.promotion.cooldown");
        PeerPolicy peers = fetch.peers();
        within(limits.peerReads(), peers.reads(), "fetch.peers.reads");
        within(limits.leasedBlocks(), peers.leasedBlocks(), "fetch.peers.lent_blocks");
        within(limits.longestMs(), peers.grantMs(), "fetch.peers.grant");
        within(Integer.MAX_VALUE, peers.hostBlockMicros(), "fetch.peers.host_block_micros");
        within(Integer.MAX_VALUE, peers.diskBlockMicros(), "fetch.peers.disk_block_micros");
        within(Integer.MAX_VALUE, peers.storeBlockMicros(), "fetch.peers.store_block_micros");
        within(Integer.MAX_VALUE, peers.computeBlockMicros(), "fetch.peers.compute_block_micros");
    }

    private void node(Policy policy) {
        atLeast(0, policy.prefetchThresholdBlocks(), "prefetch_threshold");
        check(policy.writePolicy() != WritePolicy.UNKNOWN, "write_policy", "must be one that this version knows");
        marks("reclaim.host", policy.hostHighMark(), policy.hostLowMark());
        marks("reclaim.disk", policy.diskHighMark(), policy.diskLowMark());
        within(core.blocksPerDecision(), policy.reliefBatchBlocks(), "reclaim.batch");
        within(limits.longestMs(), policy.operationTimeoutMs(), "operation_timeout");
        within(limits.longestMs(), policy.leaseMs(), "lease");
        atLeast(0, policy.nodeTimeoutTicks(), "node_silent_ticks");
    }

    private void migration(MigrationPolicy migration) {
        within(limits.longestMarkMs(), migration.markTimeoutMs(), "marks.timeout");
        check(migration.markClearing() != MarkClearing.UNKNOWN, "marks.clear", "must be one that this version knows");
        atLeast(1, migration.migrationsInFlight(), "throttle.migrations");
        within(limits.mostBytes(), migration.migrationBytesInFlight(), "throttle.bytes");
        List<GroupPolicy> groups = migration.groups();
        atMost(limits.groups(), groups.size(), "groups", "groups");
        int patterns = 0;
        Map<String, Integer> names = new LinkedHashMap<>();
        for (int i = 0; i < Math.min(groups.size(), limits.groups()); i++) {
            String path = "groups[" + i + "]";
            patterns += groups.get(i).namespaces().size();
            Integer namesake = names.putIfAbsent(groups.get(i).name(), i);
            check(namesake == null, path + ".name", "must be its own, and groups[" + namesake + "] has it too");
            group(path, groups.get(i));
        }
        check(patterns <= limits.patterns(), "groups", "must have at most " + limits.patterns() + " patterns in all, not " + patterns);
    }

    private void group(String path, GroupPolicy group) {
        check(group.name().length() <= limits.nameLength() && group.name().matches("[A-Za-z0-9._-]+"), path + ".name",
                "must be 1 to " + limits.nameLength() + " letters, digits, '-', '_' or '.'");
        List<String> patterns = group.namespaces();
        check(!patterns.isEmpty(), path + ".namespaces", "must have at least one pattern");
        for (int i = 0; i < Math.min(patterns.size(), limits.patterns()); i++) {
            check(!patterns.get(i).isEmpty() && patterns.get(i).length() <= core.textLength(), path + ".namespaces[" + i + "]",
                    "must be a pattern of 1 to " + core.textLength() + " characters");
        }
        Long quota = group.quotaBytes();
        check(quota == null || isQuota(quota), path + ".quota", "must be from 0 to " + limits.mostBytes() + " bytes");
        tiers(path + ".tiers", group.tiers());
        routes(path + ".routes", group.routes());
    }

    private boolean isQuota(long bytes) {
        return bytes >= 0 && bytes <= limits.mostBytes();
    }

    private void tiers(String path, List<GroupTier> tiers) {
        atMost(limits.tiersPerGroup(), tiers.size(), path, "tiers");
        Set<Tier> seen = EnumSet.noneOf(Tier.class);
        for (GroupTier tier : tiers.subList(0, Math.min(tiers.size(), limits.tiersPerGroup()))) {
            String one = path + "." + name(tier.tier());
            check(SOURCES.contains(tier.tier()), one, "has neither quota, marks nor order: only host and disk have");
            check(seen.add(tier.tier()), one, "must appear once");
            Long quota = tier.quotaBytes();
            check(quota == null || isQuota(quota), one + ".quota", "must be from 0 to " + limits.mostBytes() + " bytes");
            marks(one, tier.highMark(), tier.lowMark());
            order(tier.order(), one);
        }
    }

    private void order(@Nullable EvictionOrder order, String path) {
        check(order != EvictionOrder.UNKNOWN, path + ".order", "must be one that this version knows");
    }

    private void routes(String path, List<MigrationRoute> routes) {
        atMost(limits.routesPerGroup(), routes.size(), path, "routes");
        List<MigrationRoute> looked = routes.subList(0, Math.min(routes.size(), limits.routesPerGroup()));
        Map<Tier, Set<Tier>> ways = new EnumMap<>(Tier.class);
        for (int i = 0; i < looked.size(); i++) {
            MigrationRoute route = looked.get(i);
            String one = path + "[" + i + "]";
            ends(one, route);
            if (route.source() != Tier.UNKNOWN && route.target() != Tier.UNKNOWN && route.source() != route.target()) {
                check(ways.computeIfAbsent(route.source(), _ -> EnumSet.noneOf(Tier.class)).add(route.target()), one,
                        "must appear once, and another route goes from " + name(route.source()) + " to " + name(route.target()));
            }
            check(route.threshold() > 0 && route.threshold() < 1, one + ".threshold", "must be above 0 and below 1, not " + route.threshold());
            check(route.copy() || route.mark(), one + ".methods", "must have copy, mark, or both");
            check(!route.copy() || route.retention() != Retention.UNKNOWN, one + ".retention",
                    "must be delete_source or keep_both: a route that copies must state what becomes of the source");
            atLeast(1, route.concurrency(), one + ".concurrency");
            within(limits.mostBytes(), route.bytesInFlight(), one + ".bytes_in_flight");
        }
        for (Tier tier : ways.keySet()) {
            if (comesBack(tier, ways)) {
                add(path, "must not lead in a circle, and from " + name(tier) + " they lead back to it");
                return;
            }
        }
    }

    private void ends(String path, MigrationRoute route) {
        Tier source = route.source();
        Tier target = route.target();
        check(SOURCES.contains(source), path + ".source", "must be host or disk, not " + name(source));
        if (source == target && source != Tier.UNKNOWN) {
            add(path + ".target", "must be another tier than the source");
        } else if (source != Tier.UNKNOWN && target != Tier.UNKNOWN && target.compareTo(source) < 0) {
            add(path + ".target", "must be colder than the source, and " + name(target) + " is hotter than " + name(source));
        } else {
            check(TARGETS.contains(target), path + ".target", "must be disk or store, not " + name(target));
        }
    }

    /** Whether routes lead from a tier back to it. */
    private static boolean comesBack(Tier start, Map<Tier, Set<Tier>> ways) {
        Set<Tier> reached = EnumSet.noneOf(Tier.class);
        List<Tier> open = new ArrayList<>(ways.getOrDefault(start, Set.of()));
        while (!open.isEmpty()) {
            Tier next = open.removeLast();
            if (reached.add(next)) {
                open.addAll(ways.getOrDefault(next, Set.of()));
            }
        }
        return reached.contains(start);
    }

    private void marks(String path, double high, double low) {
        if (high == 0 && low == 0) {
            return; // no watermark
        }
        boolean highIsGood = high >= LEAST_MARK && high <= 1;
        check(highIsGood, path + ".high", "must be from " + LEAST_MARK + " to 1, or both marks 0 for no water level");
        check(low >= LEAST_MARK && low <= (highIsGood ? high : 1), path + ".low",
                "must be from " + LEAST_MARK + " to " + (highIsGood ? "the high mark, which is " + high : 1) + ", not " + low);
    }

    private void within(long most, long value, String path) {
        check(value >= 1 && value <= most, path, "must be from 1 to " + most + ", not " + value);
    }

    private void upTo(long most, long value, String path) {
        check(value >= 0 && value <= most, path, "must be from 0 to " + most + ", not " + value);
    }

    private void atLeast(long least, long value, String path) {
        check(value >= least, path, "must be " + least + " or more, not " + value);
    }

    private void atMost(int most, int count, String path, String what) {
        check(count <= most, path, "must be at most " + most + " " + what + ", not " + count);
    }

    private void check(boolean good, String path, String reason) {
        if (!good) {
            add(path, reason);
        }
    }

    private void add(String path, String reason) {
        if (findings.size() < limits.findings()) {
            findings.add(new PolicyFinding(path, reason));
        }
    }

    /** As the policy document has it. */
    static String name(Tier tier) {
        return tier.name().toLowerCase(Locale.ROOT);
    }
}
