/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.simulation.scenario;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.tierlog.agent.core.api.AgentLimits;
import io.tierlog.agent.core.engine.EngineCallChecks;
import io.tierlog.controller.core.api.Limits;
import io.tierlog.ops.policy.Finding;
import io.tierlog.ops.policy.PolicyDocument;
import io.tierlog.ops.policy.Reading;
import io.tierlog.ops.simulation.engine.Engine;
import io.tierlog.ops.simulation.world.SimNode;
import io.tierlog.ops.simulation.world.WorldSettings;
import io.tierlog.schemas.EvictionOrder;
import io.tierlog.schemas.Policy;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.TierBound;
import io.tierlog.schemas.WritePolicy;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The first line of a scenario. Everything has a default.
 *
 * @param seed mixed into the content of every block
 * @param commitEach whether the controller commits after each input
 * @param peers whether agents read from each other
 */
record WorldSpec(
        long seed, int blockTokens, int ranks, boolean replicated, int prefetchWaitMs, int storeBlocks, int storeShards, boolean commitEach,
        Policy policy, List<SimNode.Spec> nodes, Set<String> tenants, boolean peers) {
    private static final int MOST_BLOCKS = 1 << 20;
    private static final int LARGE = 1_000_000;
    private static final Limits LIMITS = Limits.of(1);

    static WorldSpec parse(int line, JsonNode node) {
        Fields f = new Fields(line, "the world", node);
        int blockTokens = f.count("block_tokens", 1, LARGE, 2);
        int ranks = f.count("ranks", 1, 64, 1);
        boolean replicated = f.flag("replicated", false);
        if (replicated && ranks < 2) {
            throw f.error("has \"replicated\" layers and one rank: replicated takes 2 ranks or more");
        }
        Engine.Config engine = new Engine.Config(
                1, 0, f.flag("device_retention", true), f.count("max_context", 1, Integer.MAX_VALUE, LARGE),
                f.count("kv_budget_blocks", 1, Integer.MAX_VALUE, LARGE), blockTokens, f.texts("adapters"),
                f.number("prefill_ns_per_token", 0, EngineCallChecks.MOST_PREFILL_NS, 0));
        int threshold = f.count("prefetch_threshold", 0, LARGE, 2);
        WritePolicy write = f.oneOf("write_policy", WritePolicy.class, WritePolicy.WRITE_BACK);
        if (write == WritePolicy.UNKNOWN) {
            throw f.error("wants a write_policy that is known");
        }
        JsonNode policyNode = f.get("policy");
        Policy policy = policyNode == null ? initial(threshold, write) : policy(line, policyNode, initial(threshold, write));
        List<SimNode.Spec> nodes = f.list("nodes", one -> node(new Fields(line, "a node", one), engine));
        JsonNode storeNode = f.get("store");
        Fields store = new Fields(line, "the store", storeNode == null ? JsonNodeFactory.instance.objectNode() : storeNode);
        int storeBlocks = store.count("blocks", 0, MOST_BLOCKS, 1_000);
        store.end();
        WorldSpec spec = new WorldSpec(
                f.number("seed", 0, Long.MAX_VALUE, 1), blockTokens, ranks, replicated, f.count("prefetch_wait_ms", 0, LARGE, 200),
                storeBlocks, f.count("store_shards", 1, 1_024, 1), f.oneOf("commit", Commit.class, Commit.SETTLE) == Commit.EACH, policy,
                nodes == null ? List.of(node(new Fields(line, "a node", defaultNode()), engine)) : nodes,
                new LinkedHashSet<>(f.texts("tenants")), f.flag("peers", false));
        f.end();
        if (spec.nodes.isEmpty()) {
            throw f.error("wants at least one node");
        }
        Set<String> names = new LinkedHashSet<>();
        for (SimNode.Spec one : spec.nodes) {
            if (!names.add(one.name())) {
                throw f.error("has two nodes " + one.name());
            }
        }
        return spec;
    }

    private enum Commit {
        SETTLE,
        EACH
    }

    private static ObjectNode defaultNode() {
        return JsonNodeFactory.instance.objectNode().put("id", "a");
    }

    private static SimNode.Spec node(Fields f, Engine.Config engine) {
        Engine.Config own = new Engine.Config(
                f.count("device_blocks", 1, MOST_BLOCKS, 31), engine.sparePages(), engine.retention(), engine.maxContext(),
                engine.kvBudgetBlocks(), engine.blockTokens(), engine.adapters(), engine.prefillNsPerToken());
        String id = f.text("id");
        if (!id.matches("[A-Za-z0-9._-]{1,64}")) {
            throw f.error("has an id of 1 to 64 letters, digits, dots, dashes or underscores, not " + id);
        }
        SimNode.Spec spec = new SimNode.Spec(id, f.count("host_blocks", 0, MOST_BLOCKS, 31), f.count("disk_blocks", 0, MOST_BLOCKS, 0), own);
        f.end();
        return spec;
    }

    /** No watermarks unless the scenario sets some, so that nothing leaves that it does not mention; and what leaves, leaves in the order of use. */
    private static Policy initial(int threshold, WritePolicy write) {
        return new Policy(threshold, write, 0, 0, 0, 0, true, 256, 30_000, 600_000, 10, true, null, null,
                List.of(new TierBound(Tier.HOST, 0, EvictionOrder.LRU), new TierBound(Tier.DISK, 0, EvictionOrder.LRU)), null);
    }

    /** A policy document, read as every other one: what it does not say stays as it was. */
    static Policy policy(int line, JsonNode document, Policy before) {
        return switch (PolicyDocument.read(document.toString(), before, LIMITS)) {
            case Reading.Valid(Policy policy) -> policy;
            case Reading.Unreadable(Finding finding) -> throw new ScenarioError(line, "the policy " + finding.reason());
            case Reading.Invalid(List<Finding> findings) -> throw new ScenarioError(line, "the policy: " + findings.stream()
                    .map(one -> (one.path().isEmpty() ? "" : one.path() + ": ") + one.reason()).collect(Collectors.joining("; ")));
        };
    }

    WorldSettings settings() {
        AgentLimits usual = AgentLimits.defaults();
        AgentLimits agent = new AgentLimits(
                new AgentLimits.Times(prefetchWaitMs, usual.times().writeBackWaitMs(), usual.times().writeBackPatienceMs(),
                        usual.times().heartbeatMs()),
                new AgentLimits.Units(LARGE, LARGE, LARGE, LARGE, LARGE), usual.bounds(), usual.disk(), usual.engines(), storeShards,
                usual.bounceBlocks());
        return new WorldSettings(seed, blockTokens, ranks, replicated, storeBlocks, policy, agent, LIMITS, LARGE, peers);
    }

    /** Every field with its default, as a first line. */
    static ObjectNode defaults() {
        ObjectNode world = JsonNodeFactory.instance.objectNode();
        world.put("seed", 1).put("block_tokens", 2).put("ranks", 1).put("replicated", false).put("prefetch_threshold", 2);
        world.put("write_policy", WritePolicy.WRITE_BACK.name().toLowerCase(Locale.ROOT)).put("device_retention", true);
        world.put("max_context", LARGE).put("kv_budget_blocks", LARGE).put("prefetch_wait_ms", 200).put("prefill_ns_per_token", 0);
        world.put("store_shards", 1).put("commit", "settle").put("peers", false);
        world.putArray("adapters");
        world.putArray("tenants");
        ArrayNode nodes = world.putArray("nodes");
        nodes.addObject().put("id", "a").put("device_blocks", 31).put("host_blocks", 31).put("disk_blocks", 0);
        world.putObject("store").put("blocks", 1_000);
        Map<String, Object> policy = PolicyDocument.fields(initial(2, WritePolicy.WRITE_BACK));
        // The world has these two, too: saying them twice would make one of them without effect.
        policy.keySet().removeAll(List.of("prefetch_threshold", "write_policy"));
        world.set("policy", new ObjectMapper().valueToTree(policy));
        ObjectNode line = JsonNodeFactory.instance.objectNode();
        line.set("world", world);
        return line;
    }

    /** The nodes, each with so many device pages that requests never use: blocks that are put on a host pass through them. */
    List<SimNode.Spec> nodes(int sparePages) {
        List<SimNode.Spec> all = new ArrayList<>();
        for (SimNode.Spec node : nodes) {
            Engine.Config e = node.engine();
            all.add(new SimNode.Spec(node.name(), node.hostBlocks(), node.diskBlocks(), new Engine.Config(
                    e.devicePages(), sparePages, e.retention(), e.maxContext(), e.kvBudgetBlocks(), e.blockTokens(), e.adapters(),
                    e.prefillNsPerToken())));
        }
        return all;
    }

    /** Every node as a list of names. */
    List<String> nodeNames() {
        List<String> names = new ArrayList<>();
        nodes.forEach(node -> names.add(node.name()));
        return names;
    }
}
