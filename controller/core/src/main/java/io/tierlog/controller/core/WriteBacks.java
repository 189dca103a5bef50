/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core;

import io.tierlog.schemas.Block;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.OperationKind;
import io.tierlog.schemas.PagedBlock;
import io.tierlog.schemas.RefusalReason;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.WritePolicy;
import io.tierlog.schemas.command.ReleaseRequest;
import io.tierlog.schemas.command.WriteBackBlocks;
import io.tierlog.schemas.decision.BlocksPlaced;
import io.tierlog.schemas.decision.SealedNoted;
import io.tierlog.schemas.event.BlocksSealed;
import io.tierlog.schemas.event.RequestSubmitted;
import io.tierlog.schemas.state.OperationRow;
import io.tierlog.schemas.state.PlacementRow;
import io.tierlog.schemas.state.RequestRow;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * When sealed blocks are copied to the host: at once (WRITE_THROUGH), when they are sealed or used a second time
 * (WRITE_THROUGH_SELECTIVE), or at the end of their request (WRITE_BACK). A block that is on the host, on its way there or just leaving is
 * not written again. One decision issues one batch; what is left of a request's blocks waits for the end of that batch. Without state.
 */
final class WriteBacks {
    private WriteBacks() {}

    static void sealed(NodeDraft n, BlocksSealed e) {
        String broken = Checks.paged(n.d.limits, e.namespace(), e.blocks());
        if (broken != null) {
            n.d.refuse(n.envelope(), e, RefusalReason.OVER_LIMIT, "This does not hold: " + broken);
            return;
        }
        if (e.blocks().isEmpty()) {
            return;
        }
        Bytes namespace = Namespaces.digest(e.namespace());
        WritePolicy policy = n.d.policy().writePolicy();
        List<PagedBlock> again = policy == WritePolicy.WRITE_THROUGH_SELECTIVE ? onDevice(n, namespace, e.blocks()) : List.of();
        RequestRow row = n.request(e.request());
        if (row == null || row.attempt() != e.attempt() || RequestStates.isEnd(row.state()) || !n.isOfThisLife(row.incarnation())) {
            // The bytes are where the agent says all the same.
            n.d.refuse(n.envelope(), e, RefusalReason.REQUEST_UNKNOWN,
                    "Nobody waits for the blocks of attempt " + e.attempt() + " of " + e.request());
        } else {
            n.fact(new SealedNoted(n.envelope(), e.request(), e.attempt(), e.namespace(), e.root(), e.blocks()));
            Operations.Purpose purpose = new Operations.Purpose(e.request(), e.attempt(), e.namespace(), e.root());
            switch (policy) {
                case WRITE_THROUGH -> issue(n, purpose, missing(n, namespace, e.blocks(), new LinkedHashSet<>()));
                case WRITE_THROUGH_SELECTIVE -> issue(n, purpose, missing(n, namespace, again, new LinkedHashSet<>()));
                case WRITE_BACK, UNKNOWN -> {}
            }
        }
        n.fact(new BlocksPlaced(n.envelope(), Tier.DEVICE, e.namespace(), e.blocks(), null, Tier.UNKNOWN, n.d.offset));
    }

    private static List<PagedBlock> onDevice(NodeDraft n, Bytes namespace, List<PagedBlock> blocks) {
        List<PagedBlock> known = new ArrayList<>();
        for (PagedBlock block : blocks) {
            if (n.copy(namespace, Tier.DEVICE, block.block().key()) != null) {
                known.add(block);
            }
        }
        return known;
    }

    /** A second use on the device counts as much as a second seal. */
    static void used(NodeDraft n, RequestSubmitted e) {
        if (n.d.policy().writePolicy() != WritePolicy.WRITE_THROUGH_SELECTIVE || e.deviceBlocks() == 0) {
            return;
        }
        Bytes namespace = Namespaces.digest(e.namespace());
        List<PagedBlock> found = new ArrayList<>();
        for (int i = 0; i < e.deviceBlocks(); i++) {
            Bytes key = e.keys().get(i);
            PlacementRow copy = n.copy(namespace, Tier.DEVICE, key);
            if (copy != null) {
                Block block = new Block(i, key, i == 0 ? Bytes.EMPTY : e.keys().get(i - 1));
                found.add(new PagedBlock(block, copy.page(), copy.generation(), 0));
            }
        }
        Operations.Purpose purpose = new Operations.Purpose(e.request(), e.attempt(), e.namespace(), e.keys().getFirst());
        issue(n, purpose, missing(n, namespace, found, new LinkedHashSet<>()));
    }

