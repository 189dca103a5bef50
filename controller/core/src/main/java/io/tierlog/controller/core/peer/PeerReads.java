/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.peer;

import io.tierlog.controller.core.decide.Checks;
import io.tierlog.controller.core.decide.NodeContext;
import io.tierlog.controller.core.decide.Quotas;
import io.tierlog.controller.core.operation.Operations;
import io.tierlog.controller.core.policy.Groups;
import io.tierlog.controller.core.policy.Policies;
import io.tierlog.controller.core.promotion.Promotions;
import io.tierlog.controller.core.state.Blocks;
import io.tierlog.controller.core.state.OperationRows;
import io.tierlog.controller.core.state.PlacementRows;
import io.tierlog.controller.core.state.PromotionRows;
import io.tierlog.controller.core.table.Namespaces;
import io.tierlog.controller.core.table.RowKey;
import io.tierlog.controller.core.table.Rows;
import io.tierlog.schemas.Block;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.LeaseEndReason;
import io.tierlog.schemas.OperationKind;
import io.tierlog.schemas.PagedBlock;
import io.tierlog.schemas.PeerPolicy;
import io.tierlog.schemas.PeerReadReason;
import io.tierlog.schemas.RefusalReason;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.command.GrantPeerRead;
import io.tierlog.schemas.command.PromoteBlocks;
import io.tierlog.schemas.command.RefusePeerRead;
import io.tierlog.schemas.command.ReleasePins;
import io.tierlog.schemas.decision.LeaseEnded;
import io.tierlog.schemas.decision.LeaseHeld;
import io.tierlog.schemas.decision.LeaseRequested;
import io.tierlog.schemas.decision.PeerReadClosed;
import io.tierlog.schemas.decision.PeerReadGranted;
import io.tierlog.schemas.decision.PeerReadRecalled;
import io.tierlog.schemas.decision.PeerReadRefused;
import io.tierlog.schemas.event.Event;
import io.tierlog.schemas.event.PeerReadCancelled;
import io.tierlog.schemas.event.PeerReadEnded;
import io.tierlog.schemas.event.PeerReadHeld;
import io.tierlog.schemas.event.PeerReadRequested;
import io.tierlog.schemas.state.LeaseRow;
import io.tierlog.schemas.state.LeaseState;
import io.tierlog.schemas.state.OperationRow;
import io.tierlog.schemas.state.PeerReadLeaseRow;
import io.tierlog.schemas.state.PlacementRow;
import io.tierlog.schemas.state.PlacementState;
import io.tierlog.schemas.state.PromotionsRow;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A node shares blocks for read with another one: under a peer read lease with the id of the other node's fetch, and a pin lease of the same name.
 *
 * <pre>
 *   requested --> GRANTED (lease REQUESTED) --> HELD by the agent --> CLOSED
 *     |              |  first a promotion, when some are on the disk only  ^
 *     |              +-----------------------------------------------------+   (promotion failed, time over, incarnation over)
 *     +--> REFUSED
 * </pre>
 *
 * <p>Each name is answered once: a repeated request gets no reply, neither a second grant nor a second refusal. Without state.
 */
public final class PeerReads {
    private PeerReads() {}

    public static void requested(NodeContext n, PeerReadRequested e) {
        String nameless = nameless(n, e, e.grant(), e.asker());
        // A grant with the name of one of this node's own leases would overwrite that lease, and leave its blocks pinned for ever.
        if (nameless == null && !e.grant().substring(0, Math.max(0, e.grant().lastIndexOf('@'))).equals("node/" + e.asker())) {
            nameless = "Invalid peer read id: must be the id of an operation of the requesting node";
        }
        if (nameless != null) {
            // The node that may read under that name sent no request, so no reply is sent.
            n.refuse(e, RefusalReason.OVER_LIMIT, nameless);
            return;
        }
        PeerReadLeaseRow known = n.tables().get(Rows.GRANTS, key(n, e.grant()));
        String broken = broken(n, e);
        // A lease of an ended incarnation ends with the cleanup of its rows: until then its name must not be given again.
        if (known != null && (known.incarnation() == n.row().incarnation() || n.lease(e.grant()) != null)) {
            n.refuse(e, RefusalReason.REPEATED, "Peer read " + e.grant() + " was answered before");
        } else if (broken != null) {
            refuse(n, e, PeerReadReason.OVER_LIMIT, broken);
        } else if (!n.row().alive()) {
            refuse(n, e, PeerReadReason.CANCELLED, "No agent is registered for this node now");
        } else {
            answer(n, e);
        }
    }

