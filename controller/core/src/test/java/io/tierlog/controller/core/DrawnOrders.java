/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core;

import io.tierlog.schemas.EvictionOrder;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.TierBound;
import java.util.List;

/** Eviction orders of a {@link RandomHistory}: each in turn, tier by tier; LRU where a model follows the order block by block. Static. */
final class DrawnOrders {
    private DrawnOrders() {}

    static List<TierBound> of(boolean followed, int drawn) {
        EvictionOrder host = followed || drawn % 3 == 1 ? EvictionOrder.LRU : EvictionOrder.GAPS;
        EvictionOrder disk = followed || drawn % 2 == 1 ? EvictionOrder.LRU : EvictionOrder.GAPS;
        return List.of(new TierBound(Tier.HOST, 0, host), new TierBound(Tier.DISK, 0, disk));
    }
}
