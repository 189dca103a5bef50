/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.writeback;

import io.tierlog.controller.core.decide.NodeContext;
import io.tierlog.controller.core.operation.Operations;
import io.tierlog.controller.core.state.Blocks;
import io.tierlog.controller.core.table.Namespaces;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.OperationKind;
import io.tierlog.schemas.PagedBlock;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.command.BackUpBlocks;
import io.tierlog.schemas.command.ReleasePins;
import io.tierlog.schemas.state.OperationRow;
import io.tierlog.schemas.state.PlacementRow;
import java.util.ArrayList;
import java.util.List;

/** What is written back goes on to the store when the store lacks it. Its pages stay pinned from the one to the other. Without state. */
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
        return lacking;
    }
}
