/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.policy;

import io.tierlog.schemas.GroupPolicy;
import io.tierlog.schemas.GroupTier;
import io.tierlog.schemas.Policy;
import io.tierlog.schemas.Tier;
import java.util.ArrayList;
import java.util.List;

/**
 * A watermark of a node: of a tier, or of a group's quota there. Leaving blocks count as gone.
 *
 * @param tier the tier
 * @param group the group; empty text for the whole tier
 * @param highMark share of the capacity or quota at which eviction begins, inclusive; 0 for never
 * @param lowMark share below which it ends
 * @param below tier that takes a copy of what leaves; UNKNOWN when none does
 */
public record Watermark(Tier tier, String group, double highMark, double lowMark, Tier below) {
    /**
     * The usage that the watermark applies to.
     *
     * @param usedBlocks blocks being written, serving or leaving
     * @param leavingBlocks those that are leaving
     * @param capacityBlocks capacity of the tier, or quota of the group
     * @param inRelief whether watermark eviction has begun
     */
    public record Use(long usedBlocks, long leavingBlocks, long capacityBlocks, boolean inRelief) {
        public long standing() {
            return usedBlocks - leavingBlocks;
        }

        /** Used share of the capacity; above 1 when more blocks are used than there is space for, 1 when the capacity is 0. */
        public double level() {
            return capacityBlocks == 0 ? 1 : (double) standing() / capacityBlocks;
        }
    }

    /** The levels of a node's tiers, from the top down, for what leaves one may raise the next; then those of its groups. */
    public static List<Watermark> of(Policy policy) {
        List<Watermark> levels = new ArrayList<>(2);
        levels.add(ofTier(policy, Tier.HOST));
        levels.add(ofTier(policy, Tier.DISK));
        for (GroupPolicy group : Policies.migration(policy).groups()) {
            for (Tier tier : List.of(Tier.HOST, Tier.DISK)) {
                if (Groups.quotaBytes(group, tier) != null) {
                    levels.add(ofGroup(policy, group, tier));
                }
            }
        }
        return levels;
    }

    private static Watermark ofTier(Policy policy, Tier tier) {
        return tier == Tier.HOST
                ? new Watermark(tier, "", policy.hostHighMark(), policy.hostLowMark(), policy.copyToDisk() ? Tier.DISK : Tier.UNKNOWN)
                : new Watermark(tier, "", policy.diskHighMark(), policy.diskLowMark(), Tier.UNKNOWN);
    }

    /** The watermark of a group's quota; a group without one of its own for the tier has the tier's. */
    static Watermark ofGroup(Policy policy, GroupPolicy group, Tier tier) {
        Watermark whole = ofTier(policy, tier);
        GroupTier own = Groups.tier(group, tier);
        return own == null
                ? new Watermark(tier, group.name(), whole.highMark, whole.lowMark, whole.below)
                : new Watermark(tier, group.name(), own.highMark(), own.lowMark(), whole.below);
    }

    /** Whether usage is high enough for eviction to begin. */
    public boolean isHigh(Use use) {
        return highMark > 0 && use.standing() > 0 && Policies.reaches(use.standing(), highMark, use.capacityBlocks());
    }

    /** Whether usage is low enough for eviction to end. */
    public boolean isLow(Use use) {
        return highMark == 0 || use.standing() == 0 || !Policies.reaches(use.standing(), lowMark, use.capacityBlocks());
    }

    /** Number of blocks that fit before the tier is at its high watermark or full; 0 while watermark eviction runs. */
    public long free(Use use) {
        if (use.inRelief()) {
            return 0;
        }
        long free = use.capacityBlocks() - use.usedBlocks();
        long below = highMark == 0 ? free : Policies.below(highMark, use.capacityBlocks()) - use.standing();
        return Math.max(0, Math.min(free, below));
    }

    /** Blocks that must go until it is low, count. */
    public long excess(Use use) {
        return highMark == 0 ? 0 : Math.min(use.standing(), Policies.excess(use.standing(), lowMark, use.capacityBlocks()));
    }
}