    /** A request has ended in good order: under WRITE_BACK its blocks are due now. */
    static void finished(NodeDraft n, String request, RequestRow row) {
        boolean due = n.d.policy().writePolicy() != WritePolicy.WRITE_THROUGH_SELECTIVE;
        if (!due || !row.tail() || !next(n, request, row.attempt())) {
            n.d.command(new ReleaseRequest(n.envelope(), n.nextHeader(), request, row.attempt()));
        }
    }

    /** A batch has ended: the next one of the same attempt follows, if there is one. */
    static void batchEnded(NodeDraft n, OperationRow operation) {
        String request = operation.request();
        RequestRow row = request == null ? null : n.request(request);
        boolean due = n.d.policy().writePolicy() != WritePolicy.WRITE_THROUGH_SELECTIVE;
        if (request != null && row != null && due && row.tail() && row.attempt() == operation.attempt()
                && n.isOfThisLife(row.incarnation()) && RequestStates.isEnd(row.state()) && !next(n, request, row.attempt())) {
            n.d.command(new ReleaseRequest(n.envelope(), n.nextHeader(), request, row.attempt()));
        }
    }

    /** Issues the next batch of an attempt; false when nothing is left that is not on the host. */
    private static boolean next(NodeDraft n, String request, int attempt) {
        List<PagedBlock> batch = new ArrayList<>();
        Set<Bytes> seen = new LinkedHashSet<>();
        Operations.Purpose purpose = null;
        for (EvolveRequests.Sealed sealed : EvolveRequests.sealed(n.d.tables, n.aggregate, request, attempt)) {
            String namespace = sealed.row().namespace();
            if (purpose == null || batch.isEmpty()) {
                purpose = new Operations.Purpose(request, attempt, namespace, sealed.row().root());
            } else if (!purpose.namespace().equals(namespace)) {
                break;
            }
            batch.addAll(missing(n, Namespaces.digest(namespace), sealed.row().blocks(), seen));
            if (batch.size() >= n.d.limits.blocksPerDecision()) {
                break;
            }
        }
        return purpose != null && issue(n, purpose, batch);
    }

    /** Those of {@code blocks} that have no copy on the host in any state and were not seen before. */
    static List<PagedBlock> missing(NodeDraft n, Bytes namespace, List<PagedBlock> blocks, Set<Bytes> seen) {
        List<PagedBlock> missing = new ArrayList<>(blocks.size());
        for (PagedBlock block : blocks) {
            Bytes key = block.block().key();
            if (n.copy(namespace, Tier.HOST, key) == null && seen.add(key)) {
                missing.add(block);
            }
        }
        return missing;
    }

    /** Issues one batch, as much of {@code blocks} as one decision takes; false when there are none, or their group has no room for all of them. */
    static boolean issue(NodeDraft n, Operations.Purpose purpose, List<PagedBlock> blocks) {
        String request = purpose.request();
        if (blocks.isEmpty() || request == null) {
            return false;
        }
        List<PagedBlock> batch = blocks.subList(0, Math.min(blocks.size(), n.d.limits.blocksPerDecision()));
        if (!Quotas.admits(n, OperationKind.WRITE_BACK, Tier.HOST, purpose.namespace(), batch.size())) {
            return false;
        }
        Operations.Issued issued = Operations.issue(n, OperationKind.WRITE_BACK, Tier.DEVICE, purpose, Operations.blocks(batch));
        n.d.command(new WriteBackBlocks(n.envelope(), issued.header(), issued.operation(), request, purpose.attempt(), purpose.namespace(),
                purpose.root(), batch, n.d.policy().leaseMs()));
        return true;
    }
}
