/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.simulation.scenario;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.tierlog.agent.core.api.AgentCounter;
import io.tierlog.controller.core.api.DecideResult;
import io.tierlog.controller.core.table.HeapTables;
import io.tierlog.controller.core.table.RowKey;
import io.tierlog.controller.core.table.Rows;
import io.tierlog.ops.simulation.engine.Engine;
import io.tierlog.ops.simulation.engine.Oracle;
import io.tierlog.ops.simulation.engine.Prompt;
import io.tierlog.ops.simulation.hardware.Medium;
import io.tierlog.ops.simulation.world.AgentProcess;
import io.tierlog.ops.simulation.world.DirectoryModel;
import io.tierlog.ops.simulation.world.SimNode;
import io.tierlog.ops.simulation.world.World;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.TierUsage;
import io.tierlog.schemas.decision.AgentRefused;
import io.tierlog.schemas.decision.Fact;
import io.tierlog.schemas.decision.PolicyRefused;
import io.tierlog.schemas.decision.PolicyVersioned;
import io.tierlog.schemas.event.Event;
import io.tierlog.schemas.event.PolicyChangeRequested;
import io.tierlog.schemas.state.NodeRow;
import io.tierlog.schemas.state.PlacementRow;
import io.tierlog.schemas.state.PlacementState;
import io.tierlog.schemas.state.PolicyRow;
import io.tierlog.schemas.state.PromotionsRow;
import io.tierlog.schemas.state.RequestRow;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** What a scenario may look at, as JSON. For one thread. */
final class View implements World.Watcher {
    private final World world;
    private final WorldSpec spec;
    private final OperationBook operations;
    private final FactBook facts;
    private final MigrationView migrations;
    private final ProbeBook probes;
    private final DirectoryModel directory;
    private final Map<String, SimNode> homes = new LinkedHashMap<>();
    private final Map<String, ObjectNode> outcomes = new LinkedHashMap<>();
    /** Policies whose outcome is not known, by the number of their event. */
    private final Map<Long, String> policies = new LinkedHashMap<>();

    /** What is written down beside operations. */
    record Books(FactBook facts, MigrationView migrations, ProbeBook probes, DirectoryModel directory) {}

    View(World world, WorldSpec spec, OperationBook operations, Books books) {
        this.world = world;
        this.spec = spec;
        this.operations = operations;
        this.facts = books.facts();
        this.migrations = books.migrations();
        this.probes = books.probes();
        this.directory = books.directory();
    }

    /** A request was submitted to that node. */
    void submitted(String request, SimNode node) {
        homes.put(request, node);
    }

    /** The node of a request. */
    SimNode home(String request) {
        SimNode home = homes.get(request);
        if (home == null) {
            throw new IllegalStateException("no such request: " + request);
        }
        return home;
    }

    /** A policy was asked for by the event of that number: what is decided about it first is what became of it. */
    void policyAsked(String id, long number) {
        policies.put(number, id);
        outcomes.remove(id);
    }

    /** The version of the policy that was given last; 0 before the first. */
    long policyVersion() {
        PolicyRow row = world.state().get(Rows.POLICY, new RowKey.Aggregate("policy"));
        return row == null ? 0 : row.version();
    }

    @Override
    public void decided(int partition, long offset, Event event, DecideResult decided) {
        for (Fact fact : decided.facts()) {
            String id = event instanceof PolicyChangeRequested asked ? policies.get(asked.envelope().sequence()) : null;
            if (id != null && fact instanceof PolicyVersioned versioned) {
                outcome(id).put("accepted", 1).put("rejected", 0).put("version", versioned.version());
                policies.remove(event.envelope().sequence());
            } else if (id != null && fact instanceof PolicyRefused refused) {
                outcome(id).put("accepted", 0).put("rejected", 1).put("reason", refused.reason().name());
                policies.remove(event.envelope().sequence());
            } else if (fact instanceof AgentRefused refused) {
                outcome("process of " + refused.node()).put("accepted", 0).put("rejected", 1).put("reason", refused.reason().name());
            }
        }
    }