    /** Why no reply can be sent under that name; null when the request comes from the agent of that node, which is another node. */
    private static @Nullable String nameless(NodeContext n, Event e, String grant, String asker) {
        String broken = Checks.text(n.limits(), "peer read id", grant);
        if (broken == null) {
            broken = Checks.text(n.limits(), "node name", asker);
        }
        if (broken == null && (!e.envelope().sender().startsWith("agent/" + asker + "/") || asker.equals(n.name()))) {
            broken = "Invalid sender: must be the agent of the requesting node, which is another node";
        }
        return broken;
    }

    private static @Nullable String broken(NodeContext n, PeerReadRequested e) {
        String broken = e.blocks().isEmpty() ? "Invalid peer read: must be for 1 block or more" : null;
        for (int i = 1; broken == null && i < e.blocks().size(); i++) {
            broken = e.blocks().get(i).index() <= e.blocks().get(i - 1).index() ? "Invalid peer read: blocks must ascend by index" : null;
        }
        return broken == null ? Checks.blocks(n.limits(), e.namespace(), e.blocks()) : broken;
    }

    private static void answer(NodeContext n, PeerReadRequested e) {
        PeerPolicy policy = Policies.fetch(n.policy()).peers();
        PromotionsRow counts = PromotionRows.orNothing(n.row().promotions());
        Found found = new Found(n, e);
        if (!policy.enabled() || n.row().foreign()) {
            refuse(n, e, PeerReadReason.DISABLED, n.row().foreign() ? "The node has no agent" : "The policy disables peer reads");
        } else if (n.isDraining()) {
            refuse(n, e, PeerReadReason.DRAINING, "The node drains");
        } else if (e.blocks().size() > policy.leasedBlocks()) {
            refuse(n, e, PeerReadReason.OVER_LIMIT, "More than " + policy.leasedBlocks() + " blocks, the most that a node leases to others");
        } else if (counts.reads() >= policy.reads() || counts.leasedBlocks() + e.blocks().size() > policy.leasedBlocks()) {
            refuse(n, e, PeerReadReason.BUSY, counts.reads() + " reads of " + counts.leasedBlocks() + " blocks are under way");
        } else if (found.moving > 0) {
            refuse(n, e, PeerReadReason.BUSY, found.moving + " of the blocks are on their way to the host or from it");
        } else if (!found.all()) {
            refuse(n, e, PeerReadReason.NOT_SERVING, "Of " + e.blocks().size() + " blocks " + found.paged.size() + " serve");
        } else if (!found.onDisk.isEmpty() && counts.operations() >= Promotions.policy(n).operations()) {
            refuse(n, e, PeerReadReason.BUSY, counts.operations() + " promotions are under way");
        } else if (freeFor(n, e) < found.onDisk.size()) {
            refuse(n, e, PeerReadReason.NO_ROOM, "The host has no space below its high marks for " + found.onDisk.size() + " blocks of the disk");
        } else {
            grant(n, e, found, policy.grantMs());
        }
    }

    /**
     * Blocks that may be promoted from the disk for a grant: as for a probe, no hotter block leaves for them, and none comes while promotions
     * pause.
     */
    private static long freeFor(NodeContext n, PeerReadRequested e) {
        long pausedUntilMs = PromotionRows.orNothing(n.row().promotions()).pausedUntilMs();
        if (pausedUntilMs > 0 && pausedUntilMs >= n.clock().logTimeMs()) {
            return 0;
        }
        String group = Groups.of(n.policy(), e.namespace());
        return Math.min(Promotions.free(n, group), Quotas.free(n, group, Tier.HOST));
    }

    /** Where the blocks are on this node. */
    private static final class Found {
        private final List<PagedBlock> paged = new ArrayList<>();
        private final List<PagedBlock> onDisk = new ArrayList<>();
        private final int asked;
        /** Blocks on their way to the host, or from it: a promotion of these would meet a placement that is already there. */
        private int moving;

        Found(NodeContext n, PeerReadRequested e) {
            Bytes namespace = Namespaces.digest(e.namespace());
            asked = e.blocks().size();
            for (Block block : e.blocks()) {
                PlacementRow host = n.placement(namespace, Tier.HOST, block.key());
                PlacementRow disk = n.placement(namespace, Tier.DISK, block.key());
                boolean here = host != null && host.index() == block.index();
                if (host != null && here && PlacementRows.isServed(host.state())) {
                    paged.add(new PagedBlock(block, host.page(), host.generation(), host.crc32c()));
                } else if (here || Promotions.isUnderWay(n, namespace, block.key())) {
                    moving++;
                } else if (host == null && disk != null && disk.state() == PlacementState.SERVING && disk.index() == block.index()) {
                    onDisk.add(new PagedBlock(block, -1, disk.generation(), disk.crc32c()));
                }
            }
        }

