/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core;

import io.tierlog.schemas.Block;
import io.tierlog.schemas.BlockResult;
import io.tierlog.schemas.BlockStatus;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.OperationKind;
import io.tierlog.schemas.PagedBlock;
import io.tierlog.schemas.RemovalReason;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.decision.BlocksBackedUp;
import io.tierlog.schemas.decision.BlocksPlaced;
import io.tierlog.schemas.decision.BlocksTouched;
import io.tierlog.schemas.state.CopyState;
import io.tierlog.schemas.state.OperationRow;
import io.tierlog.schemas.state.PlacementRow;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a terminal event says of bytes, made into facts.
 *
 * <p>From an operation that was waited for, it all counts. From one that nobody knows or that has ended, only what is newer than what is
 * held: a copy that is gone, if it is the very page and generation that is held; a copy that came, unless that page and generation, or a
 * later one, is held. A report that is repeated changes nothing that way.
 *
 * @param arrived copies that came
 * @param stored blocks that are in the store now
 * @param gone copies that went
 * @param pinned copies that were to go and stay, for somebody uses them
 */
record Settlement(List<PagedBlock> arrived, List<Block> stored, List<Removals.Gone> gone, List<Block> pinned) {
    /** The rule that the event breaks, or null. */
    static @Nullable String broken(NodeDraft n, Completion c) {
        if (c.results().size() > n.d.limits.blocksPerInput()) {
            return "an event names at most " + n.d.limits.blocksPerInput() + " blocks";
        }
        String broken = c.results().isEmpty() ? null : Checks.text(n.d.limits, "a namespace", c.namespace());
        for (int i = 0; broken == null && i < c.results().size(); i++) {
            broken = Checks.block(c.results().get(i).block());
        }
        return broken;
    }

    /** For the end of an operation that was waited for. */
    static Settlement expected(NodeDraft n, OperationRow row, Completion c) {
        Settlement s = read(n, row.kind(), row.namespace(), c.operation(), c.results(), false);
        s.facts(n, row.kind(), row.namespace(), c.operation(), row.from() == Tier.STORE ? Tier.STORE : Tier.UNKNOWN);
        return s;
    }

    /** For an operation that nobody knows. */
    static void adopted(NodeDraft n, Completion c) {
        read(n, c.kind(), c.namespace(), c.operation(), c.results(), true).facts(n, c.kind(), c.namespace(), c.operation(), Tier.UNKNOWN);
    }

    /** For an operation that has ended: what came counts once, when the end was a refusal of another command under the same id. */
    static void late(NodeDraft n, OperationRow row, Completion c) {
        Settlement s = read(n, row.kind(), row.namespace(), c.operation(), c.results(), true);
        Settlement counts = row.settled() ? new Settlement(List.of(), List.of(), s.gone(), List.of()) : s;
        counts.facts(n, row.kind(), row.namespace(), c.operation(), Tier.UNKNOWN);
    }

    private static Settlement read(NodeDraft n, OperationKind kind, String namespace, String operation, List<BlockResult> results,
            boolean onlyNewer) {
        Settlement s = new Settlement(new ArrayList<>(results.size()), new ArrayList<>(), new ArrayList<>(), new ArrayList<>());
        Bytes digest = Namespaces.digest(namespace);
        for (BlockResult result : results) {
            switch (kind) {
                case WRITE_BACK, PREFETCH, PROMOTE, COPY, LOAD_BACK -> s.came(n, digest, kind, result, onlyNewer);
                case BACK_UP -> {
                    if (Completion.isDone(result)) {
                        s.stored.add(result.block());
                    }
                }
                case DROP -> s.dropped(n, digest, operation, result);
                case UNKNOWN -> {}
            }
        }
        return s;
    }

    private void came(NodeDraft n, Bytes namespace, OperationKind kind, BlockResult result, boolean onlyNewer) {
        if (result.status() != BlockStatus.ARRIVED && result.status() != BlockStatus.ALREADY_THERE) {
            return;
        }
        if (onlyNewer) {
            PlacementRow held = n.copy(namespace, tierOf(kind), result.block().key());
            if (held != null && held.page() == result.page() && held.generation() >= result.generation()) {
                return;
            }
        }
        arrived.add(new PagedBlock(result.block(), result.page(), result.generation(), result.crc32c()));
    }

    private void dropped(NodeDraft n, Bytes namespace, String operation, BlockResult result) {
        PlacementRow held = n.copy(namespace, Tier.HOST, result.block().key());
        if (held == null) {
            return;
        }
        boolean ours = held.state() == CopyState.LEAVING && operation.equals(held.operation());
        switch (result.reason()) {
            // The agent does not have what we thought it has.
            case NOT_SERVING, STALE_GENERATION, NOT_FOUND -> {
                if (ours) {
                    gone.add(new Removals.Gone(result.block(), held));
                }
            }
            default -> {
                if (result.status() == BlockStatus.GONE) {
                    if (Removals.isTheOne(held, result.page(), result.generation())) {
                        gone.add(new Removals.Gone(result.block(), held));
                    }
                } else if (ours) {
                    pinned.add(result.block());
                }
            }
        }
    }

    private void facts(NodeDraft n, OperationKind kind, String namespace, String operation, Tier heldAlso) {
        if (!arrived.isEmpty()) {
            n.fact(new BlocksPlaced(n.envelope(), tierOf(kind), namespace, arrived, operation, heldAlso, n.d.offset));
        }
        if (!stored.isEmpty()) {
            n.fact(new BlocksBackedUp(n.envelope(), namespace, stored));
        }
        Removals.fact(n, Tier.HOST, namespace, RemovalReason.WATER_LEVEL, gone);
    }

    /** What could not be dropped is in use, so its turn to leave is not now: else the next drop would name it again. */
    void touchPinned(NodeDraft n, OperationRow row) {
        if (!pinned.isEmpty()) {
            n.fact(new BlocksTouched(n.envelope(), row.from(), row.namespace(), pinned, n.d.offset));
        }
    }

    private static Tier tierOf(OperationKind kind) {
        return kind == OperationKind.LOAD_BACK ? Tier.DEVICE : Tier.HOST;
    }
}