    /** What became of something that was given a name. */
    ObjectNode outcome(String id) {
        return outcomes.computeIfAbsent(id, any -> JsonNodeFactory.instance.objectNode());
    }

    /** Everything there is to compare with. */
    ObjectNode all() {
        ObjectNode all = of(ScenarioFile.SHOWN);
        all.set("counters", counters(true));
        all.set(Expectation.CHANGED, operations.changed());
        return all;
    }

    ObjectNode of(Iterable<String> what) {
        ObjectNode shown = JsonNodeFactory.instance.objectNode();
        for (String name : what) {
            switch (name) {
                case "requests" -> shown.set(name, requests());
                case "free" -> shown.set(name, free());
                case "placements" -> shown.set(name, placements());
                case "operations" -> shown.set(name, operations.issued());
                case "leases" -> shown.put(name, leases());
                case "pins" -> shown.put(name, pins());
                case "store" -> shown.set(name, store());
                case "outcomes" -> shown.set(name, outcomes());
                case "counters" -> shown.set(name, counters(false));
                case "marks" -> shown.set(name, migrations.marks());
                case "migrations" -> shown.set(name, migrations.migrations());
                case "moves" -> shown.set(name, facts.moves());
                case "log" -> shown.set(name, facts.log());
                case "beliefs" -> shown.set(name, beliefs());
                default -> throw new IllegalArgumentException("cannot show " + name);
            }
        }
        return shown;
    }

    private ObjectNode requests() {
        ObjectNode all = JsonNodeFactory.instance.objectNode();
        HeapTables state = world.state();
        new TreeMap<>(homes).forEach((request, node) -> {
            Engine.View view = node.engine().view(request);
            if (view != null) {
                RequestRow row = state.get(Rows.REQUESTS, new RowKey.Text(node.aggregate(), request));
                boolean same = row != null && row.attempt() == view.attempt();
                all.putObject(request)
                        .put("state", state(view, same ? row : null))
                        .put("prefix_tokens", view.prefixTokens())
                        .put("computed_tokens", view.computedTokens())
                        .put("attempt", view.attempt())
                        .put("reason", view.reason())
                        .put("node", node.name())
                        .put("pages", view.pages())
                        .put("log_state", row == null ? "NONE" : row.state().name());
            }
        });
        return all;
    }

    /** In the words of the log: what the engine waits for is known there. */
    private static String state(Engine.View view, @Nullable RequestRow row) {
        return switch (view.state()) {
            case "ASKING" -> row == null ? "SUBMITTED" : row.state().name();
            case "LOADING", "QUEUED" -> view.reason().equals("FETCHED") ? "PREFETCH_DONE" : "SUBMITTED";
            default -> view.state();
        };
    }

    private ObjectNode free() {
        ObjectNode all = JsonNodeFactory.instance.objectNode();
        for (SimNode node : world.nodes()) {
            ObjectNode free = all.putObject(node.name()).put("DEVICE", node.engine().freePages());
            AgentProcess process = node.process();
            if (process != null) {
                for (TierUsage use : process.status().usage()) {
                    free.put(use.tier().name(), use.freeBlocks());
                }
            }
        }
        return all;
    }

    private ArrayNode placements() {
        TreeMap<String, ObjectNode> sorted = new TreeMap<>();
        HeapTables state = world.state();
        state.rows(Rows.PLACEMENTS).forEach((key, row) -> {
            NodeRow node = state.get(Rows.NODES, new RowKey.Aggregate(key.aggregate()));
            if (node != null && counts(node, key, row)) {
                String namespace = namespace(state, key);
                ObjectNode one = place(namespace, row.index(), key.block(), key.tier()).put("state", state(row));
                one.put("node", key.aggregate().substring(key.aggregate().indexOf('/') + 1));
                sorted.put(key.tier() + "/" + key.aggregate() + "/" + namespace + "/" + row.index() + "/" + key.block(), one);
            }
        });
        for (Medium.Held one : world.store().all()) {
            ObjectNode place = place(one.namespace(), one.block().index(), one.block().key(), Tier.STORE).put("state", "SERVING");
            place.remove("index");
            sorted.put(Tier.STORE + "/" + one.namespace() + "/" + one.block().key(), place);
        }
        ArrayNode all = JsonNodeFactory.instance.arrayNode();
        sorted.values().forEach(all::add);
        return all;
    }

