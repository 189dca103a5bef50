/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.writeback;

import io.tierlog.controller.core.decide.Checks;
import io.tierlog.controller.core.decide.NodeContext;
import io.tierlog.controller.core.operation.Operations;
import io.tierlog.controller.core.state.RequestStates;
import io.tierlog.controller.core.state.SealedReports;
import io.tierlog.controller.core.table.Namespaces;
import io.tierlog.schemas.Block;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.DevicePage;
import io.tierlog.schemas.PagedBlock;
import io.tierlog.schemas.RefusalReason;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.WritePolicy;
import io.tierlog.schemas.command.ReleaseRequest;
import io.tierlog.schemas.decision.BlocksPlaced;
import io.tierlog.schemas.decision.SealedNoted;
import io.tierlog.schemas.event.BlocksSealed;
import io.tierlog.schemas.event.RequestSubmitted;
import io.tierlog.schemas.state.OperationRow;
import io.tierlog.schemas.state.RequestRow;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * When sealed blocks are copied to the host, or to the targets of their marks: at once (WRITE_THROUGH), when they are sealed or used a second time
 * (WRITE_THROUGH_SELECTIVE), or at the end of their request (WRITE_BACK). A block that is on the host, on its way there or just leaving is not
 * written again. One decision issues one batch; the rest of a request's blocks waits for the end of that batch. Without state.
 */
public final class WriteBacks {
    private WriteBacks() {}

    public static void sealed(NodeContext n, BlocksSealed e) {
        String broken = Checks.paged(n.limits(), e.namespace(), e.blocks());
        if (broken != null) {
            n.refuse(e, RefusalReason.OVER_LIMIT, broken);
            return;
        }
        if (e.blocks().isEmpty() || n.refusesFull(e, e.blocks().size())) {
            return;
        }
        Bytes namespace = Namespaces.digest(e.namespace());
        WritePolicy policy = n.policy().writePolicy();
        List<PagedBlock> again = policy == WritePolicy.WRITE_THROUGH_SELECTIVE ? onDevice(n, namespace, e.blocks()) : List.of();
        RequestRow row = n.request(e.request());
        if (row == null || row.attempt() != e.attempt() || RequestStates.isEnd(row.state()) || !n.isCurrent(row.incarnation())) {
            // The bytes are where the agent reports them in any case.
            n.refuse(e, RefusalReason.REQUEST_UNKNOWN,
                    "Request " + e.request() + " attempt " + e.attempt() + " is not active");
        } else {
            n.fact(new SealedNoted(n.envelope(), e.request(), e.attempt(), e.namespace(), e.root(), e.blocks()));
            Operations.Purpose purpose = new Operations.Purpose(e.request(), e.attempt(), e.namespace(), e.root());
            switch (policy) {
                case WRITE_THROUGH -> new Writes(n, e.namespace()).withPrefixes(row.keepsPages()).add(e.blocks()).issue(purpose);
                case WRITE_THROUGH_SELECTIVE -> new Writes(n, e.namespace()).withPrefixes(row.keepsPages()).add(again).issue(purpose);
                case WRITE_BACK, UNKNOWN -> {}
            }
        }
        n.fact(new BlocksPlaced(n.envelope(), Tier.DEVICE, e.namespace(), e.blocks(), null, Tier.UNKNOWN, n.offset()));
    }

    private static List<PagedBlock> onDevice(NodeContext n, Bytes namespace, List<PagedBlock> blocks) {
        List<PagedBlock> known = new ArrayList<>();
        for (PagedBlock block : blocks) {
            if (n.placement(namespace, Tier.DEVICE, block.block().key()) != null) {
                known.add(block);
            }
        }
        return known;
    }

    /**
     * An attempt reuses blocks on the device that the host lacks, because a write-back has failed or the host has lost them: they count as sealed by
     * this attempt, so that its end writes them back.
     */
    public static void reused(NodeContext n, RequestSubmitted e, List<Integer> lackingOnHost) {
        if (e.devicePages().isEmpty()) {
            return;
        }
        List<PagedBlock> blocks = new ArrayList<>(lackingOnHost.size());
        for (int i : lackingOnHost) {
            blocks.add(onDevice(e, i));
        }
        if (!blocks.isEmpty()) {
            n.fact(new SealedNoted(n.envelope(), e.request(), e.attempt(), e.namespace(), e.keys().getFirst(), blocks));
        }
    }

    /** A block in the page that the engine keeps for this attempt: the block may be in other pages too, which the engine may reuse. */
    private static PagedBlock onDevice(RequestSubmitted e, int index) {
        Block block = new Block(index, e.keys().get(index), index == 0 ? Bytes.EMPTY : e.keys().get(index - 1));
        DevicePage page = e.devicePages().get(index);
        return new PagedBlock(block, page.page(), page.generation(), 0);
    }

