/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.migration;

import io.tierlog.controller.core.api.MigrationLimits;
import io.tierlog.controller.core.decide.Checks;
import io.tierlog.controller.core.decide.NodeContext;
import io.tierlog.controller.core.policy.Groups;
import io.tierlog.controller.core.policy.Policies;
import io.tierlog.controller.core.state.MarkRows;
import io.tierlog.controller.core.table.Namespaces;
import io.tierlog.controller.core.table.RowKey;
import io.tierlog.controller.core.table.Rows;
import io.tierlog.controller.core.table.Scan;
import io.tierlog.schemas.Block;
import io.tierlog.schemas.BlockName;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.GroupPolicy;
import io.tierlog.schemas.MarkClearReason;
import io.tierlog.schemas.MigrationMethod;
import io.tierlog.schemas.MigrationPolicy;
import io.tierlog.schemas.MigrationRoute;
import io.tierlog.schemas.MoveCause;
import io.tierlog.schemas.RefusalReason;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.decision.MarkAdded;
import io.tierlog.schemas.decision.MarkCleared;
import io.tierlog.schemas.decision.MarkConsumed;
import io.tierlog.schemas.decision.MarkExpired;
import io.tierlog.schemas.decision.MigrationSubmitted;
import io.tierlog.schemas.event.MarksClearRequested;
import io.tierlog.schemas.state.MarkRow;
import io.tierlog.schemas.state.OperationRow;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * When a block is next written, it goes where its mark says. Marks belong to a node and outlive its agent's incarnations. For a group that has no
 * route with marks to a tier, no mark to that tier is set or read. Without state.
 */
public final class Marks {
    private Marks() {}

    /**
     * What marks are to say.
     *
     * @param source tier that the blocks are on, for people
     * @param target where they shall go
     * @param fallbackFrom COPY when the marks stand in for a copy; UNKNOWN otherwise
     * @param timeoutMs life in milliseconds; null for what policy says
     * @param move what led to them
     */
    record Wish(Tier source, Tier target, MigrationMethod fallbackFrom, @Nullable Long timeoutMs, MoveCause move) {}

    /** Tiers that blocks of a namespace may be marked for: where its group has routes with marks. */
    public static Set<Tier> targets(NodeContext n, String namespace) {
        Set<Tier> targets = EnumSet.noneOf(Tier.class);
        GroupPolicy group = Groups.policy(n.policy(), Groups.of(n.policy(), namespace));
        for (MigrationRoute route : group == null ? List.<MigrationRoute>of() : group.routes()) {
            if (route.mark()) {
                targets.add(route.target());
            }
        }
        return targets;
    }

    /** The mark of a block of a namespace that may have marks for {@code targets}; null when it has none that counts. */
    public static @Nullable MarkRow of(NodeContext n, Set<Tier> targets, Bytes namespace, Bytes key) {
        MarkRow row = targets.isEmpty() ? null : row(n, namespace, key);
        return row != null && row.endMs() > n.clock().logTimeMs() && targets.contains(row.target()) ? row : null;
    }

    private static @Nullable MarkRow row(NodeContext n, Bytes namespace, Bytes key) {
        return n.tables().get(Rows.MARKS, new RowKey.Mark(n.aggregate(), namespace, key));
    }

    /** Whether the block has a mark, also one that counts no more. */
    static boolean isMarked(NodeContext n, BlockName block) {
        return row(n, Namespaces.digest(block.namespace()), block.key()) != null;
    }

    /** Marks blocks of one namespace, or refreshes their marks. */
    static void add(NodeContext n, Wish wish, String namespace, List<Bytes> keys) {
        MigrationPolicy policy = Policies.migration(n.policy());
        Long timeoutMs = wish.timeoutMs();
        long endMs = n.in(timeoutMs == null ? policy.markTimeoutMs() : timeoutMs);
        n.fact(new MigrationSubmitted(n.envelope(), MigrationMethod.MARK, wish.fallbackFrom(), null, wish.source(), wish.target(), namespace, keys,
                wish.move()));
        n.fact(new MarkAdded(n.envelope(), wish.target(), namespace, keys, wish.fallbackFrom(), endMs, policy.markClearing(), wish.move()));
    }

    /** Clears the marks of blocks that a copy has brought where the marks say; those that say something else stay. */
    static void copied(NodeContext n, Tier target, String namespace, List<Bytes> keys) {
        Set<Tier> targets = keys.isEmpty() ? Set.of() : targets(n, namespace);
        Bytes digest = Namespaces.digest(namespace);
        List<Bytes> cleared = new ArrayList<>();
        for (Bytes key : keys) {
            MarkRow mark = of(n, targets, digest, key);
            if (mark != null && mark.target() == target) {
                cleared.add(key);
            }
        }
        if (!cleared.isEmpty()) {
            n.fact(new MarkCleared(n.envelope(), target, namespace, cleared, MarkClearReason.COPIED));
        }
    }