    /** A block that is being copied elsewhere serves. */
    private static String state(PlacementRow row) {
        return (row.state() == PlacementState.COPYING || row.state() == PlacementState.COPYING_KEEP ? PlacementState.SERVING : row.state()).name();
    }

    private static boolean counts(NodeRow node, RowKey.Placement key, PlacementRow row) {
        boolean ofThisIncarnation = node.alive() && row.incarnation() == node.incarnation()
                && (key.tier() != Tier.DEVICE || row.epoch() == node.engineEpoch());
        return ofThisIncarnation && row.state() != PlacementState.ABSENT;
    }

    private static String namespace(HeapTables state, RowKey.Placement key) {
        var row = state.get(Rows.NAMESPACES, new RowKey.Namespace(key.aggregate(), key.namespace()));
        return row == null ? key.namespace().hex() : row.namespace();
    }

    private static ObjectNode place(String namespace, int index, Bytes key, Tier tier) {
        return JsonNodeFactory.instance.objectNode()
                .put("namespace", namespace)
                .put("key", key.hex())
                .put("index", index)
                .put("tier", tier.name());
    }

    /** The expectation with blocks as {@link #placements} names them: by namespace and key. */
    JsonNode normal(JsonNode expected) {
        ObjectNode normal = expected.deepCopy();
        for (String list : Set.of("placements", "absent", "marks", "beliefs")) {
            normal.path(list).forEach(one -> {
                if (one instanceof ObjectNode place && (place.has("tokens") || place.has("name"))) {
                    String namespace = place.path("namespace").asText("m");
                    int index = place.path("index").asInt(0);
                    Prompt prompt = place.has("name")
                            ? Prompt.named(namespace, spec.blockTokens(), place.get("name").asText())
                            : Prompt.of(namespace, spec.blockTokens(), tokens(place));
                    place.remove(List.of("tokens", "name"));
                    place.put("namespace", namespace);
                    place.put("key", index < prompt.keys().size() ? prompt.keys().get(index).hex() : "there is no such block");
                    if (list.equals("marks") || list.equals("beliefs") || place.path("tier").asText().equals(Tier.STORE.name())) {
                        place.remove("index");
                    }
                }
            });
        }
        return normal;
    }

    private static int[] tokens(JsonNode place) {
        JsonNode list = place.get("tokens");
        int[] tokens = new int[list.size()];
        for (int i = 0; i < tokens.length; i++) {
            tokens[i] = list.get(i).asInt();
        }
        return tokens;
    }

    /** Leases that the log knows, and reservations that engines have. */
    private long leases() {
        HeapTables state = world.state();
        long known = state.rows(Rows.LEASES).entrySet().stream().filter(entry -> {
            NodeRow node = state.get(Rows.NODES, new RowKey.Aggregate(entry.getKey().aggregate()));
            return node != null && node.alive() && node.incarnation() == entry.getValue().incarnation();
        }).count();
        return known + world.nodes().stream().mapToLong(node -> node.engine().reservations()).sum();
    }

    private long pins() {
        long pins = 0;
        for (SimNode node : world.nodes()) {
            AgentProcess process = node.process();
            if (process != null) {
                pins += process.status().devicePins();
                pins += process.status().usage().stream().mapToLong(TierUsage::pinCount).sum();
            }
        }
        return pins;
    }

