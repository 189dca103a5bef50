/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.writeback;

import io.tierlog.controller.core.decide.NodeContext;
import io.tierlog.controller.core.operation.Operations;
import io.tierlog.controller.core.state.Blocks;
import io.tierlog.controller.core.table.Namespaces;
import io.tierlog.schemas.Block;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.OperationKind;
import io.tierlog.schemas.PagedBlock;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.command.BackUpBlocks;
import io.tierlog.schemas.command.ReleasePins;
import io.tierlog.schemas.state.OperationRow;
import io.tierlog.schemas.state.PlacementRow;
import io.tierlog.schemas.state.PlacementState;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * Written-back blocks are backed up to the store when the store lacks them, and blocks before them whose backup has failed with them. Their pages
 * stay pinned in between. Without state.
 */
public final class BackUps {
    private BackUps() {}

    public static void afterWriteBack(NodeContext n, String writeBack, OperationRow row, List<PagedBlock> arrived) {
        if (arrived.isEmpty()) {
            return;
        }
        List<PagedBlock> lacking = n.policy().backUp() ? lacking(n, row.namespace(), arrived) : List.of();
        if (lacking.isEmpty()) {
            n.command(new ReleasePins(n.envelope(), n.nextHeader(), writeBack));
            return;
        }
        Operations.Issued issued = Operations.issue(n, OperationKind.BACK_UP, Tier.HOST,
                new Operations.Purpose(null, 0, row.namespace(), row.root()), Blocks.of(lacking));
        n.command(new BackUpBlocks(n.envelope(), issued.header(), issued.operation(), writeBack, row.namespace(), row.root(), lacking));
    }

    private static List<PagedBlock> lacking(NodeContext n, String namespace, List<PagedBlock> blocks) {
        Bytes digest = Namespaces.digest(namespace);
        List<PagedBlock> lacking = new ArrayList<>(blocks.size());
        for (PagedBlock block : blocks) {
            PlacementRow copy = n.placement(digest, Tier.HOST, block.block().key());
            if (copy == null || !copy.stored()) {
                lacking.add(block);
            }
        }
        if (!lacking.isEmpty()) {
            PagedBlock first = lacking.stream().min(Comparator.comparingInt(block -> block.block().index())).orElseThrow();
            int most = Math.min(n.policy().reliefBatchBlocks(), n.limits().blocksPerDecision() - lacking.size());
            lacking.addAll(0, prefix(n, digest, first, most));
        }
        return lacking;
    }

    /**
     * Blocks before these that serve on the host and are not in the store either, root first: an earlier backup of them has failed, or the store has
     * lost them. Looks at {@code most} rows: a store that is away is not asked again for a whole prompt at every write-back.
     */
    private static List<PagedBlock> prefix(NodeContext n, Bytes namespace, PagedBlock first, int most) {
        List<PagedBlock> prefix = new ArrayList<>();
        Bytes key = first.block().parent();
        for (int index = first.block().index() - 1; index >= 0 && index >= first.block().index() - most; index--) {
            PlacementRow copy = n.placement(namespace, Tier.HOST, key);
            if (copy == null || copy.state() != PlacementState.SERVING || copy.index() != index) {
                break;
            }
            if (!copy.stored() && copy.holds() == 0) {
                prefix.add(new PagedBlock(new Block(index, key, copy.parent()), copy.page(), copy.generation(), copy.crc32c()));
            }
            key = copy.parent();
        }
        return prefix.reversed();
    }
}
