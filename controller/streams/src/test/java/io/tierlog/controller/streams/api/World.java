/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.streams.api;

import io.tierlog.controller.core.table.Namespaces;
import io.tierlog.controller.core.table.RowKey;
import io.tierlog.controller.core.table.Rows;
import io.tierlog.events.Partitions;
import io.tierlog.schemas.BlockName;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.EvictionOrder;
import io.tierlog.schemas.ExpiryPolicy;
import io.tierlog.schemas.FetchPolicy;
import io.tierlog.schemas.GroupPolicy;
import io.tierlog.schemas.GroupTier;
import io.tierlog.schemas.MarkClearing;
import io.tierlog.schemas.MigrationAnswer;
import io.tierlog.schemas.MigrationMethod;
import io.tierlog.schemas.MigrationOrder;
import io.tierlog.schemas.MigrationPolicy;
import io.tierlog.schemas.MigrationProgress;
import io.tierlog.schemas.MigrationRefusal;
import io.tierlog.schemas.MigrationRoute;
import io.tierlog.schemas.MigrationState;
import io.tierlog.schemas.MoveCause;
import io.tierlog.schemas.MoveTrigger;
import io.tierlog.schemas.PeerPolicy;
import io.tierlog.schemas.Policy;
import io.tierlog.schemas.PromotionPolicy;
import io.tierlog.schemas.Retention;
import io.tierlog.schemas.SampleRule;
import io.tierlog.schemas.StorePolicy;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.TierBound;
import io.tierlog.schemas.WritePolicy;
import io.tierlog.schemas.state.ClockRow;
import io.tierlog.schemas.state.EngineRow;
import io.tierlog.schemas.state.GroupRow;
import io.tierlog.schemas.state.GroupTierRow;
import io.tierlog.schemas.state.MarkRow;
import io.tierlog.schemas.state.MigrationRow;
import io.tierlog.schemas.state.NamespaceRow;
import io.tierlog.schemas.state.NamespaceTierRow;
import io.tierlog.schemas.state.NodeRow;
import io.tierlog.schemas.state.PartRow;
import io.tierlog.schemas.state.PolicyRow;
import io.tierlog.schemas.state.RouteRow;
import io.tierlog.schemas.state.SharesRow;
import io.tierlog.schemas.state.TierRow;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Rows of a small world: nodes a and b, tenants chat/1 in group chat and batch/1 in none, blocks of 100 bytes. */
final class World {
    static final long TIME_MS = 1_700_000_000_000L;
    static final MigrationProgress NOTHING = new MigrationProgress(0, 0, 0, 0);

    static final FetchPolicy FETCH = new FetchPolicy(new PromotionPolicy(true, 4, 32, 1_024, 30_000, 5_000),
            new PeerPolicy(true, 4, 1_024, 10_000, 200, 600, 1_000, 5_000));
    /** A quota of 1,000 bytes for the group, 2,000 on the disk. */
    static final Policy POLICY = new Policy(2, WritePolicy.WRITE_BACK, 0.9, 0.8, 0.95, 0.9, true, 256, 30_000, 60_000, 10, true,
            new MigrationPolicy(86_400_000, MarkClearing.ON_WRITE, 8, 4L << 30, List.of(new GroupPolicy("chat", List.of("chat/*"), 1_000L,
                    List.of(new GroupTier(Tier.DISK, 2_000L, 0.9, 0.8, EvictionOrder.GAPS)),
                    List.of(new MigrationRoute(Tier.HOST, Tier.DISK, 0.5, true, true, Retention.DELETE_SOURCE, 2, 1_000))))), FETCH,
            List.of(new TierBound(Tier.DISK, 1L << 30, EvictionOrder.LRU)), new ExpiryPolicy(86_400_000, 3_600_000),
            new StorePolicy(10_000, 0.9, 0.8, 600_000));

    private World() {}

    static BlockName block(int number) {
        return new BlockName("chat/1", key(number));
    }

    static Bytes key(int number) {
        return Bytes.ofHex("00000000000000%02x".formatted(number));
    }

    static MigrationOrder order(int... numbers) {
        List<BlockName> blocks = Arrays.stream(numbers).mapToObj(World::block).toList();
        return new MigrationOrder(MigrationMethod.COPY, Tier.HOST, Tier.DISK, Retention.DELETE_SOURCE, blocks, null, null, false);
    }