    /** Blocks serve where an operation has written them by their marks. */
    static void written(NodeContext n, String operation, OperationRow row, List<Bytes> keys) {
        Bytes digest = Namespaces.digest(row.namespace());
        List<Bytes> consumed = new ArrayList<>();
        for (Bytes key : keys) {
            MarkRow mark = row(n, digest, key);
            if (mark != null && operation.equals(mark.operation()) && mark.target() == row.to() && mark.endMs() != MarkRows.OVER) {
                consumed.add(key);
            }
        }
        if (!consumed.isEmpty()) {
            n.fact(new MarkConsumed(n.envelope(), row.to(), row.namespace(), consumed, operation));
        }
    }

    /** COPY when the marks that an operation writes by stand in for copies; UNKNOWN otherwise. */
    static MigrationMethod fallbackFrom(NodeContext n, String operation, OperationRow row) {
        Bytes digest = Namespaces.digest(row.namespace());
        for (Block block : row.blocks()) {
            MarkRow mark = row(n, digest, block.key());
            if (mark != null && operation.equals(mark.operation())) {
                return mark.fallbackFrom();
            }
        }
        return MigrationMethod.UNKNOWN;
    }

    /** A timer of a mark is due; of a mark that was refreshed since, it says nothing. */
    public static void expired(NodeContext n, String id) {
        RowKey.Mark key = MarkRows.ofTimer(n.aggregate(), id);
        MarkRow row = n.tables().get(Rows.MARKS, key);
        if (row != null && row.endMs() <= n.clock().logTimeMs()) {
            n.fact(new MarkExpired(n.envelope(), row.target(), row.namespace(), key.block(), row.endMs()));
        }
    }

    /** An operator wants marks gone: the named ones; or all, so many of them at each request, and fewer only when none is left. */
    public static void clear(NodeContext n, MarksClearRequested e) {
        int most = MigrationLimits.DEFAULTS.marksPerClearing();
        String broken = Checks.text(n.limits(), "request name", e.request());
        if (broken != null || e.blocks().size() > MigrationLimits.DEFAULTS.names()) {
            n.refuse(e, RefusalReason.OVER_LIMIT,
                    broken != null
                            ? broken
                            : "Invalid request of " + e.blocks().size() + " blocks: must have at most " + MigrationLimits.DEFAULTS.names());
            return;
        }
        Map<Kind, List<Bytes>> cleared = e.blocks().isEmpty() ? all(n, most) : named(n, e.blocks());
        cleared.forEach((kind, keys) ->
                n.fact(new MarkCleared(n.envelope(), kind.target(), kind.namespace(), keys, MarkClearReason.OPERATOR)));
        if (cleared.isEmpty()) {
            n.refuse(e, RefusalReason.REPEATED, "None of these blocks is marked");
        }
    }

    /** Marks that are cleared by one fact. */
    private record Kind(String namespace, Tier target) {}

    private static Map<Kind, List<Bytes>> named(NodeContext n, List<BlockName> blocks) {
        Map<Kind, List<Bytes>> found = new LinkedHashMap<>();
        for (BlockName block : new LinkedHashSet<>(blocks)) {
            MarkRow row = row(n, Namespaces.digest(block.namespace()), block.key());
            if (row != null && row.endMs() != MarkRows.OVER) {
                found.computeIfAbsent(new Kind(row.namespace(), row.target()), k -> new ArrayList<>()).add(block.key());
            }
        }
        return found;
    }

    private static Map<Kind, List<Bytes>> all(NodeContext n, int most) {
        Map<Kind, List<Bytes>> found = new LinkedHashMap<>();
        int seen = 0;
        try (Scan<RowKey.Mark, MarkRow> scan = n.tables().range(Rows.MARKS, new RowKey.Mark(n.aggregate(), Namespaces.NONE, Bytes.EMPTY), null)) {
            while (seen < most && scan.next()) {
                MarkRow row = scan.value();
                // Those whose time is over are written by now, so there are no more of them than writes under way: they take no place.
                if (row.endMs() == MarkRows.OVER) {
                    continue;
                }
                seen++;
                found.computeIfAbsent(new Kind(row.namespace(), row.target()), k -> new ArrayList<>()).add(scan.key().block());
            }
        }
        return found;
    }
}
