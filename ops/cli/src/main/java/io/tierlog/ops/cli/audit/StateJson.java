/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.audit;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.tierlog.controller.core.policy.GroupQuotas;
import io.tierlog.controller.core.policy.Policies;
import io.tierlog.controller.core.state.NodeRows;
import io.tierlog.controller.core.state.ShareRows;
import io.tierlog.controller.core.table.HeapTables;
import io.tierlog.controller.core.table.RowKey;
import io.tierlog.controller.core.table.Rows;
import io.tierlog.events.Partitions;
import io.tierlog.ops.audit.state.LogState;
import io.tierlog.ops.audit.state.RowNames;
import io.tierlog.ops.policy.PolicyDocument;
import io.tierlog.schemas.GroupPolicy;
import io.tierlog.schemas.OperationState;
import io.tierlog.schemas.Policy;
import io.tierlog.schemas.RequestState;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.WireRecord;
import io.tierlog.schemas.state.ClockRow;
import io.tierlog.schemas.state.GroupTierRow;
import io.tierlog.schemas.state.NodeRow;
import io.tierlog.schemas.state.PlacementRow;
import io.tierlog.schemas.state.PlacementState;
import io.tierlog.schemas.state.SharesRow;
import io.tierlog.schemas.state.TierRow;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/** The tables of a log at a moment as JSON: one list of rows for each kind, which the text output prints as tables. For one thread. */
final class StateJson {
    private final String aggregate;
    private final boolean blocks;
    private final ObjectNode json = new ObjectMapper().createObjectNode();

    /**
     * @param node the only node to show; empty for all nodes and the store
     * @param blocks whether each placement is listed
     */
    StateJson(Optional<String> node, boolean blocks) {
        this.aggregate = node.map(name -> "node/" + name).orElse("");
        this.blocks = blocks;
        for (String list : List.of("partitions", "nodes", "tiers", "quotas", "pins", "leases", "peer_leases", "operations", "requests", "marks",
                "promotions", "migrations", "policies")) {
            json.putArray(list);
        }
        if (blocks) {
            json.putArray("blocks");
        }
    }

    /** All of a state. */
    ObjectNode of(LogState state) {
        state.partitions().forEach(this::add);
        json.properties().forEach(list -> sort(list.getValue()));
        return json;
    }

    /** By node, the store last; within a node the rows stay in the order of their keys. */
    private static void sort(JsonNode list) {
        List<JsonNode> rows = new ArrayList<>();
        list.forEach(rows::add);
        rows.sort(Comparator.comparing((JsonNode row) -> row.path("node").asText().startsWith("store/"))
                .thenComparing(row -> row.path("node").asText()));
        ((ArrayNode) list).removeAll().addAll(rows);
    }

    /** Where a partition stands. */
    static ObjectNode at(ObjectNode row, LogState.At at) {
        return row.put("partition", at.partition()).put("decision", at.offset()).put("appended_ms", at.timeMs());
    }

