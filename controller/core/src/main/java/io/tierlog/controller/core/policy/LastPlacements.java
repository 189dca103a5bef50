/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.policy;

import static io.tierlog.schemas.ConfigWarningKind.DISK_KEEPS_LAST_COPIES;

import io.tierlog.schemas.GroupPolicy;
import io.tierlog.schemas.MigrationRoute;
import io.tierlog.schemas.Policy;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.TierCapacity;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Whether a policy lets a disk come to a stand: relief drops from a disk what the store has, and nothing else, so where finished requests back
 * nothing up, blocks must get to the store by a route before the disk is full of last copies. Without state.
 *
 * <p>Looked at are the groups, and what fits none of them. Of each as many blocks may stand on the disk as no route takes:
 *
 * <pre>
 *   a route to the store begins at block f, the disk's and the group's quota let f come,
 *   and relief of the group on the disk begins later (it would find nothing to drop, and a group in relief
 *   sends nothing on routes):                                                              f - 1
 *   a route from the host to the store begins before relief of the host does:              0
 *   nothing comes down from the host:                                                      0
 *   otherwise:                                                                             quota, or the whole disk
 * </pre>
 *
 * The disk stands when those without a way out reach its high mark by themselves, or all together fill it; else a group without a way out stands at
 * its own mark. Trade-off: what operators send to a disk by hand is not thought of.
 */
final class LastPlacements {
    /** Unit in which a document's bytes are counted: marks in millionths of the largest quota still fit a long. */
    private static final long UNIT = 1_024;

    private final Policy policy;
    private final @Nullable TierCapacity host;
    private final TierCapacity disk;

    private LastPlacements(Policy policy, @Nullable TierCapacity host, TierCapacity disk) {
        this.policy = policy;
        this.host = host;
        this.disk = disk;
    }

    /**
     * Blocks of one group on the disk.
     *
     * @param group its name; empty text for what fits none
     * @param most of them, so many may stand there without a route taking any
     * @param leave whether a route takes them from the next one on
     */
    private record Part(String group, long most, boolean leave) {
        String named(long blockBytes) {
            return (group.isEmpty() ? "what fits no group" : "group " + group) + " " + most * blockBytes + " bytes";
        }
    }

    /** Of a node with these tiers. */
    static List<PolicyWarning> ofNode(Policy policy, String node, List<TierCapacity> tiers) {
        TierCapacity disk = bounded(policy, tiers, Tier.DISK);
        return disk == null ? List.of() : new LastPlacements(policy, bounded(policy, tiers, Tier.HOST), disk).warnings("node " + node);
    }

    /** Of nodes that have what the policy bounds them to; nothing where it does not bound their disk. What has less is no better off. */
    static List<PolicyWarning> ofDocument(Policy policy) {
        Long bytes = Policies.bound(policy, Tier.DISK);
        Long ofHost = Policies.bound(policy, Tier.HOST);
        return bytes == null ? List.of() : new LastPlacements(policy, ofHost == null ? null : new TierCapacity(Tier.HOST, ofHost / UNIT, UNIT),
                new TierCapacity(Tier.DISK, bytes / UNIT, UNIT)).warnings("each node");
    }

    /** A tier with what counts as its capacity; null for a tier of nothing, or none. */
    private static @Nullable TierCapacity bounded(Policy policy, List<TierCapacity> tiers, Tier which) {
        for (TierCapacity tier : tiers) {
            if (tier.tier() == which) {
                Long bound = Policies.bound(policy, which);
                long blocks = bound == null ? tier.capacityBlocks() : Math.min(tier.capacityBlocks(), bound / tier.blockBytes());
                return blocks == 0 ? null : new TierCapacity(which, blocks, tier.blockBytes());
            }
        }
        return null;
    }

