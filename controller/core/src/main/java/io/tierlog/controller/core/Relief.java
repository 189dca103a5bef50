/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core;

import io.tierlog.schemas.Bytes;
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
 * Water levels of a node's tiers. At the high mark relief begins, and what is coldest leaves until the level is below the low mark: it is
 * dropped, or first copied to the tier below, and dropped when the copies have ended. What is on its way out counts as gone, so one
 * crossing never takes twice; while copies run, more is taken at the high mark only. When nothing can leave, the next input or tick tries
 * again. Without state.
 */
final class Relief {
    private Relief() {}

    /** Begins, goes on with or ends relief; answers with the number of blocks it has sent away, at most {@code budget}. */
    static int decide(NodeDraft n, int budget) {
        return decide(n, budget, tier -> true, true);
    }

    /** The same; from tiers that are not among {@code sending} nothing leaves now, and nothing is copied unless {@code copying}. */
    static int decide(NodeDraft n, int budget, Predicate<Tier> sending, boolean copying) {
        int left = budget;
        for (Level level : Level.of(n.d.policy())) {
            left -= relieve(n, level, sending.test(level.tier()) ? left : 0, copying);
        }
        return budget - left;
    }

    private static int relieve(NodeDraft n, Level level, int budget, boolean copying) {
        TierRow tier = row(n, level.tier());
        if (tier == null || (!tier.inRelief() && !level.isHigh(tier))) {
            return 0;
        }
        long version = n.d.clock().policyVersion();
        if (!tier.inRelief()) {
            n.fact(new WaterLevelCrossed(n.envelope(), level.tier(), tier.usedBlocks(), tier.leavingBlocks(), tier.capacityBlocks(),
                    level.highMark(), version));
            n.d.evolve();
        }
        int sent = tier.copies() == 0 || level.isHigh(tier) ? send(n, level, tier, budget, copying) : 0;
        tier = row(n, level.tier());
        if (tier != null && tier.copies() == 0 && level.isLow(tier)) {
            n.fact(new WaterLevelRelieved(n.envelope(), level.tier(), tier.usedBlocks(), tier.leavingBlocks(), tier.capacityBlocks(),
                    level.lowMark(), version));
            n.d.evolve();
        }
        return sent;
    }

    /** Use of a tier that is there and can be full. */
    private static @Nullable TierRow row(NodeDraft n, Tier tier) {
        TierRow row = n.row().alive() ? n.tier(tier) : null;
        return row == null || row.capacityBlocks() == 0 ? null : row;
    }

    private static int send(NodeDraft n, Level level, TierRow tier, int budget, boolean copying) {
        int most = (int) Math.min(level.excess(tier), budget);
        int mostBatches = n.d.limits.dropsInFlight() - tier.drops() - tier.copies();
        if (most <= 0 || mostBatches <= 0) {
            return 0;
        }
        int sent = 0;
        for (Victims.Batch batch : Victims.pick(n, level, most, mostBatches, copying)) {
            sent += batch.blocks().size();
            issue(n, level.tier(), batch);
        }
        n.d.evolve();
        return sent;
    }

    private static void issue(NodeDraft n, Tier tier, Victims.Batch batch) {
        Operations.Issued issued = Operations.issue(n, batch.way().kind(), tier,
                new Operations.Purpose(null, 0, batch.namespace(), Bytes.EMPTY), Operations.blocks(batch.blocks()));
        if (batch.way().kind() == OperationKind.COPY) {
            n.d.command(new CopyBlocks(n.envelope(), issued.header(), issued.operation(), tier, batch.way().other(), batch.namespace(),
                    batch.blocks()));
        } else {
            n.d.command(new DropBlocks(n.envelope(), issued.header(), issued.operation(), tier, batch.namespace(), batch.blocks(),
                    batch.way().other()));
        }
    }
}
