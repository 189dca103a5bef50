/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core;

import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.MigrationRoute;
import io.tierlog.schemas.OperationKind;
import io.tierlog.schemas.Retention;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.state.PlacementState;
import io.tierlog.schemas.state.PlacementRow;
import io.tierlog.schemas.state.TierRow;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** How blocks may leave a tier: for a water level, or on a route. Confined to one choice of victims, whose copies it counts. */
sealed interface Exits {
    /**
     * A way out.
     *
     * @param kind COPY or DROP
     * @param other tier that a COPY goes to, or that a DROP relies on; UNKNOWN when it relies on none
     */
    record Way(OperationKind kind, Tier other) {
        static Way copy(Tier target) {
            return new Way(OperationKind.COPY, target);
        }

        static Way drop(Tier reliesOn) {
            return new Way(OperationKind.DROP, reliesOn);
        }

        boolean isCopy() {
            return kind == OperationKind.COPY;
        }
    }

    /** The first class of the order of leaving that nothing leaves from. */
    int endOfOrder();

    /**
     * The way out of a block; null when it stays for now. A block right above one that is being copied cannot be dropped before that one:
     * it is copied along, and what is below already says so.
     */
    @Nullable Way of(Bytes namespace, Bytes block, PlacementRow row, boolean aboveCopied);

    /**
     * For a water level. In this order: dropped, when the tier below holds it; copied there, when it has room and has not refused the block
     * before; dropped, when the store holds it. The last copy of a block stays, except on a host that has nothing below it to write to. A copy
     * below that leaves may do so because this one is here.
     *
     * <pre>
     *   below   room  refused  stored    leaves HOST, DISK below   leaves HOST, nothing below   leaves DISK
     *   serves   any    any      any     DROP, relies on DISK      DROP, relies on DISK         -
     *   moves    any    any      yes     DROP, relies on STORE     DROP, relies on STORE        -
     *   leaves   any    any      no      stays for now             stays for now                -
     *   moves    any    any      no      stays for now             DROP, relies on nothing      -
     *   lacks    yes    no       any     COPY to DISK              (no room)                    -
     *   lacks    else            yes     DROP, relies on STORE     DROP, relies on STORE        DROP, relies on STORE
     *   lacks    else            no      stays                     DROP, relies on nothing      stays
     * </pre>
     */
    final class OfLevel implements Exits {
        private final NodeDraft n;
        private final boolean disk;
        private final boolean copies;
        private final boolean keepsLast;
        private long room;
        /** What is left of each group's quota on the tier below. */
        private final Map<String, Long> groupRooms = new LinkedHashMap<>();

        OfLevel(NodeDraft n, Level level) {
            this.n = n;
            TierRow below = level.tier() == Tier.HOST ? n.tier(Tier.DISK) : null;
            disk = below != null;
            copies = below != null && level.below() == Tier.DISK && Quotas.capacity(n, below) > 0;
            room = below != null && copies ? Quotas.capacity(n, below) - below.usedBlocks() : 0;
            keepsLast = copies || level.tier() != Tier.HOST;
        }

        @Override
        public int endOfOrder() {
            return !keepsLast ? RowKey.Order.REFUSED + 1 : copies ? RowKey.Order.REFUSED : RowKey.Order.LAST;
        }

        @Override
        public @Nullable Way of(Bytes namespace, Bytes block, PlacementRow row, boolean aboveCopied) {
            PlacementRow below = disk ? n.placement(namespace, Tier.DISK, block) : null;
            PlacementState there = below == null ? PlacementState.ABSENT : below.state();
            if (there == PlacementState.SERVING) {
                return aboveCopied ? Way.copy(Tier.DISK) : Way.drop(Tier.DISK);
            }
            if (below == null && !row.refused() && takes(row.group())) {
                return Way.copy(Tier.DISK);
            }
            boolean stays = keepsLast || there == PlacementState.LEAVING;
            if (aboveCopied || (stays && !row.stored())) {
                return null;
            }
            return Way.drop(row.stored() ? Tier.STORE : Tier.UNKNOWN);
        }

        /** Whether the tier below takes one more block, of that group: room there is, and the group's quota is kept whichever level it leaves for. */
        private boolean takes(String group) {
            long left = room <= 0 ? 0 : Math.min(room, groupRooms.computeIfAbsent(group, any -> Quotas.room(n, group, Tier.DISK)));
            if (left > 0) {
                room--;
                groupRooms.merge(group, -1L, Long::sum);
            }
            return left > 0;
        }
    }

    /**
     * For a route.
     *
     * <pre>
     *   target   room  refused    DELETE_SOURCE              KEEP_BOTH
     *   serves    any    any      DROP, relies on target     stays
     *   moves     any    any      stays                      stays
     *   lacks     yes    no       COPY to target             COPY to target
     *   lacks     else            stays                      stays
     * </pre>
     */
    final class OfRoute implements Exits {
        private final NodeDraft n;
        private final Tier target;
        private final boolean leaves;
        private long room;

        OfRoute(NodeDraft n, String group, MigrationRoute route) {
            this.n = n;
            target = route.target();
            leaves = route.retention() == Retention.DELETE_SOURCE;
            TierRow below = n.tier(target);
            room = target == Tier.STORE ? Long.MAX_VALUE
                    : below == null ? 0 : Math.min(Quotas.capacity(n, below) - below.usedBlocks(), Quotas.room(n, group, target));
        }

        @Override
        public int endOfOrder() {
            return RowKey.Order.REFUSED;
        }

        @Override
        public @Nullable Way of(Bytes namespace, Bytes block, PlacementRow row, boolean aboveCopied) {
            PlacementRow there = target == Tier.STORE ? null : n.placement(namespace, target, block);
            boolean serves = target == Tier.STORE ? row.stored() : there != null && there.state() == PlacementState.SERVING;
            if (serves) {
                return !leaves ? null : aboveCopied ? Way.copy(target) : Way.drop(target);
            }
            if (there != null || room <= 0 || row.refused()) {
                return null;
            }
            room--;
            return Way.copy(target);
        }
    }
}
