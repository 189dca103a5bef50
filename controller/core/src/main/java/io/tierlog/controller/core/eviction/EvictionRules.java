/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.eviction;

import io.tierlog.controller.core.decide.NodeContext;
import io.tierlog.controller.core.decide.Quotas;
import io.tierlog.controller.core.policy.Watermark;
import io.tierlog.controller.core.table.RowKey;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.MigrationRoute;
import io.tierlog.schemas.Retention;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.state.PlacementRow;
import io.tierlog.schemas.state.PlacementState;
import io.tierlog.schemas.state.TierRow;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** How blocks may leave a tier: for a watermark, or on a route. Confined to one choice of eviction candidates, whose COPY operations it counts. */
public sealed interface EvictionRules {
    /** The first class of the eviction order that nothing leaves from. */
    int endOfOrder();

    /**
     * The eviction action for a block; null when the block stays for now. A block right above one that is being copied cannot be dropped before
     * that one: it is copied along, and the tier below is already recorded as its target.
     */
    @Nullable EvictionAction of(Bytes namespace, Bytes block, PlacementRow row, boolean aboveCopied);

    /**
     * For a watermark. The rules apply in this order: drop the block when the tier below holds it; copy it there, when that tier has space and has
     * not refused the block before; drop it when the store holds it. The last copy of a block stays, except on a host that has no tier below to
     * write to. A copy below that is leaving may leave only because this one is here.
     *
     * <pre>
     *   below   space  refused  stored   leaves HOST, DISK below   leaves HOST, nothing below   leaves DISK
     *   serves   any    any      any     DROP, relies on DISK      DROP, relies on DISK         -
     *   moves    any    any      yes     DROP, relies on STORE     DROP, relies on STORE        -
     *   leaves   any    any      no      stays for now             stays for now                -
     *   moves    any    any      no      stays for now             DROP, relies on nothing      -
     *   lacks    yes    no       any     COPY to DISK              (no space)                   -
     *   lacks    else            yes     DROP, relies on STORE     DROP, relies on STORE        DROP, relies on STORE
     *   lacks    else            no      stays                     DROP, relies on nothing      stays
     * </pre>
     */
    final class ForWatermark implements EvictionRules {
        private final NodeContext n;
        private final boolean disk;
        private final boolean copies;
        private final boolean keepsLast;
        private long free;
        /** What is left of each group's quota on the tier below. */
        private final Map<String, Long> freeByGroup = new LinkedHashMap<>();

        public ForWatermark(NodeContext n, Watermark level) {
            this.n = n;
            TierRow below = level.tier() == Tier.HOST ? n.tier(Tier.DISK) : null;
            disk = below != null;
            copies = below != null && level.below() == Tier.DISK && Quotas.capacity(n, below) > 0;
            free = below != null && copies ? Quotas.capacity(n, below) - below.usedBlocks() : 0;
            keepsLast = copies || level.tier() != Tier.HOST;
        }

        @Override
        public int endOfOrder() {
            return !keepsLast ? RowKey.Order.REJECTED + 1 : copies ? RowKey.Order.REJECTED : RowKey.Order.LAST;
        }

        @Override
        public @Nullable EvictionAction of(Bytes namespace, Bytes block, PlacementRow row, boolean aboveCopied) {
            PlacementRow below = disk ? n.placement(namespace, Tier.DISK, block) : null;
            PlacementState there = below == null ? PlacementState.ABSENT : below.state();
            if (there == PlacementState.SERVING) {
                return aboveCopied ? EvictionAction.copy(Tier.DISK) : EvictionAction.drop(Tier.DISK);
            }
            if (below == null && !row.refused() && takes(row.group())) {
                return EvictionAction.copy(Tier.DISK);
            }
            boolean stays = keepsLast || there == PlacementState.LEAVING;
            if (aboveCopied || (stays && !row.stored())) {
                return null;
            }
            return EvictionAction.drop(row.stored() ? Tier.STORE : Tier.UNKNOWN);
        }

        /**
         * Whether the tier below takes one more block of that group: it has space, and the group's quota is kept whichever watermark causes the
         * eviction.
         */
        private boolean takes(String group) {
            long left = free <= 0 ? 0 : Math.min(free, freeByGroup.computeIfAbsent(group, any -> Quotas.free(n, group, Tier.DISK)));
            if (left > 0) {
                free--;
                freeByGroup.merge(group, -1L, Long::sum);
            }
            return left > 0;
        }
    }

    /**
     * For a route.
     *
     * <pre>
     *   target   space  refused   DELETE_SOURCE              KEEP_BOTH
     *   serves    any    any      DROP, relies on target     stays
     *   moves     any    any      stays                      stays
     *   lacks     yes    no       COPY to target             COPY to target
     *   lacks     else            stays                      stays
     * </pre>
     */
    final class ForRoute implements EvictionRules {
        private final NodeContext n;
        private final Tier target;
        private final boolean leaves;
        private long free;

        public ForRoute(NodeContext n, String group, MigrationRoute route) {
            this.n = n;
            target = route.target();
            leaves = route.retention() == Retention.DELETE_SOURCE;
            TierRow below = n.tier(target);
            free = target == Tier.STORE ? Long.MAX_VALUE
                    : below == null ? 0 : Math.min(Quotas.capacity(n, below) - below.usedBlocks(), Quotas.free(n, group, target));
        }

        @Override
        public int endOfOrder() {
            return RowKey.Order.REJECTED;
        }

        @Override
        public @Nullable EvictionAction of(Bytes namespace, Bytes block, PlacementRow row, boolean aboveCopied) {
            PlacementRow there = target == Tier.STORE ? null : n.placement(namespace, target, block);
            boolean serves = target == Tier.STORE ? row.stored() : there != null && there.state() == PlacementState.SERVING;
            if (serves) {
                return !leaves ? null : aboveCopied ? EvictionAction.copy(target) : EvictionAction.drop(target);
            }
            if (there != null || free <= 0 || row.refused()) {
                return null;
            }
            free--;
            return EvictionAction.copy(target);
        }
    }

    /**
     * For a shard of the store: an object goes once it was not used for a while.
     *
     * @param nowMs log time
     * @param keepMs time after its last use in which an object stays
     */
    record ForStore(long nowMs, long keepMs) implements EvictionRules {
        @Override
        public int endOfOrder() {
            return RowKey.Order.END;
        }

        @Override
        public @Nullable EvictionAction of(Bytes namespace, Bytes block, PlacementRow row, boolean aboveCopied) {
            return nowMs - row.usedMs() < keepMs ? null : EvictionAction.drop(Tier.UNKNOWN);
        }
    }
}
