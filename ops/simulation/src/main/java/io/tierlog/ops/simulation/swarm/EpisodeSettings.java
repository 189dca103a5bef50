/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.simulation.swarm;

import io.tierlog.agent.core.api.AgentLimits;
import io.tierlog.controller.core.api.Limits;
import io.tierlog.controller.core.policy.Policies;
import io.tierlog.ops.simulation.engine.Engine;
import io.tierlog.ops.simulation.engine.Oracle;
import io.tierlog.ops.simulation.world.SimNode;
import io.tierlog.ops.simulation.world.World;
import io.tierlog.ops.simulation.world.WorldSettings;
import io.tierlog.schemas.EvictionOrder;
import io.tierlog.schemas.ExpiryPolicy;
import io.tierlog.schemas.FetchPolicy;
import io.tierlog.schemas.MigrationPolicy;
import io.tierlog.schemas.PeerPolicy;
import io.tierlog.schemas.Policy;
import io.tierlog.schemas.PromotionPolicy;
import io.tierlog.schemas.StorePolicy;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.TierBound;
import io.tierlog.schemas.WritePolicy;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Draws what the world of an episode is made of: small everywhere, so that all of it is crossed often. */
final class EpisodeSettings {
    /** Tokens of a block. */
    static final int BLOCK_TOKENS = 2;

    /** The one adapter that engines know. */
    static final String ADAPTER = "a";

    /** Most tokens of a request. */
    static final int MAX_CONTEXT = 24;

    /** Longer than log time goes ahead twice while a node is away, and than all that is left of an ended node is kept. */
    private static final long DAYS_MS = 60 * 3_600_000L;

    private EpisodeSettings() {}

    /** The world of an episode; {@code reading} makes reads across nodes allowed and cheap in it. */
    static World world(Choices choices, boolean reading) {
        int ranks = choices.oneIn(4) ? 2 : 1;
        int partitions = 1 + choices.next(3);
        int nodes = 2 + choices.next(2);
        boolean replicated = ranks > 1 && choices.next(4) == 3;
        long blockBytes = new Oracle(1, replicated ? 1 : ranks).blockBytes();
        long seed = 1L + choices.next(1_000);
        WorldSettings settings = new WorldSettings(
                seed, BLOCK_TOKENS, ranks, replicated, reading ? 1 + choices.next(8) : 16 + choices.next(200), policy(choices, blockBytes, reading),
                agent(choices, reading), controller(choices, partitions), 20 + choices.next(200), reading || seed % 4 != 0);
        List<SimNode.Spec> specs = new ArrayList<>();
        for (int i = 0; i < nodes; i++) {
            int host = 6 + choices.next(22);
            int disk = choices.next(4) == 0 ? 0 : 2 + choices.next(24);
            int device = 14 + choices.next(16);
            Engine.Config engine = new Engine.Config(
                    device, 0, choices.next(4) != 0, MAX_CONTEXT, device, BLOCK_TOKENS, List.of(ADAPTER), prefillNs(choices));
            specs.add(new SimNode.Spec("n" + i, host, disk, engine));
        }
        return new World(settings, specs);
    }

    /** What an engine says a token costs, in nanoseconds: mostly nothing, else up to 13 ms, so that waiting may cost more than computing. */
    private static long prefillNs(Choices choices) {
        return choices.next(3) == 2 ? 1_000_000L * (1 + choices.next(13)) : 0;
    }

    /** A policy that can be, of any kind. */
    static Policy policy(Choices choices, long blockBytes) {
        return policy(choices, blockBytes, false);
    }

    private static Policy policy(Choices choices, long blockBytes, boolean reading) {
        WritePolicy write = choices.pick(List.of(WritePolicy.WRITE_BACK, WritePolicy.WRITE_BACK, WritePolicy.WRITE_THROUGH,
                WritePolicy.WRITE_THROUGH_SELECTIVE));
        double high = (10 - choices.next(5)) / 10.0;
        double low = high - choices.next(4) / 10.0;
        double diskHigh = (10 - choices.next(5)) / 10.0;
        double diskLow = diskHigh - choices.next(4) / 10.0;
        boolean copies = choices.next(6) != 5;
        boolean backUp = choices.next(5) != 4 && !reading;
        int silent = choices.next(5) == 4 ? 0 : 3 + choices.next(6);
        Policy drawn = new Policy(reading ? 0 : choices.next(3), write, high, low, diskHigh, diskLow, copies, 1 + choices.next(8),
                1_000 + 500 * choices.next(8), 1_000 + 500 * choices.next(8), silent, backUp,
                new DrawnMigration(choices, blockBytes).draw(), fetch(choices, reading));
        return new Policy(drawn.prefetchThresholdBlocks(), write, high, low, diskHigh, diskLow, copies, drawn.reliefBatchBlocks(),
                drawn.operationTimeoutMs(), drawn.leaseMs(), silent, backUp, drawn.migration(), drawn.fetch(), orders(drawn),
                expiry(drawn), store(drawn));
    }

    /** In half of the policies rows expire soon, or nodes after {@link #DAYS_MS}; by what is drawn already, like the orders. */
    private static @Nullable ExpiryPolicy expiry(Policy drawn) {
        return expiresSoon(drawn)
                ? new ExpiryPolicy(drawn.reliefBatchBlocks() % 2 == 0 ? DAYS_MS : drawn.leaseMs(), drawn.operationTimeoutMs())
                : null;
    }

    /** Whether rows expire soon under a policy that was drawn. */
    static boolean expiresSoon(Policy policy) {
        return policy.operationTimeoutMs() / 500 % 2 == 0;
    }

