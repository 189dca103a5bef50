/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.placement;

import io.tierlog.controller.core.Agent;
import io.tierlog.controller.core.World;
import io.tierlog.controller.core.api.CoreVersion;
import io.tierlog.controller.core.eviction.WatermarkEvictionTest;
import io.tierlog.controller.core.state.Blocks;
import io.tierlog.schemas.Block;
import io.tierlog.schemas.BlockResult;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.OperationReason;
import io.tierlog.schemas.PagedBlock;
import io.tierlog.schemas.Policy;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.WritePolicy;
import io.tierlog.schemas.command.CopyBlocks;
import io.tierlog.schemas.command.DropBlocks;
import io.tierlog.schemas.event.BlocksRecovered;
import io.tierlog.schemas.event.CopyDone;
import io.tierlog.schemas.event.CopyFailed;
import io.tierlog.schemas.event.DropDone;
import io.tierlog.schemas.event.DropFailed;
import java.util.ArrayList;
import java.util.List;

/**
 * A node with a disk. Host 10, marks 0.9 (9 blocks) and 0.6 (6); disk 10, marks 0.8 (8) and 0.5 (5). Prompt x has
 * 4 blocks and is the coldest, y has 4, z has 1.
 */
abstract class DiskScene {
    final World w;
    final Agent a;
    final List<Bytes> x = Agent.path("x", 4);
    long generation = 10;

    DiskScene() {
        this(CoreVersion.CURRENT);
    }

    DiskScene(int coreVersion) {
        w = new World(coreVersion).policy(policy(true, true));
        a = w.register(new Agent("a", "a-1", 10, 10));
    }

    static Policy policy(boolean copyToDisk, boolean backUp) {
        return new Policy(2, WritePolicy.WRITE_BACK, 0.9, 0.6, 0.8, 0.5, copyToDisk, 100, 1_000, 5_000, 0, backUp, null, null);
    }

    /** 8 of 10 on the host, and a ninth: relief takes 4, for 9 - 4 = 5 < 6. */
    void cross() {
        w.warm(a, "x", x, 0);
        w.warm(a, "y", Agent.path("y", 4), 10);
        w.warm(a, "z", Agent.path("z", 1), 20);
    }

    CopyBlocks crossing() {
        cross();
        return w.commands.stream().filter(CopyBlocks.class::isInstance).map(CopyBlocks.class::cast).findFirst().orElseThrow();
    }

    CopyDone done(CopyBlocks copy, int arrived) {
        List<BlockResult> results = new ArrayList<>();
        for (int i = 0; i < copy.blocks().size(); i++) {
            Block block = copy.blocks().get(i).block();
            results.add(i < arrived ? onDisk(block) : Agent.failed(List.of(block), OperationReason.IO).getFirst());
        }
        return new CopyDone(a.envelope(), copy.operation(), Tier.HOST, Tier.DISK, Agent.NAMESPACE, results, 4_096L * arrived, 1);
    }

    BlockResult onDisk(Block block) {
        BlockResult r = Agent.arrived(List.of(block), 0).getFirst();
        return new BlockResult(block, r.status(), r.reason(), -1, ++generation, r.crc32c(), Tier.HOST);
    }

    CopyFailed failed(CopyBlocks copy, OperationReason reason) {
        return new CopyFailed(a.envelope(), copy.operation(), Tier.HOST, Tier.DISK, reason, Agent.NAMESPACE,
                Agent.failed(Blocks.of(copy.blocks()), reason));
    }

    DropFailed pinned(DropBlocks drop) {
        return new DropFailed(a.envelope(), drop.operation(), drop.tier(), OperationReason.PINNED, Agent.NAMESPACE,
                Agent.failed(Blocks.of(drop.blocks()), OperationReason.PINNED));
    }

    DropDone gone(DropBlocks drop) {
        return new DropDone(a.envelope(), drop.operation(), drop.tier(), Agent.NAMESPACE, Agent.gone(drop));
    }

    static List<String> names(List<PagedBlock> blocks) {
        return WatermarkEvictionTest.names(Blocks.of(blocks));
    }

    /** x leaves the host for the disk; answers with the drop. */
    DropBlocks demoteX() {
        w.input(done(crossing(), 4));
        DropBlocks drop = w.command(DropBlocks.class);
        w.input(gone(drop));
        return drop;
    }

    /** Blocks found on the disk, of generation 7. */
    BlocksRecovered found(Agent agent, List<Bytes> path, int from, int to) {
        List<PagedBlock> blocks = Agent.blocks(path, from, to).stream().map(b -> new PagedBlock(b, -1, 7, 77)).toList();
        return new BlocksRecovered(agent.envelope(), Tier.DISK, Agent.NAMESPACE, blocks, 0);
    }
}
