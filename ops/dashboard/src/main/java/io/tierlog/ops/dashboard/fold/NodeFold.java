/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.dashboard.fold;

import io.tierlog.ops.dashboard.model.History;
import io.tierlog.ops.dashboard.model.NodeRow;
import io.tierlog.ops.dashboard.model.NodeRow.TierRow;
import io.tierlog.ops.dashboard.model.Removal;
import io.tierlog.schemas.RemovalReason;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.TierCapacity;
import io.tierlog.schemas.TierUsage;
import io.tierlog.schemas.decision.AgentAccepted;
import io.tierlog.schemas.decision.BlocksRemoved;
import io.tierlog.schemas.decision.EngineJoined;
import io.tierlog.schemas.decision.EngineLeft;
import io.tierlog.schemas.decision.Fact;
import io.tierlog.schemas.decision.NodeEnded;
import io.tierlog.schemas.decision.NodeExpired;
import io.tierlog.schemas.decision.NodeSeen;
import io.tierlog.schemas.decision.WaterLevelCrossed;
import io.tierlog.schemas.decision.WaterLevelRelieved;
import io.tierlog.schemas.event.AgentHeartbeat;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** The nodes of a partition: their tiers now and over time, and what left them. Not thread-safe. */
final class NodeFold {
    private static final char NODE = 'n';
    private static final char REMOVALS = 'l';
    private static final char HISTORY = 'h';

    private final FoldLimits limits;
    private final Recent<NodeRow> nodes;
    private final Recent<Removals> removals;
    private final Recent<History> histories;

    private record Removals(String node, List<Removal> last) {}

    NodeFold(FoldLimits limits, Rows rows) {
        this.limits = limits;
        nodes = new Recent<>(NODE, limits.nodes(), rows, NodeRow::node);
        removals = new Recent<>(REMOVALS, limits.nodes(), rows, Removals::node);
        histories = new Recent<>(HISTORY, limits.nodes() * limits.chunks(), rows, NodeFold::key);
    }

    void restore(Map<Character, List<byte[]>> kinds) {
        kinds.getOrDefault(NODE, List.of()).stream().map(value -> Rows.decoded(value, NodeRow.class))
                .sorted(Comparator.comparingLong(NodeRow::sinceMs)).forEach(nodes::restore);
        kinds.getOrDefault(REMOVALS, List.of()).forEach(value -> removals.restore(Rows.decoded(value, Removals.class)));
        kinds.getOrDefault(HISTORY, List.of()).stream().map(value -> Rows.decoded(value, History.class))
                .sorted(Comparator.comparingLong(History::atMs)).forEach(histories::restore);
    }

    void restore(NodeRow row) {
        nodes.restore(row);
    }

    private static String key(History history) {
        return key(history.node(), history.atMs());
    }

    private static String key(String node, long atMs) {
        return node + "\n" + atMs;
    }

    void heartbeat(AgentHeartbeat e) {
        nodes.change(PartitionFold.name(e.envelope().aggregate()), row -> row.beating(e.waitingRequests(), e.activeOperations()));
    }

    /** Applies a fact; true when a node was lost by it. */
    boolean fact(Fact fact, long atMs) {
        String node = PartitionFold.name(fact.envelope().aggregate());
        // Facts of other types do not concern nodes as a whole.
        switch (fact) {
            case AgentAccepted f -> change(node, row -> accepted(row, f, atMs));
            case NodeSeen f -> {
                change(node, row -> seen(row.seen(atMs), f.usage()));
                sample(node, atMs);
            }
            case NodeEnded f -> {
                NodeRow was = nodes.get(node);
                boolean lost = f.reason() == RemovalReason.NODE_LOST;
                if (was != null && was.incarnation() == f.endedIncarnation()) {
                    nodes.put(was.ended(lost ? NodeRow.LOST : "STOPPED", atMs));
                }
                return lost;
            }
            case NodeExpired _ -> forget(node);
            case EngineJoined f -> change(node, row -> row.instance(f.instance(), true));
            case EngineLeft f -> change(node, row -> row.instance(f.instance(), false));
            case WaterLevelCrossed f when f.group().isEmpty() && f.tier() != Tier.STORE ->
                change(node, row -> row.with(f.tier(), row.tier(f.tier()).above(atMs)));
            case WaterLevelRelieved f when f.group().isEmpty() && f.tier() != Tier.STORE ->
                change(node, row -> row.with(f.tier(), row.tier(f.tier()).above(0)));
            case BlocksRemoved f when fact.envelope().aggregate().startsWith("node/") ->
                removed(node, new Removal(atMs, f.tier(), f.namespace(), f.reason(), f.blocks().size(), f.lastCopiesLost()));
            default -> {}
        }
        return false;
    }