    /** Eviction orders by what is drawn already: choices of their own would change what each seed is. */
    private static List<TierBound> orders(Policy drawn) {
        List<TierBound> orders = new ArrayList<>();
        order(orders, Tier.HOST, drawn.reliefBatchBlocks() % 3);
        order(orders, Tier.DISK, (int) (drawn.leaseMs() / 500 % 3));
        return orders;
    }

    /** Few objects in a shard, some of which are kept for a while; in a third of the episodes, and by what is drawn already, too. */
    private static @Nullable StorePolicy store(Policy drawn) {
        return drawn.operationTimeoutMs() / 500 % 3 != 0 ? null : new StorePolicy(
                2 + drawn.reliefBatchBlocks(), drawn.hostHighMark(), drawn.hostLowMark(), drawn.leaseMs() / 500 % 4 * 500);
    }

    private static void order(List<TierBound> orders, Tier tier, int drawn) {
        if (drawn > 0) {
            orders.add(new TierBound(tier, 0, drawn == 1 ? EvictionOrder.LRU : EvictionOrder.GAPS));
        }
    }

    /** Few promotions at once, of few blocks, and short memories; or what the core has. */
    private static @Nullable FetchPolicy fetch(Choices choices, boolean reading) {
        if (choices.next(3) == 0 && !reading) {
            return null;
        }
        PromotionPolicy promotion = new PromotionPolicy(choices.next(8) != 7, 1 + choices.next(3), 1 + choices.next(6),
                choices.pick(List.of(0, 2, 6, 20)), 250L * choices.next(12), 250L * choices.next(6));
        return new FetchPolicy(promotion, reading ? reads(choices) : peers(choices));
    }

    /** Few reads of few blocks, for a short time, and blocks that are dearer here or there; or what the core has. */
    private static PeerPolicy peers(Choices choices) {
        if (choices.next(3) == 0) {
            return Policies.fetch(calm()).peers();
        }
        long storeMicros = choices.pick(List.of(1_000L, 4_000L, 100L));
        return new PeerPolicy(choices.next(8) != 7, 1 + choices.next(3), 1 + choices.next(10), 250L * (1 + choices.next(12)),
                choices.pick(List.of(200L, 50L, 3_000L)), choices.pick(List.of(600L, 100L, 3_000L)), storeMicros,
                choices.pick(List.of(5_000L, 5_000L, 2_000L, 100L)));
    }

    /** Reads from another node are cheaper than all else; they may still be few and short. */
    private static PeerPolicy reads(Choices choices) {
        return new PeerPolicy(true, 1 + choices.next(3), 1 + choices.next(10), 250L * (1 + choices.next(12)), 50, 100, 4_000, 5_000);
    }

    /** The policy under which everything must come to rest. */
    static Policy calm() {
        return new Policy(1, WritePolicy.WRITE_BACK, 0.9, 0.7, 0.9, 0.7, true, 4, 3_000, 4_000, 5, true, null, null);
    }

    /** The same, with groups where {@code migration} says so. */
    static Policy calm(@Nullable MigrationPolicy migration) {
        Policy p = calm();
        return new Policy(p.prefetchThresholdBlocks(), p.writePolicy(), p.hostHighMark(), p.hostLowMark(), p.diskHighMark(), p.diskLowMark(),
                p.copyToDisk(), p.reliefBatchBlocks(), p.operationTimeoutMs(), p.leaseMs(), p.nodeTimeoutTicks(), p.backUp(), migration, null);
    }

    /** One that cannot be. */
    static Policy invalid(Choices choices) {
        Policy p = calm();
        return choices.next(2) == 0
                ? new Policy(p.prefetchThresholdBlocks(), p.writePolicy(), 0.5, 0.9, p.diskHighMark(), p.diskLowMark(), true, 4, 3_000, 4_000, 5,
                        true, null, null)
                : new Policy(-1, WritePolicy.UNKNOWN, 0.9, 0.7, 0.9, 0.7, true, 0, 0, 0, -1, true, null, null);
    }

    /** Where nodes read from each other, requests wait longer, so that more of them get what another node has. */
    private static AgentLimits agent(Choices choices, boolean reading) {
        int wait = choices.next(6);
        long unitMs = wait % 2 == 0 ? 60_000 : 700; // the second ends before what stands still goes on
        AgentLimits drawn = AgentLimits.defaults()
                .with(new AgentLimits.Times(reading ? 350 : 50 + 50 * wait, 500, 2_000, 1_000, unitMs, 300))
                .with(new AgentLimits.Units(1 + choices.next(4), 1 + choices.next(3), 1 + choices.next(3), 1 + choices.next(3), 1 + choices.next(3)))
                .with(new AgentLimits.Disk(1 + choices.next(3), 1 + choices.next(2), 1 + choices.next(6)))
                .with(new AgentLimits.Bounds(64, 2 + choices.next(8), 6 + choices.next(20), 64, 64, 64, 16 + choices.next(500))
                        .withKeysPerRecord(wait == 5 ? 3 : 64)) // prompts are longer than their records now and then
                .with(new AgentLimits.Engines(8, 50, 1_000, 5_000, 8, 200, 2_000))
                .with(new AgentLimits.Peers(reading ? 300 : 100, 5, 8, 2, 2_000, 2))
                .with(new AgentLimits.Promotions(4, 16, 200, 2_000));
        return drawn.withBounceBlocks(choices.pick(List.of(2, 1, 1, 4, 0)));
    }

    /** Bounds of the controller; {@code partitions} never change. */
    static Limits controller(Choices choices, int partitions) {
        return new Limits(partitions, 8 + choices.next(24), 200, 1 + choices.next(4), 3 + choices.next(30), 64, 4);
    }
}