        boolean all() {
            return paged.size() + onDisk.size() == asked;
        }
    }

    private static void refuse(NodeContext n, PeerReadRequested e, PeerReadReason reason, String detail) {
        n.command(new RefusePeerRead(n.envelope(), n.nextHeader(), e.grant(), reason));
        n.fact(new PeerReadRefused(n.envelope(), e.grant(), e.asker(), reason, detail, n.commandSequence()));
    }

    private static void grant(NodeContext n, PeerReadRequested e, Found found, long grantMs) {
        long endMs = n.in(grantMs);
        if (found.onDisk.isEmpty()) {
            GrantPeerRead command = new GrantPeerRead(n.envelope(), n.nextHeader(), e.grant(), e.asker(), grantMs, e.namespace(), found.paged);
            granted(n, e, null, endMs);
            n.command(command);
            return;
        }
        Operations.Issued promotion = Operations.issue(n, OperationKind.PROMOTE, Tier.DISK,
                new Operations.Purpose(e.grant(), 0, e.namespace(), Bytes.EMPTY), Blocks.of(found.onDisk));
        // The pins of the promotion last, as those of any other promotion, until those of the grant are there.
        String lease = n.nextId();
        long leaseMs = n.policy().leaseMs();
        n.fact(new LeaseRequested(n.envelope(), lease, promotion.operation(), "", 0, n.in(leaseMs)));
        granted(n, e, promotion.operation(), endMs);
        n.command(new PromoteBlocks(
                n.envelope(), promotion.header(), promotion.operation(), lease, leaseMs, e.namespace(), found.onDisk));
    }

    private static void granted(NodeContext n, PeerReadRequested e, @Nullable String promotion, long endMs) {
        n.fact(new PeerReadGranted(n.envelope(), e.grant(), e.asker(), e.namespace(), e.blocks(), promotion, endMs, n.commandSequence()));
        // The agent's pins end by its own clock, which the log's time is behind: the lease waits for the agent's report, as an operation does.
        n.fact(new LeaseRequested(n.envelope(), e.grant(), "", "", 0, endMs + n.policy().operationTimeoutMs()));
    }

    /** A promotion has ended; when it was for a grant, the grant continues, or ends with it. */
    public static void promoted(NodeContext n, String operation, OperationRow promotion, List<PagedBlock> arrived) {
        String grant = promotion.request();
        PeerReadLeaseRow row = grant == null ? null : live(n, grant);
        if (grant == null || row == null || !operation.equals(row.promotion())) {
            return;
        }
        List<PagedBlock> blocks = serving(n, row, arrived);
        long leftMs = row.endMs() - n.clock().logTimeMs();
        if (blocks.size() < row.blocks().size() || leftMs <= 0) {
            n.fact(new LeaseEnded(n.envelope(), grant, LeaseEndReason.FETCH_FAILED));
            n.fact(new PeerReadClosed(n.envelope(), grant, PeerReadReason.PROMOTION_FAILED, 0, 0));
            n.command(new RefusePeerRead(n.envelope(), n.nextHeader(), grant, PeerReadReason.PROMOTION_FAILED));
        } else {
            n.command(new GrantPeerRead(n.envelope(), n.nextHeader(), grant, row.asker(), leftMs, row.namespace(), blocks));
        }
    }

    /** The blocks of a grant that serve on the host, including those that have just arrived there. */
    private static List<PagedBlock> serving(NodeContext n, PeerReadLeaseRow row, List<PagedBlock> arrived) {
        Map<Block, PagedBlock> here = new LinkedHashMap<>();
        arrived.forEach(block -> here.put(block.block(), block));
        Bytes namespace = Namespaces.digest(row.namespace());
        List<PagedBlock> blocks = new ArrayList<>(row.blocks().size());
        for (Block block : row.blocks()) {
            PagedBlock came = here.get(block);
            PlacementRow host = came != null ? null : n.placement(namespace, Tier.HOST, block.key());
            if (came != null) {
                blocks.add(came);
            } else if (host != null && PlacementRows.isServed(host.state())) {
                blocks.add(new PagedBlock(block, host.page(), host.generation(), host.crc32c()));
            }
        }
        return blocks;
    }

