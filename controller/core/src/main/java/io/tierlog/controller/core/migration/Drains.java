/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.migration;

import io.tierlog.controller.core.api.MigrationLimits;
import io.tierlog.controller.core.decide.Checks;
import io.tierlog.controller.core.decide.NodeContext;
import io.tierlog.controller.core.policy.Groups;
import io.tierlog.controller.core.state.PlacementRows;
import io.tierlog.controller.core.state.ShareRows;
import io.tierlog.controller.core.table.KeyWriter;
import io.tierlog.controller.core.table.Namespaces;
import io.tierlog.controller.core.table.RowKey;
import io.tierlog.controller.core.table.Rows;
import io.tierlog.controller.core.table.Scan;
import io.tierlog.schemas.Block;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.DrainEnd;
import io.tierlog.schemas.MoveCause;
import io.tierlog.schemas.MoveTrigger;
import io.tierlog.schemas.PagedBlock;
import io.tierlog.schemas.RefusalReason;
import io.tierlog.schemas.Retention;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.decision.BlocksUnconfirmed;
import io.tierlog.schemas.decision.DrainAdvanced;
import io.tierlog.schemas.decision.DrainChanged;
import io.tierlog.schemas.decision.NodeDrained;
import io.tierlog.schemas.event.NodeDrainRequested;
import io.tierlog.schemas.state.EngineRow;
import io.tierlog.schemas.state.PlacementRow;
import io.tierlog.schemas.state.PlacementState;
import io.tierlog.schemas.state.SharesRow;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A draining node fetches nothing and takes part in no migration. Blocks that only this node holds are copied to the store, step by step and within
 * the budgets. Its engines go on, and so do write-backs and watermark eviction. The drain scans all placements, pass after pass, until a pass meets
 * none that is being saved; the first pass also tries blocks that another tier has refused. It relies on no earlier record of what the store has: the
 * first pass has those blocks written again too, which moves no byte where the store still has them. When its time is over, a last pass counts what
 * is left, whatever is still under way, and the drain ends. Confined to one step.
 *
 * <p>Placements on the device alone belong to an engine instance. What it has saved belongs to its group and serves every request. So for a
 * draining instance fetches stop, what its requests have computed is saved when they end, whatever the write policy, and no placement on another
 * tier moves.
 */
public final class Drains {
    /** The pass of a drain whose time is over. */
    private static final int LAST_PASS = -1;

    private final NodeContext n;
    private final int rows;
    private final Budget budget;
    private final int pass;
    private final List<PagedBlock> batch = new ArrayList<>();
    /** Blocks whose copies in the store the first pass has confirmed again, by namespace. */
    private final Map<Bytes, List<Block>> doubted = new LinkedHashMap<>();
    private RowKey.@Nullable Placement batchOf;
    private int batchLimit;
    private long left;
    private long saving;
    private int issued;

    private Drains(NodeContext n, SharesRow shares, int rows) {
        this.n = n;
        this.rows = rows;
        this.budget = new Budget(n);
        this.pass = shares.drainPass();
        this.left = shares.drainLeft();
        this.saving = shares.drainSaving();
    }

    public static void requested(NodeContext n, NodeDrainRequested e) {
        String broken = Checks.text(n.limits(), "request name", e.request());
        SharesRow shares = ShareRows.orNothing(n.row().shares());
        if (broken != null) {
            n.refuse(e, RefusalReason.OVER_LIMIT, broken);
        } else if (e.request().equals(shares.drainRequest())) {
            n.refuse(e, RefusalReason.REPEATED, "Request " + e.request() + " was done before");
        } else if (e.instance() != null && e.drain()) {
            drainInstance(n, e, e.instance(), shares.drainingInstances());
        } else {
            n.fact(new DrainChanged(n.envelope(), e.request(), e.drain(), e.instance()));
        }
    }

    /**
     * The instance must be registered, so that a mistyped name is refused; once it drains, it drains until the request is withdrawn, even after it
     * has gone.
     */
    private static void drainInstance(NodeContext n, NodeDrainRequested e, String instance, List<String> draining) {
        boolean attached = n.row().engines().stream().anyMatch(engine -> engine.instance().equals(instance));
        if (!attached && !draining.contains(instance)) {
            n.refuse(e, RefusalReason.MIGRATION_INVALID, "No engine instance " + instance + " is attached to the node: there are "
                    + n.row().engines().stream().map(EngineRow::instance).toList());
        } else if (!draining.contains(instance) && draining.size() >= n.limits().enginesPerNode()) {
            n.refuse(e, RefusalReason.OVER_LIMIT,
                    "At most " + n.limits().enginesPerNode() + " engine instances of a node drain: let one that has gone serve again");
        } else {
            n.fact(new DrainChanged(n.envelope(), e.request(), true, instance));
        }
    }

    /** Continues to save blocks that only a draining node has, checking at most {@code budget} placements; returns how many it has checked. */
    public static int decide(NodeContext n, int budget) {
        SharesRow shares = ShareRows.orNothing(n.row().shares());
        if (!shares.draining() || shares.drained() || !n.row().alive() || budget <= 0) {
            return 0;
        }
        int seen = new Drains(n, shares, budget).step(shares);
        n.evolve();
        return seen;
    }

