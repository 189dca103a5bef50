/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.eviction;

import io.tierlog.controller.core.decide.NodeContext;
import io.tierlog.controller.core.decide.Quotas;
import io.tierlog.controller.core.operation.Operations;
import io.tierlog.controller.core.policy.Watermark;
import io.tierlog.controller.core.state.Blocks;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.OperationKind;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.command.CopyBlocks;
import io.tierlog.schemas.decision.WaterLevelCrossed;
import io.tierlog.schemas.decision.WaterLevelRelieved;
import io.tierlog.schemas.state.TierRow;
import java.util.function.Predicate;

/**
 * Eviction by the watermarks of a node's tiers, and of groups' quotas. At the high watermark eviction begins, and the coldest blocks leave until
 * usage is below the low watermark: a block is dropped, or first copied to the tier below, and dropped when the copy has ended. Leaving blocks
 * count as gone, so one crossing never evicts twice; while copies run, eviction goes on only at the high watermark. When no block can leave, the
 * next input or tick tries again. Without state.
 */
public final class WatermarkEviction {
    private WatermarkEviction() {}

    /** Starts, continues or ends watermark eviction; returns the number of blocks it evicts, at most {@code budget}. */
    public static int decide(NodeContext n, int budget) {
        return decide(n, budget, tier -> true, true);
    }

    /** Evicts as above; blocks leave only tiers that match {@code sending}, and are copied only if {@code copying}. */
    public static int decide(NodeContext n, int budget, Predicate<Tier> sending, boolean copying) {
        int left = budget;
        for (Watermark level : Watermark.of(n.policy())) {
            left -= relieve(n, level, sending.test(level.tier()) ? left : 0, copying);
        }
        return budget - left;
    }

    private static int relieve(NodeContext n, Watermark level, int budget, boolean copying) {
        Watermark.Use use = Quotas.use(n, level);
        if (use == null || (!use.inRelief() && !level.isHigh(use))) {
            return 0;
        }
        long version = n.clock().policyVersion();
        if (!use.inRelief()) {
            n.fact(new WaterLevelCrossed(n.envelope(), level.tier(), level.group(), use.usedBlocks(), use.leavingBlocks(),
                    use.capacityBlocks(), level.highMark(), version));
            n.evolve();
        }
        int sent = copies(n, level) == 0 || level.isHigh(use) ? send(n, level, use, budget, copying) : 0;
        use = Quotas.use(n, level);
        if (use != null && copies(n, level) == 0 && level.isLow(use)) {
            n.fact(new WaterLevelRelieved(n.envelope(), level.tier(), level.group(), use.usedBlocks(), use.leavingBlocks(),
                    use.capacityBlocks(), level.lowMark(), version));
            n.evolve();
        }
        return sent;
    }

    /** Number of blocks whose COPY is in flight and that leave the tier afterwards. */
    private static int copies(NodeContext n, Watermark level) {
        TierRow tier = n.tier(level.tier());
        return tier == null ? 0 : tier.copies();
    }

    private static int send(NodeContext n, Watermark level, Watermark.Use use, int budget, boolean copying) {
        int most = (int) Math.min(level.excess(use), budget);
        TierRow tier = n.tier(level.tier());
        int mostBatches = tier == null ? 0 : n.limits().dropsInFlight() - tier.drops() - tier.copies();
        if (most <= 0 || mostBatches <= 0) {
            return 0;
        }
        int sent = 0;
        EvictionPicker.Most bounds = new EvictionPicker.Most(most, mostBatches, copying);
        for (EvictionPicker.Batch batch : EvictionPicker.pick(n, new EvictionRules.ForWatermark(n, level), level, bounds)) {
            sent += batch.blocks().size();
            if (batch.way().isCopy()) {
                copy(n, level.tier(), batch);
            } else {
                Operations.drop(n, level.tier(), batch.namespace(), batch.blocks(), batch.way().other(), null);
            }
        }
        if (sent > 0) {
            n.relieves(level.tier(), level.group());
        }
        n.evolve();
        return sent;
    }

    private static void copy(NodeContext n, Tier tier, EvictionPicker.Batch batch) {
        Operations.Issued issued = Operations.issue(n, OperationKind.COPY, tier,
                new Operations.Purpose(null, 0, batch.namespace(), Bytes.EMPTY), Blocks.of(batch.blocks()));
        n.command(new CopyBlocks(n.envelope(), issued.header(), issued.operation(), tier, batch.way().other(), batch.namespace(),
                batch.blocks(), null));
    }
}