    /** A second use on the device counts as much as a second seal; {@code fetched} blocks of the prompt are fetched by the same decision. */
    public static void used(NodeContext n, RequestSubmitted e, int fetched) {
        if (n.policy().writePolicy() != WritePolicy.WRITE_THROUGH_SELECTIVE || e.devicePages().isEmpty()) {
            return;
        }
        List<PagedBlock> found = new ArrayList<>(e.deviceBlocks());
        for (int i = 0; i < e.deviceBlocks(); i++) {
            found.add(onDevice(e, i));
        }
        Operations.Purpose purpose = new Operations.Purpose(e.request(), e.attempt(), e.namespace(), e.keys().getFirst());
        new Writes(n, e.namespace()).withPrefixes(true).beside(fetched).add(found).issue(purpose);
    }

    /** A request has ended in good order: under WRITE_BACK, or where its engine drains, its blocks are due now. */
    public static void finished(NodeContext n, String request, RequestRow row) {
        if (!isDue(n, row) || !row.tail() || !next(n, request, row, Follows.NOTHING)) {
            n.command(new ReleaseRequest(n.envelope(), n.nextHeader(), request, row.attempt()));
        }
    }

    /** Whether all that an attempt has sealed is to be saved: not what was used once under WRITE_THROUGH_SELECTIVE, unless its engine goes away. */
    private static boolean isDue(NodeContext n, RequestRow row) {
        return n.policy().writePolicy() != WritePolicy.WRITE_THROUGH_SELECTIVE || n.isDraining(row.instance());
    }

    /**
     * What a batch follows.
     *
     * @param beside blocks that this decision records on the host
     * @param failed whether a block of it did not arrive
     */
    private record Follows(int beside, boolean failed) {
        static final Follows NOTHING = new Follows(0, false);
    }

    /** A batch has ended: the next one of the same attempt follows, if there is one. Of a batch that is not {@code whole}, nothing is tried again. */
    public static void batchEnded(NodeContext n, OperationRow operation, List<PagedBlock> arrived, boolean whole) {
        String request = operation.request();
        RequestRow row = request == null ? null : n.request(request);
        if (request != null && row != null && isDue(n, row) && row.tail() && row.attempt() == operation.attempt()
                && n.isCurrent(row.incarnation()) && RequestStates.isEnd(row.state())
                && !next(n, request, row, new Follows(unforeseen(n, operation, arrived), !whole))) {
            n.command(new ReleaseRequest(n.envelope(), n.nextHeader(), request, row.attempt()));
        }
    }

    /** Blocks that came to the host after their reserved space was released: this decision records them, and they count from then on. */
    private static int unforeseen(NodeContext n, OperationRow operation, List<PagedBlock> arrived) {
        Bytes namespace = Namespaces.digest(operation.namespace());
        int count = 0;
        for (PagedBlock block : operation.to() == Tier.HOST ? arrived : List.<PagedBlock>of()) {
            count += n.placement(namespace, Tier.HOST, block.block().key()) == null ? 1 : 0;
        }
        return count;
    }

    /** Issues the next batch of an attempt, along with blocks that other operations bring; false when nothing is left to write. */
    private static boolean next(NodeContext n, String request, RequestRow row, Follows batch) {
        Writes writes = null;
        Operations.Purpose purpose = null;
        for (SealedReports.Report sealed : SealedReports.of(n.tables(), n.aggregate(), request, row.attempt())) {
            String namespace = sealed.row().namespace();
            if (writes == null || purpose == null || (writes.isEmpty() && !purpose.namespace().equals(namespace))) {
                writes = issueNothing(writes, purpose, new Writes(n, namespace).withPrefixes(row.keepsPages()).beside(batch.beside())
                        .prefixMustBeThere(batch.failed()));
                purpose = new Operations.Purpose(request, row.attempt(), namespace, sealed.row().root());
            } else if (!purpose.namespace().equals(namespace)) {
                break;
            } else if (writes.isEmpty()) {
                purpose = new Operations.Purpose(request, row.attempt(), namespace, sealed.row().root());
            }
            writes.add(sealed.row().blocks());
            if (writes.isFull()) {
                break;
            }
        }
        return writes != null && writes.issue(purpose);
    }

    /** Blocks of one namespace need no write, those of the next one may: the marks of the former are cleared in any case. */
    private static Writes issueNothing(@Nullable Writes writes, Operations.@Nullable Purpose purpose, Writes next) {
        if (writes != null) {
            writes.issue(purpose);
        }
        return next;
    }
}
