/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.state;

import io.tierlog.schemas.Block;
import io.tierlog.schemas.PagedBlock;
import java.util.ArrayList;
import java.util.List;

/** Lists of blocks. Without state. */
public final class Blocks {
    private Blocks() {}

    /** The blocks without their pages. */
    public static List<Block> of(List<PagedBlock> paged) {
        List<Block> blocks = new ArrayList<>(paged.size());
        for (PagedBlock block : paged) {
            blocks.add(block.block());
        }
        return blocks;
    }

    /** The deepest block of each run in a list that goes down a prompt: with it the run above it stays. */
    public static List<Block> deepest(List<Block> blocks) {
        List<Block> ends = new ArrayList<>(1);
        for (int i = 0; i < blocks.size(); i++) {
            Block block = blocks.get(i);
            if (i + 1 == blocks.size() || !blocks.get(i + 1).parent().equals(block.key())) {
                ends.add(block);
            }
        }
        return ends;
    }
}