    private List<PolicyWarning> warnings(String where) {
        if (policy.backUp() || disk.capacityBlocks() == 0) {
            return List.of();
        }
        List<PolicyWarning> warnings = new ArrayList<>();
        List<Part> parts = parts();
        long all = parts.stream().mapToLong(Part::most).sum();
        long kept = parts.stream().filter(part -> !part.leave()).mapToLong(Part::most).sum();
        if (policy.diskHighMark() > 0 && (all >= disk.capacityBlocks() || kept >= first(policy.diskHighMark(), disk.capacityBlocks()))) {
            List<String> named = parts.stream().filter(part -> part.most() > 0).map(part -> part.named(disk.blockBytes())).toList();
            warnings.add(warning("", "back_up is off, and of the " + disk.capacityBlocks() * disk.blockBytes() + " bytes of disk of " + where
                    + " so much may fill with blocks that no route takes to the store: " + String.join(", ", named) + ". A disk drops no last"
                    + " copy, so disk and host would stand full: turn back_up on, or give each a route from disk to store that begins earlier,"
                    + " by its threshold or its quota"));
            return warnings;
        }
        for (GroupPolicy group : Policies.migration(policy).groups()) {
            Watermark level = Watermark.ofGroup(policy, group, Tier.DISK);
            Long quota = blocks(group, disk);
            long mark = quota == null || level.highMark() == 0 ? Long.MAX_VALUE : first(level.highMark(), quota);
            if (parts.stream().anyMatch(part -> part.group().equals(group.name()) && !part.leave() && part.most() >= mark)) {
                warnings.add(warning(group.name(), "Group " + group.name() + ": back_up is off, and at the high mark " + level.highMark()
                        + " of its quota on the disk of " + where + " none of its blocks is in the store, and no route takes them there. A disk"
                        + " drops no last copy, so the group would stand at its mark: turn back_up on, or give it a route from disk to store with"
                        + " a threshold below that mark"));
            }
        }
        return warnings;
    }

    private static PolicyWarning warning(String group, String detail) {
        return new PolicyWarning(DISK_KEEPS_LAST_COPIES, group, Tier.DISK, Tier.STORE, detail);
    }

    /** A namespace is of the first group that it fits, so what comes after a group that everything fits has nothing. */
    private List<Part> parts() {
        List<Part> parts = new ArrayList<>();
        for (GroupPolicy group : Policies.migration(policy).groups()) {
            parts.add(part(group));
            if (group.namespaces().stream().anyMatch(pattern -> pattern.chars().allMatch(c -> c == '*'))) {
                return parts;
            }
        }
        parts.add(new Part("", policy.copyToDisk() && policy.hostHighMark() > 0 ? disk.capacityBlocks() : 0, false));
        return parts;
    }

    private Part part(GroupPolicy group) {
        if (!comesDown(group) || isSavedOnHost(group)) {
            return new Part(group.name(), 0, true);
        }
        Long quota = blocks(group, disk);
        long most = quota == null ? disk.capacityBlocks() : Math.min(quota, disk.capacityBlocks());
        long begins = begins(group, disk, Long.MAX_VALUE);
        return begins <= most ? new Part(group.name(), begins - 1, true) : new Part(group.name(), most, false);
    }

    /** Whether relief or a route brings blocks of the group to the disk. */
    private boolean comesDown(GroupPolicy group) {
        boolean bounded = Groups.quotaBytes(group, Tier.HOST) != null;
        boolean relieved = policy.hostHighMark() > 0 || (bounded && Watermark.ofGroup(policy, group, Tier.HOST).highMark() > 0);
        MigrationRoute route = Groups.route(group, Tier.HOST, Tier.DISK);
        return (policy.copyToDisk() && relieved) || (route != null && route.copy() && bounded);
    }

    /** Whether a route takes blocks of the group to the store before the host lets go of them. */
    private boolean isSavedOnHost(GroupPolicy group) {
        TierCapacity tier = host;
        if (tier == null) {
            return false;
        }
        long relief = policy.hostHighMark() > 0 ? first(policy.hostHighMark(), tier.capacityBlocks()) : Long.MAX_VALUE;
        return begins(group, tier, relief) <= tier.capacityBlocks();
    }

    /** At how many blocks of the group a route from the tier to the store begins; a very large number for never, or not before relief does. */
    private long begins(GroupPolicy group, TierCapacity tier, long relief) {
        MigrationRoute route = Groups.route(group, tier.tier(), Tier.STORE);
        Long quota = blocks(group, tier);
        if (route == null || !route.copy() || quota == null) {
            return Long.MAX_VALUE;
        }
        double high = Watermark.ofGroup(policy, group, tier.tier()).highMark();
        long begins = first(route.threshold(), quota);
        return begins < Math.min(relief, high > 0 ? first(high, quota) : Long.MAX_VALUE) ? begins : Long.MAX_VALUE;
    }

    private static @Nullable Long blocks(GroupPolicy group, TierCapacity tier) {
        Long bytes = Groups.quotaBytes(group, tier.tier());
        return bytes == null ? null : bytes / tier.blockBytes();
    }

    /** Fewest blocks that reach a mark; none never do. */
    private static long first(double mark, long capacity) {
        return Math.max(1, Policies.below(mark, capacity) + 1);
    }
}