    static MigrationOrder sample() {
        return new MigrationOrder(MigrationMethod.MARK, Tier.HOST, Tier.DISK, Retention.UNKNOWN, List.of(), new SampleRule(5, 60_000, "chat"),
                9_000L, true);
    }

    /** Copies the first, marks the second, refuses the third of three. */
    static MigrationAnswer answer(List<BlockName> three) {
        return new MigrationAnswer(three.subList(0, 1), three.subList(1, 2), three.subList(2, 3), List.of(MigrationRefusal.NOT_FOUND));
    }

    static MigrationRow migration(MigrationState state, MigrationOrder order, PartRow... parts) {
        boolean ended = state == MigrationState.DONE || state == MigrationState.CANCELLED || state == MigrationState.REJECTED;
        return new MigrationRow(state, order, List.of(parts), TIME_MS, ended ? TIME_MS + 1 : 0, 0);
    }

    static PartRow part(String node, @Nullable MigrationAnswer answer) {
        return new PartRow(node, answer == null ? 0 : 1, answer, NOTHING);
    }

    static RowKey.Aggregate migrationKey(String id) {
        return new RowKey.Aggregate("migration/" + id);
    }

    static RowKey.Aggregate nodeKey(String node) {
        return new RowKey.Aggregate("node/" + node);
    }

    static RowKey.Mark markKey(String node, String namespace, int number) {
        return new RowKey.Mark("node/" + node, Namespaces.digest(namespace), key(number));
    }

    static MarkRow mark(String namespace) {
        MoveCause move = new MoveCause(MoveTrigger.OPERATOR, "m1", "", 0, 0, 3, Retention.UNKNOWN);
        return new MarkRow(Tier.DISK, namespace, MigrationMethod.COPY, TIME_MS + 1_000, MarkClearing.ON_WRITE, "op", move);
    }

    static NodeRow node(boolean alive, @Nullable SharesRow shares) {
        List<TierRow> tiers = List.of(
                new TierRow(Tier.HOST, 20, 100, 10, 2, false, 0, 1, -1), new TierRow(Tier.DISK, 50, 100, 0, 0, false, 0, 0, -1));
        return new NodeRow("p1", 2, alive, 1, 1, 0, Bytes.EMPTY, 0, List.of(new EngineRow("engine-0", 64)), tiers, null, shares, null, 0, false,
                0, 0);
    }

    /** The group has 8 blocks on the host, 2 of them leaving. */
    static SharesRow shares(boolean draining, String request, String... instances) {
        return new SharesRow(
                List.of(new GroupRow("chat", List.of(new GroupTierRow(Tier.HOST, 8, 2, true)))),
                List.of(new RouteRow("chat", Tier.HOST, Tier.DISK, 1, 2)), 3, 3, Bytes.EMPTY, draining, false, List.of(instances), request, 0,
                Bytes.EMPTY, 0, 0, 0, 0);
    }

    /** Clocks, the policy, and both nodes; a has the group, both tenants and an instance that drains. */
    static void begin(ScriptedController controller, int partitions) {
        for (int p = 0; p < partitions; p++) {
            controller.row(Rows.CLOCK, new RowKey.Aggregate(Partitions.clock(p)), new ClockRow(TIME_MS + p, 1, 1, 3, POLICY, 0, 0, 0, 0, 0, 0));
        }
        controller.row(Rows.POLICY, new RowKey.Aggregate("policy"), new PolicyRow(3, POLICY));
        controller.row(Rows.NODES, nodeKey("a"), node(true, shares(false, "", "engine-0")));
        controller.row(Rows.NODES, nodeKey("b"), node(true, null));
        namespace(controller, "a", "chat/1", 8);
        namespace(controller, "a", "batch/1", 2);
    }

    private static void namespace(ScriptedController controller, String node, String namespace, long blocks) {
        controller.row(Rows.NAMESPACES, new RowKey.Namespace("node/" + node, Namespaces.digest(namespace)),
                new NamespaceRow(namespace, 2, List.of(new NamespaceTierRow(Tier.HOST, blocks)), 0));
    }
}