    private void change(String node, UnaryOperator<NodeRow> how) {
        NodeRow was = nodes.get(node);
        if (was != null || nodes.all().size() < limits.nodes() || forgotten()) {
            nodes.put(how.apply(was == null ? NodeRow.unknown(node) : was));
        }
    }

    /** Removes the node that is not up and whose last report is the oldest; false when all are up. */
    private boolean forgotten() {
        Optional<String> oldest = nodes.all().values().stream().filter(row -> !row.state().equals(NodeRow.UP))
                .min(Comparator.comparingLong(NodeRow::seenMs).thenComparing(NodeRow::node)).map(NodeRow::node);
        oldest.ifPresent(this::forget);
        return oldest.isPresent();
    }

    private void forget(String node) {
        nodes.remove(node);
        removals.remove(node);
        history(node).forEach(chunk -> histories.remove(key(chunk)));
    }

    private static NodeRow accepted(NodeRow row, AgentAccepted f, long atMs) {
        NodeRow now = new NodeRow(row.node(), f.newIncarnation(), NodeRow.UP, f.foreign(), atMs, atMs, 0, 0, row.instances(), Map.of(), 0);
        for (TierCapacity tier : f.tiers()) {
            now = now.with(tier.tier(), new TierRow(tier.capacityBlocks(), tier.blockBytes(), tier.capacityBlocks(), 0, 0, 0, 0, 0, 0));
        }
        return now;
    }

    private static NodeRow seen(NodeRow row, List<TierUsage> usage) {
        NodeRow now = row;
        for (TierUsage use : usage) {
            TierRow was = row.tier(use.tier());
            now = now.with(use.tier(), new TierRow(use.capacityBlocks(), was.blockBytes(), use.freeBlocks(), use.servingBlocks(),
                    use.reservedBlocks() + use.fillingBlocks(), use.leavingBlocks(), use.quarantinedBlocks(), use.pinCount(), was.aboveSinceMs()));
        }
        return now;
    }

    /** One sample for each window. */
    private void sample(String node, long atMs) {
        long begin = atMs - Math.floorMod(atMs, FoldLimits.CHUNK_MS);
        History chunk = histories.get(key(node, begin));
        List<long[]> samples = chunk == null ? new ArrayList<>() : chunk.samples();
        if (!samples.isEmpty() && atMs - samples.getLast()[0] < FoldLimits.WINDOW_MS) {
            return;
        }
        NodeRow row = nodes.get(node);
        if (row != null) {
            samples.add(new long[] {atMs, row.tier(Tier.DEVICE).used(), row.tier(Tier.HOST).used(), row.tier(Tier.DISK).used()});
            histories.put(new History(node, begin, samples));
            String old = key(node, begin - limits.chunks() * FoldLimits.CHUNK_MS);
            if (histories.get(old) != null) {
                histories.remove(old);
            }
        }
    }

    private void removed(String node, Removal removal) {
        if (nodes.get(node) == null) {
            return;
        }
        Removals was = removals.get(node);
        List<Removal> last = new ArrayList<>(was == null ? List.of() : was.last());
        last.add(removal);
        removals.put(new Removals(node, last.subList(Math.max(0, last.size() - limits.removals()), last.size())));
    }

    Map<String, NodeRow> all() {
        return nodes.all();
    }

    List<Removal> removals(String node) {
        @Nullable Removals row = removals.get(node);
        return row == null ? List.of() : row.last();
    }

    List<History> history(String node) {
        return histories.all().values().stream().filter(chunk -> chunk.node().equals(node)).sorted(Comparator.comparingLong(History::atMs)).toList();
    }
}
