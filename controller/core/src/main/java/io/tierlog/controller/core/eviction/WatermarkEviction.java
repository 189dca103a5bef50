/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.eviction;

import io.tierlog.controller.core.decide.NodeContext;
import io.tierlog.controller.core.decide.Quotas;
import io.tierlog.controller.core.operation.Operations;
import io.tierlog.controller.core.policy.Watermark;
import io.tierlog.controller.core.state.Blocks;
import io.tierlog.controller.core.state.Move;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.MoveCause;
import io.tierlog.schemas.OperationKind;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.command.CopyBlocks;
import io.tierlog.schemas.command.DropBlocks;
import io.tierlog.schemas.decision.WaterLevelCrossed;
import io.tierlog.schemas.decision.WaterLevelRelieved;
import io.tierlog.schemas.state.TierRow;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Watermarks of a node's tiers, and of what groups may have of them. At the high mark relief begins, and what is coldest leaves until the level
 * is below the low mark: it is dropped, or first copied to the tier below, and dropped when the copies have ended. What is on its way out counts
 * as gone, so one crossing never takes twice; while copies run, more is taken at the high mark only. When nothing can leave, the next input or
 * tick tries again. Without state.
 */
public final class WatermarkEviction {
    private WatermarkEviction() {}

    /** Begins, goes on with or ends relief; answers with the number of blocks it has sent away, at most {@code budget}. */
    public static int decide(NodeContext n, int budget) {
        return decide(n, budget, tier -> true, true);
    }

    /** The same; from tiers that are not among {@code sending} nothing leaves now, and nothing is copied unless {@code copying}. */
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

    /** Copies in flight after which something leaves the tier, count. */
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
                drop(n, level.tier(), batch, null);
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

    /** Issues one drop; {@code cause} is null for a watermark. */
    public static void drop(NodeContext n, Tier tier, EvictionPicker.Batch batch, @Nullable MoveCause cause) {
        Operations.Issued issued = Operations.issue(n, new Move(OperationKind.DROP, tier, Tier.UNKNOWN),
                new Operations.Purpose(null, 0, batch.namespace(), Bytes.EMPTY), Blocks.of(batch.blocks()), cause);
        n.command(new DropBlocks(n.envelope(), issued.header(), issued.operation(), tier, batch.namespace(), batch.blocks(),
                batch.way().other()));
    }
}