    private boolean isTimeOver(SharesRow shares) {
        return shares.drainSinceMs() != 0 && n.clock().logTimeMs() - shares.drainSinceMs() >= MigrationLimits.DEFAULTS.drainMs();
    }

    private int step(SharesRow shares) {
        if (pass != LAST_PASS && isTimeOver(shares)) {
            n.fact(new DrainAdvanced(n.envelope(), LAST_PASS, Bytes.EMPTY, 0, 0));
            return 0;
        }
        RowKey.Placement from = shares.drainCursor().isEmpty()
                ? new RowKey.Placement(n.aggregate(), Namespaces.NONE, Tier.UNKNOWN, Bytes.EMPTY)
                : Rows.PLACEMENTS.decodeKey(shares.drainCursor().unshared());
        RowKey.Placement next = null;
        int seen = 0;
        try (Scan<RowKey.Placement, PlacementRow> scan = n.tables().range(Rows.PLACEMENTS, from, null)) {
            while (next == null && scan.next()) {
                if (seen == rows || !look(scan.key(), scan.value())) {
                    next = scan.key();
                } else {
                    seen++;
                }
            }
        }
        doubted.forEach((namespace, blocks) -> n.fact(new BlocksUnconfirmed(n.envelope(), n.namespace(namespace), blocks)));
        issue();
        if (next != null) {
            Bytes cursor = Bytes.wrapUnshared(Rows.PLACEMENTS.encodeKey(new KeyWriter(), next));
            if (issued > 0 || !cursor.equals(shares.drainCursor())) {
                n.fact(new DrainAdvanced(n.envelope(), pass, cursor, left, saving));
            }
        } else if (saving == 0 || pass == LAST_PASS) {
            n.fact(new NodeDrained(n.envelope(), left, pass == LAST_PASS ? DrainEnd.TIME_OVER : DrainEnd.DONE));
        } else {
            n.fact(new DrainAdvanced(n.envelope(), pass + 1, Bytes.EMPTY, 0, 0));
        }
        return seen;
    }

    /** Checks one placement; false when it is to be saved and the budgets are used up. */
    private boolean look(RowKey.Placement key, PlacementRow row) {
        boolean doubts = pass == 0 && row.stored();
        if (!PlacementRows.isOrdered(key.tier()) || !n.counts(row, key.tier()) || (row.stored() && !doubts) || isSavedFromHost(key)) {
            return true;
        }
        if (pass == LAST_PASS) {
            left++;
            return true;
        }
        if (row.state() != PlacementState.SERVING || row.holds() > 0) {
            saving++; // on its way somewhere, or in use: seen again in the next pass
            doubt(key, row, doubts);
            return true;
        }
        if (pass > 0 && row.refused()) {
            left++;
            return true;
        }
        if (!fits(key)) {
            return false;
        }
        doubt(key, row, doubts);
        batch.add(new PagedBlock(new Block(row.index(), key.block(), row.parent()), row.page(), row.generation(), row.crc32c()));
        saving++;
        return true;
    }

    private void doubt(RowKey.Placement key, PlacementRow row, boolean doubts) {
        if (doubts) {
            doubted.computeIfAbsent(key.namespace(), any -> new ArrayList<>()).add(new Block(row.index(), key.block(), row.parent()));
        }
    }

    /** A block that the host has too is saved from there. */
    private boolean isSavedFromHost(RowKey.Placement key) {
        PlacementRow host = key.tier() == Tier.DISK ? n.placement(key.namespace(), Tier.HOST, key.block()) : null;
        return host != null && PlacementRows.isServed(host.state());
    }

    /** Whether the copy joins the batch, or begins another one. */
    private boolean fits(RowKey.Placement key) {
        RowKey.Placement of = batchOf;
        boolean same = of != null && of.namespace().equals(key.namespace()) && of.tier() == key.tier();
        if (!same || batch.size() == batchLimit) {
            issue();
            batchOf = key;
            batchLimit = Math.min(n.policy().reliefBatchBlocks(), budget.free(group(key), key.tier(), Tier.STORE));
        }
        return batch.size() < batchLimit;
    }

    private String group(RowKey.Placement key) {
        return Groups.of(n.policy(), n.namespace(key.namespace()));
    }

    private void issue() {
        RowKey.Placement of = batchOf;
        if (of == null || batch.isEmpty()) {
            return;
        }
        batch.sort(Comparator.comparingInt((PagedBlock block) -> block.block().index()).reversed());
        MoveCause cause = new MoveCause(MoveTrigger.DRAIN, null, group(of), 0, 0, n.clock().policyVersion(), Retention.KEEP_BOTH);
        Migrations.copy(n, cause, of.tier(), Tier.STORE, n.namespace(of.namespace()), Bytes.EMPTY, List.copyOf(batch));
        budget.take(group(of), of.tier(), Tier.STORE, batch.size());
        issued += batch.size();
        batch.clear();
    }
}
