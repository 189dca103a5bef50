/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.writeback;

import io.tierlog.controller.core.decide.Checks;
import io.tierlog.controller.core.decide.NodeContext;
import io.tierlog.controller.core.operation.Operations;
import io.tierlog.controller.core.state.RequestStates;
import io.tierlog.schemas.Block;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.OperationReason;
import io.tierlog.schemas.PagedBlock;
import io.tierlog.schemas.RefusalReason;
import io.tierlog.schemas.command.RefuseSave;
import io.tierlog.schemas.event.SaveRequested;
import io.tierlog.schemas.state.RequestRow;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * Blocks that engines want on the host before the write policy would bring them there. Blocks that are neither there nor on their way are written
 * back at once. The rest is refused with a fact that the agent receives, so that no caller waits for a write-back that does not come. Without
 * state.
 */
public final class Saves {
    private Saves() {}

    public static void decide(NodeContext n, SaveRequested e) {
        String broken = Checks.paged(n.limits(), e.namespace(), e.blocks());
        RequestRow row = n.request(e.request());
        if (broken != null) {
            n.refuse(e, RefusalReason.OVER_LIMIT, broken);
            refuse(n, e, e.blocks(), OperationReason.UNSUPPORTED);
        } else if (row == null || row.attempt() != e.attempt() || !n.isCurrent(row.incarnation())) {
            n.refuse(e, RefusalReason.REQUEST_UNKNOWN, "Request " + e.request() + " attempt " + e.attempt() + " is not known");
            refuse(n, e, e.blocks(), OperationReason.NOT_SERVING);
        } else if (RequestStates.isEnd(row.state())) {
            n.refuse(e, RefusalReason.REQUEST_ENDED, e.request() + " is " + row.state());
            refuse(n, e, e.blocks(), OperationReason.NOT_SERVING);
        } else {
            save(n, e);
        }
    }

    private static void save(NodeContext n, SaveRequested e) {
        Writes writes = new Writes(n, e.namespace()).add(e.blocks());
        Set<Bytes> tooMany = keys(writes.late());
        List<PagedBlock> late = e.blocks().stream().filter(block -> tooMany.contains(block.block().key())).toList();
        List<PagedBlock> known = without(without(e.blocks(), writes.toHost()), late);
        boolean issued = writes.issue(new Operations.Purpose(e.request(), e.attempt(), e.namespace(), e.root()));
        if (!issued && !writes.toHost().isEmpty()) {
            Set<Bytes> toHost = keys(writes.toHost());
            refuse(n, e, e.blocks().stream().filter(block -> toHost.contains(block.block().key())).toList(), OperationReason.QUOTA_EXCEEDED);
        }
        if (!known.isEmpty()) {
            n.refuse(e, RefusalReason.REPEATED,
                    known.size() + " of " + e.blocks().size() + " blocks are on the host, on their way, or go elsewhere");
            refuse(n, e, known, OperationReason.ALREADY_THERE);
        }
        if (!late.isEmpty()) {
            n.refuse(e, RefusalReason.OVER_LIMIT, late.size() + " blocks are more than one decision takes");
            refuse(n, e, late, OperationReason.QUEUE_FULL);
        }
    }

    private static List<PagedBlock> without(List<PagedBlock> blocks, List<PagedBlock> some) {
        Set<Bytes> keys = keys(some);
        return blocks.stream().filter(block -> !keys.contains(block.block().key())).toList();
    }

    private static Set<Bytes> keys(List<PagedBlock> blocks) {
        Set<Bytes> keys = new LinkedHashSet<>();
        blocks.forEach(block -> keys.add(block.block().key()));
        return keys;
    }

    private static void refuse(NodeContext n, SaveRequested e, List<PagedBlock> refused, OperationReason why) {
        List<Block> blocks = new ArrayList<>(refused.size());
        refused.forEach(block -> blocks.add(block.block()));
        n.command(new RefuseSave(n.envelope(), n.nextHeader(), e.save(), blocks, why));
    }
}