    private void add(LogState.Partition partition) {
        HeapTables t = partition.tables();
        RowNames names = new RowNames(t);
        ClockRow clock = t.get(Rows.CLOCK, new RowKey.Aggregate(Partitions.clock(partition.at().partition())));
        ObjectNode row = at(list("partitions").addObject(), partition.at());
        row.put("log_time_ms", clock == null ? 0 : clock.logTimeMs()).put("ticks", clock == null ? 0 : clock.ticks());
        row.put("policy_version", clock == null ? 0 : clock.policyVersion()).put("core_version", clock == null ? 0 : clock.coreVersion());
        Policy policy = clock == null ? Policies.INITIAL : clock.policy();
        if (clock != null) {
            policy(clock);
        }
        each(t.rows(Rows.NODES), (key, node) -> node(key.aggregate(), node, policy));
        placements(t, names);
        each(t.rows(Rows.LEASES), (key, lease) -> list("leases").addObject()
                .put("node", name(key.aggregate())).put("lease", key.id()).put("state", lower(lease.state()))
                .put("request", lease.request()).put("attempt", lease.attempt()).put("operation", lease.operation())
                .put("runs", lease.deepest().size()).put("end_ms", lease.endMs()));
        each(t.rows(Rows.GRANTS), (key, grant) -> {
            if (grant.endedMs() == 0) {
                list("peer_leases").addObject().put("node", name(key.aggregate())).put("lease", key.id()).put("reader", grant.asker())
                        .put("namespace", grant.namespace()).put("blocks", grant.blocks().size()).put("end_ms", grant.endMs());
            }
        });
        each(t.rows(Rows.OPERATIONS), (key, operation) -> {
            if (operation.state() == OperationState.ISSUED || operation.state() == OperationState.OVERDUE) {
                list("operations").addObject().put("node", name(key.aggregate())).put("operation", key.id())
                        .put("kind", lower(operation.kind())).put("state", lower(operation.state()))
                        .put("from", tier(operation.from())).put("to", tier(operation.to())).put("blocks", operation.blockCount())
                        .put("request", operation.request()).put("deadline_ms", operation.deadlineMs());
            }
        });
        each(t.rows(Rows.REQUESTS), (key, request) -> {
            if (!isOver(request.state())) {
                list("requests").addObject().put("node", name(key.aggregate())).put("request", key.id()).put("attempt", request.attempt())
                        .put("state", lower(request.state())).put("namespace", request.namespace()).put("lease", request.lease());
            }
        });
        each(t.rows(Rows.MARKS), (key, mark) -> list("marks").addObject().put("node", name(key.aggregate())).put("namespace", mark.namespace())
                .put("key", key.block().hex()).put("to", tier(mark.target())).put("end_ms", mark.endMs()));
        each(t.rows(Rows.PROMOTIONS), (key, promotion) -> {
            if (promotion.untilMs() == 0) {
                list("promotions").addObject().put("node", name(key.aggregate())).put("namespace", names.namespace(key.namespace()))
                        .put("key", key.block().hex()).put("operation", promotion.operation());
            }
        });
        each(t.rows(Rows.MIGRATIONS), (key, migration) -> {
            if (aggregate.isEmpty()) {
                list("migrations").addObject().put("migration", name(key.aggregate())).put("state", lower(migration.state()))
                        .put("nodes", migration.parts().size()).put("requested_ms", migration.askedMs()).put("ended_ms", migration.endedMs());
            }
        });
    }

    private void policy(ClockRow clock) {
        for (JsonNode known : list("policies")) {
            if (known.path("version").asLong() == clock.policyVersion()) {
                return;
            }
        }
        list("policies").addObject().put("version", clock.policyVersion())
                .set("policy", new ObjectMapper().valueToTree(PolicyDocument.fields(clock.policy())));
    }

    private void node(String of, NodeRow node, Policy policy) {
        String name = name(of);
        SharesRow shares = ShareRows.orNothing(node.shares());
        list("nodes").addObject().put("node", name).put("state", node.alive() ? shares.drained() ? "drained" : shares.draining() ? "drains" : "serves"
                : "gone").put("incarnation", node.incarnation()).put("process", node.processId()).put("engines", node.engines().size())
                .put("last_event", node.lastSequence()).put("last_command", node.commandSequence());
        for (GroupPolicy group : Policies.migration(policy).groups()) {
            for (TierRow tier : node.tiers()) {
                Long quota = GroupQuotas.quotaBytes(policy, group.name(), tier.tier());
                GroupTierRow use = ShareRows.use(shares, group.name(), tier.tier());
                if (quota != null || use.usedBlocks() > 0) {
                    list("quotas").addObject().put("node", name).put("group", group.name()).put("tier", tier(tier.tier()))
                            .put("used_blocks", use.usedBlocks()).put("leaving_blocks", use.leavingBlocks())
                            .put("used_bytes", use.usedBlocks() * tier.blockBytes()).put("quota_bytes", quota).put("in_relief", use.inRelief());
                }
            }
        }
    }

    /** What a tier holds, by the state of its placements. */
    private static final class Held {
        private final Map<PlacementState, Long> states = new EnumMap<>(PlacementState.class);
        private long pinned;

        private void add(PlacementRow row) {
            states.merge(row.state(), 1L, Long::sum);
            pinned += row.holds() > 0 ? 1 : 0;
        }

        private long of(PlacementState... those) {
            long sum = 0;
            for (PlacementState state : those) {
                sum += states.getOrDefault(state, 0L);
            }
            return sum;
        }
    }

