/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core;

import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.OperationKind;
import io.tierlog.schemas.Policy;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.command.DropBlocks;
import io.tierlog.schemas.decision.WaterLevelCrossed;
import io.tierlog.schemas.decision.WaterLevelRelieved;
import io.tierlog.schemas.state.TierRow;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Water level of the host tier. At the high mark relief begins, and what is coldest is dropped until the level is below the low mark. What
 * is on its way out counts as gone, so one crossing never drops twice. When nothing can leave, the next input or tick tries again. Without
 * state.
 */
final class Relief {
    private Relief() {}

    /** Begins, goes on with or ends relief; answers with the number of blocks it has dropped, at most {@code budget}. */
    static int decide(NodeDraft n, int budget) {
        TierRow host = host(n);
        if (host == null) {
            return 0;
        }
        Policy policy = n.d.policy();
        long version = n.d.clock().policyVersion();
        if (!host.inRelief()) {
            if (!Policies.reaches(standing(host), policy.hostHighMark(), host.capacityBlocks())) {
                return 0;
            }
            n.fact(new WaterLevelCrossed(n.envelope(), Tier.HOST, host.usedBlocks(), host.leavingBlocks(), host.capacityBlocks(),
                    policy.hostHighMark(), version));
            n.d.evolve();
        }
        int dropped = drop(n, budget);
        host = host(n);
        if (host != null && !Policies.reaches(standing(host), policy.hostLowMark(), host.capacityBlocks())) {
            n.fact(new WaterLevelRelieved(n.envelope(), Tier.HOST, host.usedBlocks(), host.leavingBlocks(), host.capacityBlocks(),
                    policy.hostLowMark(), version));
            n.d.evolve();
        }
        return dropped;
    }

    private static @Nullable TierRow host(NodeDraft n) {
        TierRow host = n.row().alive() ? n.tier(Tier.HOST) : null;
        return host == null || host.capacityBlocks() == 0 ? null : host;
    }

    private static long standing(TierRow tier) {
        return tier.usedBlocks() - tier.leavingBlocks();
    }

    private static int drop(NodeDraft n, int budget) {
        Policy policy = n.d.policy();
        int dropped = 0;
        while (true) {
            TierRow host = host(n);
            if (host == null || host.drops() >= n.d.limits.dropsInFlight()) {
                return dropped;
            }
            long excess = Policies.excess(standing(host), policy.hostLowMark(), host.capacityBlocks());
            int most = (int) Math.min(Math.min(excess, budget - dropped), policy.reliefBatchBlocks());
            int mostBatches = n.d.limits.dropsInFlight() - host.drops();
            List<Victims.Batch> batches = most <= 0 ? List.of() : Victims.pick(n, Tier.HOST, most, mostBatches);
            if (batches.isEmpty()) {
                return dropped;
            }
            for (Victims.Batch batch : batches) {
                dropped += batch.blocks().size();
                Operations.Issued issued = Operations.issue(n, OperationKind.DROP, Tier.HOST,
                        new Operations.Purpose(null, 0, batch.namespace(), Bytes.EMPTY), Operations.blocks(batch.blocks()));
                n.d.command(new DropBlocks(n.envelope(), issued.header(), issued.operation(), Tier.HOST, batch.namespace(), batch.blocks(),
                        batch.stored() ? Tier.STORE : Tier.UNKNOWN));
            }
            n.d.evolve();
        }
    }
}
