/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.migration;

import io.tierlog.controller.core.decide.NodeContext;
import io.tierlog.controller.core.decide.Quotas;
import io.tierlog.controller.core.table.Namespaces;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.MigrationRefusal;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.state.PlacementRow;
import io.tierlog.schemas.state.TierRow;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Whether a block may be migrated, and why not: one reason each, the first that holds in this order.
 *
 * <pre>
 *   copies   NODE_UNKNOWN DRAINING TARGET_UNAVAILABLE
 *            not on the source:  TARGET_SERVING_EXISTS TARGET_WRITING_EXISTS SOURCE_NOT_SERVING
 *            on the source:      SOURCE_NOT_SERVING ALREADY_MIGRATING SOURCE_LEASED
 *            TARGET_SERVING_EXISTS TARGET_WRITING_EXISTS TARGET_UNAVAILABLE (the placement there is leaving)
 *            TOO_YOUNG OUT_OF_BUDGET, which the callers find
 *   marks    NODE_UNKNOWN DRAINING TARGET_UNKNOWN TARGET_UNAVAILABLE SOURCE_NOT_SERVING (on no tier of the node)
 *            OUT_OF_BUDGET (as many marks as a node may have), which the callers find
 * </pre>
 *
 * Without state.
 */
public final class Admission {
    private Admission() {}

    /** Why the block may not be copied, by an operator or a route; null when it may. */
    static @Nullable MigrationRefusal refusal(NodeContext n, String namespace, Bytes key, Tier source, Tier target) {
        MigrationRefusal ofNode = n.row().alive() && !n.row().foreign() ? null : MigrationRefusal.NODE_UNKNOWN;
        if (ofNode == null && n.isDraining()) {
            ofNode = MigrationRefusal.DRAINING;
        }
        return ofNode != null ? ofNode : ofBlock(n, namespace, key, source, target);
    }

    /** The refusal for the block alone, without the checks of the node. */
    static @Nullable MigrationRefusal ofBlock(NodeContext n, String namespace, Bytes key, Tier source, Tier target) {
        if (!isAvailable(n, target)) {
            return MigrationRefusal.TARGET_UNAVAILABLE;
        }
        Bytes digest = Namespaces.digest(namespace);
        PlacementRow row = n.placement(digest, source, key);
        MigrationRefusal there = there(n, digest, key, row, target);
        if (row == null) {
            return there != null ? there : MigrationRefusal.SOURCE_NOT_SERVING;
        }
        MigrationRefusal here = here(row);
        return here != null ? here : there;
    }

    private static @Nullable MigrationRefusal here(PlacementRow row) {
        return switch (row.state()) {
            case WRITING, ABSENT, UNKNOWN -> MigrationRefusal.SOURCE_NOT_SERVING;
            case COPYING, COPYING_KEEP -> MigrationRefusal.ALREADY_MIGRATING;
            case LEAVING -> MigrationRefusal.SOURCE_LEASED;
            case SERVING -> row.holds() > 0 ? MigrationRefusal.SOURCE_LEASED : null;
        };
    }

    private static @Nullable MigrationRefusal there(NodeContext n, Bytes namespace, Bytes key, @Nullable PlacementRow row, Tier target) {
        if (target == Tier.STORE) {
            return row != null && row.stored() ? MigrationRefusal.TARGET_SERVING_EXISTS : null;
        }
        PlacementRow other = n.placement(namespace, target, key);
        if (other == null) {
            return null;
        }
        return switch (other.state()) {
            case SERVING, COPYING, COPYING_KEEP -> MigrationRefusal.TARGET_SERVING_EXISTS;
            case WRITING -> MigrationRefusal.TARGET_WRITING_EXISTS;
            case LEAVING, ABSENT, UNKNOWN -> MigrationRefusal.TARGET_UNAVAILABLE;
        };
    }

    /** Why the block may not be marked for the target; null when it may. */
    static @Nullable MigrationRefusal ofMark(NodeContext n, String namespace, Bytes key, Tier target) {
        if (!n.row().alive() || n.row().foreign()) {
            return MigrationRefusal.NODE_UNKNOWN;
        }
        if (n.isDraining()) {
            return MigrationRefusal.DRAINING;
        }
        if (!Marks.targets(n, namespace).contains(target) || (target != Tier.STORE && n.tier(target) == null)) {
            return MigrationRefusal.TARGET_UNKNOWN;
        }
        if (!isAvailable(n, target)) {
            return MigrationRefusal.TARGET_UNAVAILABLE;
        }
        return isAnywhere(n, Namespaces.digest(namespace), key) ? null : MigrationRefusal.SOURCE_NOT_SERVING;
    }

    /** Whether blocks can be brought to the tier at all. */
    public static boolean isAvailable(NodeContext n, Tier target) {
        TierRow tier = n.tier(target);
        return target == Tier.STORE || (tier != null && Quotas.capacity(n, tier) > 0);
    }

    private static boolean isAnywhere(NodeContext n, Bytes namespace, Bytes key) {
        for (Tier tier : List.of(Tier.DEVICE, Tier.HOST, Tier.DISK)) {
            if (n.placement(namespace, tier, key) != null) {
                return true;
            }
        }
        return false;
    }

    /** Blocks that a further copy of the group on the route may have, within what the route and the node allow; 0 when none may begin. */
    static int free(NodeContext n, String group, Tier source, Tier target) {
        return n.isDraining() ? 0 : new Budget(n).free(group, source, target);
    }
}