    private record HeldBy(String aggregate, Tier tier, String namespace) implements Comparable<HeldBy> {
        private static final Comparator<HeldBy> ORDER =
                Comparator.comparing(HeldBy::aggregate).thenComparing(HeldBy::tier).thenComparing(HeldBy::namespace);

        @Override
        public int compareTo(HeldBy that) {
            return ORDER.compare(this, that);
        }
    }

    private void placements(HeapTables t, RowNames names) {
        Map<HeldBy, Held> held = new TreeMap<>();
        each(t.rows(Rows.NODES), (key, node) -> node.tiers().forEach(tier -> held.put(new HeldBy(key.aggregate(), tier.tier(), ""), new Held())));
        each(t.rows(Rows.PLACEMENTS), (key, row) -> {
            NodeRow node = t.get(Rows.NODES, new RowKey.Aggregate(key.aggregate()));
            boolean counts = row.state() != PlacementState.ABSENT && (node == null || NodeRows.isCurrent(node, key.tier(), row));
            if (counts) {
                String namespace = names.namespace(key.namespace());
                held.computeIfAbsent(new HeldBy(key.aggregate(), key.tier(), ""), place -> new Held()).add(row);
                held.computeIfAbsent(new HeldBy(key.aggregate(), key.tier(), namespace), place -> new Held()).add(row);
                if (row.holds() > 0) {
                    list("pins").addObject().put("node", name(key.aggregate())).put("tier", tier(key.tier())).put("namespace", namespace)
                            .put("key", key.block().hex()).put("holds", row.holds()).put("operation", row.operation());
                }
                if (blocks) {
                    list("blocks").addObject().put("node", name(key.aggregate())).put("tier", tier(key.tier())).put("namespace", namespace)
                            .put("key", key.block().hex()).put("index", row.index()).put("parent", row.parent().hex())
                            .put("state", lower(row.state())).put("page", row.page()).put("generation", row.generation())
                            .put("used_ms", row.usedMs()).put("in_store", row.stored()).put("operation", row.operation());
                }
            }
        });
        held.forEach((place, counts) -> {
            TierRow row = tierRow(t.get(Rows.NODES, new RowKey.Aggregate(place.aggregate())), place);
            list("tiers").addObject().put("node", name(place.aggregate())).put("tier", tier(place.tier()))
                    .put("namespace", place.namespace().isEmpty() ? "(all)" : place.namespace())
                    .put("capacity_blocks", row == null ? null : Long.valueOf(row.capacityBlocks()))
                    .put("serving", counts.of(PlacementState.SERVING, PlacementState.COPYING, PlacementState.COPYING_KEEP))
                    .put("writing", counts.of(PlacementState.WRITING)).put("leaving", counts.of(PlacementState.LEAVING, PlacementState.COPYING))
                    .put("pinned", counts.pinned).put("evicting", row == null ? null : Boolean.valueOf(row.inRelief()));
        });
    }

    private static @Nullable TierRow tierRow(@Nullable NodeRow node, HeldBy place) {
        return node == null || !place.namespace().isEmpty() ? null : NodeRows.tier(node, place.tier());
    }

    private static boolean isOver(RequestState state) {
        return switch (state) {
            case FINISHED, CANCELLED, REJECTED -> true;
            case UNKNOWN, SUBMITTED, PREFETCHING, PREFETCH_DONE, PREFILLING, DECODING -> false;
        };
    }

    private ArrayNode list(String name) {
        return json.withArray(name);
    }

    /** The rows that are wanted, in the order of their keys. */
    private <K extends RowKey<K>, V extends WireRecord> void each(Map<K, V> rows, BiConsumer<K, V> sink) {
        rows.entrySet().stream()
                .filter(entry -> aggregate.isEmpty() || entry.getKey().aggregate().equals(aggregate))
                .sorted((a, b) -> a.getKey().order(b.getKey()))
                .forEach(entry -> sink.accept(entry.getKey(), entry.getValue()));
    }

    private static String name(String of) {
        return of.startsWith("store/") ? of : of.substring(of.indexOf('/') + 1);
    }

    private static String tier(Tier tier) {
        return tier == Tier.UNKNOWN ? "" : lower(tier);
    }

    private static String lower(Enum<?> value) {
        return SummaryText.words(value);
    }
}
