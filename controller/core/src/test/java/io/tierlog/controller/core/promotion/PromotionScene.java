/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.promotion;

import io.tierlog.controller.core.Agent;
import io.tierlog.controller.core.World;
import io.tierlog.controller.core.policy.Policies;
import io.tierlog.controller.core.state.Blocks;
import io.tierlog.controller.core.state.PromotionRows;
import io.tierlog.schemas.Block;
import io.tierlog.schemas.BlockResult;
import io.tierlog.schemas.BlockStatus;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.FetchPolicy;
import io.tierlog.schemas.MigrationPolicy;
import io.tierlog.schemas.OperationReason;
import io.tierlog.schemas.PagedBlock;
import io.tierlog.schemas.Policy;
import io.tierlog.schemas.PromotionAnswer;
import io.tierlog.schemas.PromotionPolicy;
import io.tierlog.schemas.PromotionReply;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.WritePolicy;
import io.tierlog.schemas.command.PromoteBlocks;
import io.tierlog.schemas.decision.PromotionAnswered;
import io.tierlog.schemas.event.BlocksRecovered;
import io.tierlog.schemas.event.CommandRefused;
import io.tierlog.schemas.event.PromoteDone;
import io.tierlog.schemas.event.PromoteFailed;
import io.tierlog.schemas.event.PromotionRequested;
import io.tierlog.schemas.state.PromotionsRow;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** A node whose disk has prompt p of 6 blocks, of generation 7, and whose host of 20 is empty; its high mark is 18. */
abstract class PromotionScene {
    static final PromotionPolicy PROMOTION = new PromotionPolicy(true, 4, 32, 1_024, 30_000, 5_000);

    final World w = new World().policy(policy(PROMOTION));
    final Agent a = w.register(new Agent("a", "a-1", 20, 40));
    final List<Bytes> p = Agent.path("p", 6);

    PromotionScene() {
        w.input(found(p));
        w.tick(0);
    }

    static Policy policy(PromotionPolicy promotion) {
        return policy(promotion, null);
    }

    static Policy policy(PromotionPolicy promotion, @Nullable MigrationPolicy migration) {
        return new Policy(2, WritePolicy.WRITE_BACK, 0.9, 0.6, 0.9, 0.5, true, 100, 60_000, 5_000, 0, false, migration,
                new FetchPolicy(promotion, Policies.fetch(World.POLICY).peers()));
    }

    BlocksRecovered found(List<Bytes> path) {
        List<PagedBlock> blocks = Agent.blocks(path, 0, path.size()).stream().map(b -> new PagedBlock(b, -1, 7, 77)).toList();
        return new BlocksRecovered(a.envelope(), Tier.DISK, Agent.NAMESPACE, blocks, 0);
    }

    PromotionRequested probe(List<Block> blocks) {
        return probe(Agent.NAMESPACE, blocks);
    }

    PromotionRequested probe(String namespace, List<Block> blocks) {
        return new PromotionRequested(new Envelope(a.aggregate(), "directory/d", 0, 0, 0, 0, null, null, null), "e1", namespace, blocks);
    }

    /** Probes for blocks from..to-1 of p. */
    Map<PromotionReply, List<Integer>> ask(int from, int to) {
        w.input(probe(Agent.blocks(p, from, to)));
        return replies();
    }

    /** The replies to the last probe, by index. */
    Map<PromotionReply, List<Integer>> replies() {
        Map<PromotionReply, List<Integer>> replies = new EnumMap<>(PromotionReply.class);
        for (PromotionAnswer answer : w.fact(PromotionAnswered.class).answers()) {
            replies.merge(answer.reply(), World.indexes(answer.blocks()), (a, b) -> Stream.concat(a.stream(), b.stream()).toList());
        }
        return replies;
    }

    /** The last answer to the last probe. */
    PromotionAnswer told() {
        return w.fact(PromotionAnswered.class).answers().getLast();
    }

    /** All blocks arrive, in pages from {@code page} on, and the agent holds the lease. */
    PromoteDone done(PromoteBlocks command, int page, Integer... awaited) {
        return partly(command, page, command.blocks().size(), awaited);
    }

    /** The first {@code arrived} blocks arrive, the others fail for a wrong checksum. */
    PromoteDone partly(PromoteBlocks command, int page, int arrived, Integer... awaited) {
        List<BlockResult> results = new ArrayList<>();
        for (int i = 0; i < command.blocks().size(); i++) {
            Block block = command.blocks().get(i).block();
            results.add(i < arrived
                    ? new BlockResult(block, BlockStatus.ARRIVED, OperationReason.COMPLETED, page + i, 1, 77, Tier.DISK)
                    : new BlockResult(block, BlockStatus.FAILED, OperationReason.CHECKSUM, -1, 0, 0, Tier.UNKNOWN));
        }
        return new PromoteDone(a.envelope(), command.operation(), command.lease(), command.namespace(), results, List.of(awaited), 4_096L * arrived,
                1);
    }

    PromoteFailed failed(PromoteBlocks command, OperationReason why) {
        return new PromoteFailed(a.envelope(), command.operation(), why, command.namespace(),
                Agent.failed(Blocks.of(command.blocks()), why));
    }

    CommandRefused refused(PromoteBlocks command, OperationReason why) {
        return new CommandRefused(a.envelope(), command.header().command(), command.header().commandSequence(), command.operation(), why, "");
    }

    PromotionsRow counts() {
        return PromotionRows.orNothing(w.node(a).promotions());
    }
}
