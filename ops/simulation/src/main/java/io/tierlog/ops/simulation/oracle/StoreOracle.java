/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.simulation.oracle;

import io.tierlog.ops.simulation.world.World;
import io.tierlog.schemas.Block;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.PagedBlock;
import io.tierlog.schemas.Policy;
import io.tierlog.schemas.ShardObjects;
import io.tierlog.schemas.StorePolicy;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.decision.BlocksPlaced;
import io.tierlog.schemas.decision.BlocksRemoved;
import io.tierlog.schemas.decision.BlocksTouched;
import io.tierlog.schemas.decision.DeletionEnded;
import io.tierlog.schemas.decision.DeletionIssued;
import io.tierlog.schemas.decision.Fact;
import io.tierlog.schemas.decision.PolicyAdopted;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * What leaves the store, against a plain model of its shards: a use of a block is a use of all that it extends. A deletion names no object that
 * was used within the policy's time, none that an object outside of it extends, and none that is hotter than a leaf that stays and may go. For one
 * thread.
 */
public final class StoreOracle implements World.Watcher {
    /** A block of a shard. */
    private record Name(String shard, String namespace, Bytes key) {}

    /** An object that is there. */
    private record Stored(Block block, boolean leaving) {}

    /** The last use of a block: its place in the order, and log time. */
    private record Use(long touch, long timeMs) {}

    private final Map<Name, Stored> objects = new HashMap<>();
    private final Map<Name, Use> uses = new HashMap<>();
    private final Map<Integer, Policy> policies = new TreeMap<>();

    @Override
    public void committed(int partition, long offset, Fact fact) {
        String shard = fact.envelope().aggregate();
        long now = fact.envelope().timeMs();
        switch (fact) {
            case PolicyAdopted f -> policies.put(partition, f.policy());
            case BlocksPlaced f when isOfStore(shard, f.tier()) -> f.blocks().forEach(block -> {
                objects.put(new Name(shard, f.namespace(), block.block().key()), new Stored(block.block(), false));
                use(shard, f.namespace(), block.block(), new Use(f.touch(), now));
            });
            case BlocksTouched f when isOfStore(shard, f.tier()) ->
                f.deepest().forEach(block -> use(shard, f.namespace(), block, new Use(f.touch(), now)));
            case BlocksRemoved f when isOfStore(shard, f.tier()) -> f.blocks().forEach(block -> gone(new Name(shard, f.namespace(), block.key())));
            case DeletionIssued f -> issued(shard, f, policies.get(partition), now);
            case DeletionEnded _ -> objects.replaceAll((name, stored) -> name.shard.equals(shard) ? new Stored(stored.block, false) : stored);
            default -> {}
        }
    }

    private static boolean isOfStore(String aggregate, Tier tier) {
        return tier == Tier.STORE && aggregate.startsWith("store/");
    }

    /** A use of a block and of all blocks before it that are there. */
    private void use(String shard, String namespace, Block block, Use use) {
        path(new Name(shard, namespace, block.key()), block).forEach(name ->
                uses.merge(name, use, (was, now) -> was.touch >= now.touch ? was : now));
    }

    /** A block and all blocks before it that are there. */
    private List<Name> path(Name name, Block block) {
        List<Name> path = new ArrayList<>();
        Name at = name;
        Stored stored = new Stored(block, false);
        while (stored != null && !path.contains(at)) {
            path.add(at);
            at = new Name(name.shard, name.namespace, stored.block.parent());
            stored = objects.get(at);
        }
        return path;
    }

    /** Where a prompt gets a hole, because an object was lost or what extends it was put meanwhile, the uses behind it no longer count before it. */
    private void gone(Name name) {
        Stored stored = objects.remove(name);
        boolean hole = objects.entrySet().stream().anyMatch(other -> other.getKey().shard.equals(name.shard)
                && other.getKey().namespace.equals(name.namespace) && other.getValue().block.parent().equals(name.key));
        if (stored != null && hole) {
            path(name, stored.block).forEach(uses::remove);
        }
    }

    private void issued(String shard, DeletionIssued f, @Nullable Policy policy, long now) {
        StorePolicy rule = policy == null ? null : policy.store();
        if (rule == null) {
            throw new IllegalStateException("effect, store: a shard is evicted, and the policy bounds none: " + f);
        }
        long hottest = 0;
        for (ShardObjects one : f.objects()) {
            for (PagedBlock block : one.blocks()) {
                Name name = new Name(shard, one.namespace(), block.block().key());
                Use use = uses.get(name);
                if (objects.get(name) == null || (use != null && now - use.timeMs < rule.keepMs())) {
                    throw new IllegalStateException("effect, store: leased, or not there: " + name + " leaves at " + now + ", last used " + use);
                }
                hottest = use == null ? hottest : Math.max(hottest, use.touch);
                objects.put(name, new Stored(block.block(), true));
            }
        }
        Set<Name> extended = new HashSet<>();
        objects.forEach((name, stored) -> {
            if (!stored.leaving) {
                extended.add(new Name(name.shard, name.namespace, stored.block.parent()));
            }
        });
        for (Map.Entry<Name, Stored> entry : objects.entrySet()) {
            Name name = entry.getKey();
            boolean stays = name.shard.equals(shard) && !entry.getValue().leaving;
            Use use = uses.get(name);
            if (name.shard.equals(shard) && entry.getValue().leaving && extended.contains(name)) {
                throw new IllegalStateException("effect, store: the prompt of " + name + " gets a hole");
            }
            if (stays && use != null && !extended.contains(name) && use.touch < hottest && now - use.timeMs >= rule.keepMs()) {
                throw new IllegalStateException(
                        "effect, store: " + name + " stays, last used at " + use + ", and what was used at " + hottest + " leaves");
            }
        }
    }
}