    /** For each block that log or directory takes to be in the store, or that is there: which of them believes it, and whether the store holds it. */
    private ArrayNode beliefs() {
        HeapTables state = world.state();
        TreeMap<String, ObjectNode> sorted = new TreeMap<>();
        state.rows(Rows.PLACEMENTS).forEach((key, row) -> {
            if (row.stored() || (key.tier() == Tier.STORE && row.state() == PlacementState.SERVING)) {
                belief(sorted, namespace(state, key), key.block()).put("log", true);
            }
        });
        directory.inStore((namespace, key) -> belief(sorted, namespace, key).put("directory", true));
        world.store().all().forEach(one -> belief(sorted, one.namespace(), one.block().key()).put("medium", true));
        ArrayNode all = JsonNodeFactory.instance.arrayNode();
        sorted.values().forEach(all::add);
        return all;
    }

    private static ObjectNode belief(Map<String, ObjectNode> sorted, String namespace, Bytes key) {
        return sorted.computeIfAbsent(namespace + "/" + key, any -> JsonNodeFactory.instance.objectNode()
                .put("namespace", namespace).put("key", key.hex()).put("log", false).put("directory", false).put("medium", false));
    }

    private ArrayNode store() {
        TreeMap<String, ObjectNode> sorted = new TreeMap<>();
        Oracle oracle = world.oracle();
        world.store().all().forEach(one -> sorted.put(one.namespace() + "/" + one.block().key(), JsonNodeFactory.instance
                .objectNode()
                .put("namespace", one.namespace())
                .put("key", one.block().key().hex())
                .put("right", oracle.isRight(one.namespace(), one.block().key(), one.bytes()))));
        ArrayNode all = JsonNodeFactory.instance.arrayNode();
        sorted.values().forEach(all::add);
        return all;
    }

    private ObjectNode outcomes() {
        ObjectNode all = JsonNodeFactory.instance.objectNode();
        TreeMap<String, ObjectNode> sorted = new TreeMap<>(outcomes);
        outcomes.forEach((id, outcome) -> {
            if (outcome.has("probes")) {
                outcome.set("replies", probes.replies(id));
            }
        });
        sorted.putAll(migrations.outcomes());
        for (SimNode node : world.nodes()) {
            node.engine().outcomes().forEach((id, what) -> sorted.put(id, answerOf(what)));
        }
        sorted.forEach(all::set);
        return all;
    }

    /** An answer block by block: how many are there, how many are not, and the answer for each. */
    private static ObjectNode answerOf(String what) {
        ObjectNode outcome = JsonNodeFactory.instance.objectNode();
        ArrayNode blocks = JsonNodeFactory.instance.arrayNode();
        int accepted = 0;
        for (String one : what.split(",", -1)) {
            blocks.add(one);
            accepted += one.equals("COMPLETED") || one.equals("ALREADY_THERE") ? 1 : 0;
        }
        outcome.put("accepted", accepted).put("rejected", blocks.size() - accepted);
        outcome.set("blocks", blocks);
        return outcome;
    }

    private ObjectNode counters(boolean zeroes) {
        ObjectNode all = JsonNodeFactory.instance.objectNode();
        ObjectNode controller = facts.counters();
        List<PromotionsRow> promotions = world.state().rows(Rows.NODES).values().stream().map(NodeRow::promotions).filter(Objects::nonNull).toList();
        controller.put("PROMOTIONS_IN_FLIGHT", promotions.stream().mapToInt(PromotionsRow::operations).sum());
        controller.put("PROMOTIONS_QUEUED", promotions.stream().mapToLong(PromotionsRow::queuedBlocks).sum());
        all.set("controller", controller);
        for (SimNode node : world.nodes()) {
            AgentProcess process = node.process();
            if (process != null) {
                ObjectNode counters = all.putObject(node.name());
                for (AgentCounter counter : AgentCounter.values()) {
                    long count = process.status().count(counter);
                    if (zeroes || count > 0) {
                        counters.put(counter.name(), count);
                    }
                }
                counters.put("SHARD_READS", process.machine().shardReads());
            }
        }
        return all;
    }
}