    /** The agent holds its pins; it releases those of an unrecorded grant, which came from a transaction that was undone. */
    public static void held(NodeContext n, PeerReadHeld e) {
        String broken = Checks.paged(n.limits(), e.namespace(), e.blocks());
        PeerReadLeaseRow row = live(n, e.grant());
        LeaseRow lease = n.lease(e.grant());
        List<Block> blocks = Blocks.of(e.blocks());
        if (broken != null) {
            n.refuse(e, RefusalReason.OVER_LIMIT, broken);
        } else if (row == null || lease == null || !row.namespace().equals(e.namespace())
                || !new LinkedHashSet<>(row.blocks()).equals(new LinkedHashSet<>(blocks))) {
            n.command(new ReleasePins(n.envelope(), n.nextHeader(), e.grant()));
            n.refuse(e, RefusalReason.OPERATION_UNKNOWN, "Peer read " + e.grant() + " of these blocks is not known");
        } else if (lease.state() != LeaseState.REQUESTED) {
            n.refuse(e, RefusalReason.REPEATED, "Peer read " + e.grant() + " is held already");
        } else {
            n.fact(new LeaseHeld(n.envelope(), e.grant(), e.namespace(), blocks));
        }
    }

    /** The reader cancels: the agent releases its pins and reports what it had sent; a grant whose promotion still runs is closed at once. */
    public static void cancelled(NodeContext n, PeerReadCancelled e) {
        String nameless = nameless(n, e, e.grant(), e.asker());
        PeerReadLeaseRow row = nameless != null ? null : live(n, e.grant());
        if (nameless != null) {
            n.refuse(e, RefusalReason.OVER_LIMIT, nameless);
        } else if (row == null || !row.asker().equals(e.asker())) {
            n.refuse(e, RefusalReason.OPERATION_ENDED, "Peer read " + e.grant() + " has ended, or was never granted");
        } else {
            n.command(new RefusePeerRead(n.envelope(), n.nextHeader(), e.grant(), PeerReadReason.CANCELLED));
            n.fact(new PeerReadRecalled(n.envelope(), e.grant(), n.commandSequence()));
            OperationRow promotion = row.promotion() == null ? null : n.operation(row.promotion());
            if (promotion != null && OperationRows.isUnfinished(promotion.state())) {
                n.fact(new LeaseEnded(n.envelope(), e.grant(), LeaseEndReason.READ_ENDED));
                n.fact(new PeerReadClosed(n.envelope(), e.grant(), PeerReadReason.CANCELLED, 0, 0));
            }
        }
    }

    /** The agent has released all pins; the blocks it has sent count as used. */
    public static void ended(NodeContext n, PeerReadEnded e) {
        PeerReadLeaseRow row = live(n, e.grant());
        if (row == null || n.lease(e.grant()) == null) {
            n.refuse(e, RefusalReason.OPERATION_ENDED, "Peer read " + e.grant() + " has ended, or was never granted");
        } else {
            List<Block> sent = new ArrayList<>(e.sent().size());
            e.sent().stream().distinct().filter(i -> i >= 0 && i < row.blocks().size()).forEach(i -> sent.add(row.blocks().get(i)));
            Promotions.sentToPeer(n, row.namespace(), sent);
            n.fact(new LeaseEnded(n.envelope(), e.grant(), LeaseEndReason.READ_ENDED));
            n.fact(new PeerReadClosed(n.envelope(), e.grant(), e.reason(), e.sentBlocks(), e.sentBytes()));
        }
    }

    /** The lease of a grant has ended without a report of the agent; does nothing for any other lease. */
    public static void leaseEnded(NodeContext n, String lease, PeerReadReason why) {
        PeerReadLeaseRow row = n.tables().get(Rows.GRANTS, key(n, lease));
        if (row != null && !row.blocks().isEmpty()) {
            n.fact(new PeerReadClosed(n.envelope(), lease, why, 0, 0));
        }
    }

    /** A grant of this incarnation that has not ended; null when there is none. */
    private static @Nullable PeerReadLeaseRow live(NodeContext n, String grant) {
        PeerReadLeaseRow row = n.tables().get(Rows.GRANTS, key(n, grant));
        return row != null && !row.blocks().isEmpty() && n.isCurrent(row.incarnation()) ? row : null;
    }

    private static RowKey.Text key(NodeContext n, String grant) {
        return new RowKey.Text(n.aggregate(), grant);
    }
}
