/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core;

import io.tierlog.schemas.Block;
import io.tierlog.schemas.BlockResult;
import io.tierlog.schemas.BlockStatus;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.OperationReason;
import io.tierlog.schemas.PagedBlock;
import io.tierlog.schemas.ShardObjects;
import io.tierlog.schemas.ShardResults;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.command.DeleteObjects;
import io.tierlog.schemas.event.BlocksMissing;
import io.tierlog.schemas.event.BlocksStored;
import io.tierlog.schemas.event.Event;
import io.tierlog.schemas.event.ObjectsDeleted;
import io.tierlog.schemas.event.StoreFull;
import io.tierlog.schemas.event.StoreReadStarted;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/**
 * The store of a {@link RandomHistory}, with objects and generations as a real one has them: agents put, read, miss and delete, reports are lost, and
 * a write may find what is about to go. It draws from a sequence of its own.
 */
final class RandomStore {
    private final Random random;
    /** Generation of each object that is there; of one that is not, the last one, negative. */
    private final Map<String, Long> objects = new HashMap<>();
    private final List<StoredObject> stored = new ArrayList<>();

    /** An object by its shard. */
    private record StoredObject(String shard, String namespace, Block block) {}

    RandomStore(long seed) {
        this.random = new Random(seed * 31 + 7);
    }

    /** What an agent reports next of the store, or nothing. */
    @Nullable Event next(Agent agent) {
        String shard = "store/" + random.nextInt(2);
        String namespace = random.nextInt(3) == 0 ? "other" : Agent.NAMESPACE;
        List<Block> path = path();
        return switch (random.nextInt(24)) {
            case 0, 1, 2 -> random.nextInt(9) == 0
                    ? null
                    : new BlocksStored(about(shard, agent), agent.node, namespace, put(shard, namespace, path));
            case 3 -> new StoreReadStarted(about(shard, agent), agent.node, namespace, path);
            case 4 -> random.nextInt(6) == 0 ? new StoreFull(about(shard, agent), agent.node, 3) : null;
            case 5 -> random.nextInt(6) == 0 ? missing(agent) : null;
            default -> null;
        };
    }

    private static Envelope about(String shard, Agent agent) {
        return new Envelope(shard, "agent/" + agent.node + "/" + agent.processId, agent.incarnation, 0, 0, 0, null, null, null);
    }

    private List<Block> path() {
        StringBuilder name = new StringBuilder();
        List<Bytes> path = new ArrayList<>();
        for (int i = 1 + random.nextInt(6); i > 0; i--) {
            name.append(random.nextInt(3) == 0 ? 'r' : 'l');
            path.add(Agent.key(name.toString()));
        }
        return Agent.blocks(path, random.nextInt(path.size()), path.size());
    }

    private List<PagedBlock> put(String shard, String namespace, List<Block> blocks) {
        List<PagedBlock> paged = new ArrayList<>();
        for (Block block : blocks) {
            long generation = objects.merge(name(shard, namespace, block), 1L, (was, one) -> was > 0 ? was : 1 - was);
            stored.add(new StoredObject(shard, namespace, block));
            paged.add(new PagedBlock(block, -1, generation, 7));
        }
        return paged;
    }

    /** An object is lost, and an agent that looks for it finds that out. */
    private @Nullable Event missing(Agent agent) {
        if (stored.isEmpty()) {
            return null;
        }
        StoredObject lost = stored.get(random.nextInt(stored.size()));
        objects.computeIfPresent(name(lost.shard(), lost.namespace(), lost.block()), (_, generation) -> -Math.abs(generation));
        return new BlocksMissing(about(lost.shard(), agent), agent.node, lost.namespace(), List.of(new PagedBlock(lost.block(), -1, 0, 0)));
    }

    /** An agent deletes what it is to, until an object cannot be deleted; or it never answers. */
    @Nullable Event deleted(Agent agent, DeleteObjects c) {
        int mood = random.nextInt(8);
        boolean stopped = mood == 0;
        List<ShardResults> all = new ArrayList<>();
        for (ShardObjects one : c.objects()) {
            List<BlockResult> results = new ArrayList<>();
            for (PagedBlock block : one.blocks()) {
                stopped |= mood == 1 && random.nextInt(3) == 0;
                results.add(stopped ? result(block, BlockStatus.FAILED, OperationReason.IO) : delete(c.shard(), one.namespace(), block));
            }
            all.add(new ShardResults(one.namespace(), results));
        }
        return mood == 2 ? null : new ObjectsDeleted(about(c.shard(), agent), agent.node, c.deletion(), all);
    }

    private BlockResult delete(String shard, String namespace, PagedBlock block) {
        String name = name(shard, namespace, block.block());
        long generation = objects.getOrDefault(name, 0L);
        if (generation != block.generation()) {
            return generation > 0
                    ? result(block, BlockStatus.FAILED, OperationReason.STALE_GENERATION)
                    : result(block, BlockStatus.GONE, OperationReason.NOT_FOUND);
        }
        objects.put(name, -generation);
        return result(block, BlockStatus.GONE, OperationReason.COMPLETED);
    }

    private static BlockResult result(PagedBlock block, BlockStatus status, OperationReason reason) {
        return new BlockResult(block.block(), status, reason, -1, block.generation(), 0, Tier.UNKNOWN);
    }

    private static String name(String shard, String namespace, Block block) {
        return shard + " " + namespace + " " + block.key();
    }
}
