/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core;

import io.tierlog.schemas.Policy;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.state.TierRow;
import java.util.List;

/**
 * The water level that policy sets for one tier. What is on its way out counts as gone.
 *
 * @param tier the tier
 * @param highMark share of the capacity at which relief begins, inclusive; 0 for never
 * @param lowMark share of the capacity below which it ends
 * @param below tier that takes a copy of what leaves; UNKNOWN when none does
 */
record Level(Tier tier, double highMark, double lowMark, Tier below) {
    /** The levels of a node's tiers, from the top down: what leaves one may raise the next. */
    static List<Level> of(Policy policy) {
        return List.of(
                new Level(Tier.HOST, policy.hostHighMark(), policy.hostLowMark(), policy.copyToDisk() ? Tier.DISK : Tier.UNKNOWN),
                new Level(Tier.DISK, policy.diskHighMark(), policy.diskLowMark(), Tier.UNKNOWN));
    }

    /** Whether so much stands that relief begins. */
    boolean isHigh(TierRow row) {
        return highMark > 0 && Policies.reaches(standing(row), highMark, row.capacityBlocks());
    }

    /** Whether so little stands that relief may end. */
    boolean isLow(TierRow row) {
        return highMark == 0 || !Policies.reaches(standing(row), lowMark, row.capacityBlocks());
    }

    /** Blocks that must go until it is low, count. */
    long excess(TierRow row) {
        return highMark == 0 ? 0 : Policies.excess(standing(row), lowMark, row.capacityBlocks());
    }

    private static long standing(TierRow row) {
        return row.usedBlocks() - row.leavingBlocks();
    }
}
