/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.engine;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.ToLongFunction;

/**
 * What a run gave.
 *
 * @param nodes numbers of each node
 * @param tenants numbers of each tenant
 * @param ideal what an infinite cache would have given, and what stood in the way
 * @param refusals calls that agents refused, by call and status
 * @param firstWrong the first block with wrong content: its key, page and offset
 * @param elapsedMs from the first request to the end of the last
 */
public record RunReport(
        List<Node> nodes, List<Tenant> tenants, Ideal ideal, Latencies latencies, Map<String, Long> refusals, Optional<String> firstWrong,
                long elapsedMs) {
    /**
     * Numbers of one node.
     *
     * @param requests requests served
     * @param rejected requests that need more device pages than there are
     * @param blockAccesses blocks of the prompts of served requests
     * @param wrongContent blocks that came with wrong content; they were computed again
     * @param resubmitted requests submitted again to a new session
     * @param lostSessions sessions lost
     */
    public record Node(
            String name,
            int requests,
            int rejected,
            long blockAccesses,
            Hits hits,
            long computedBlocks,
            long loadedBytes,
            long wrongContent,
            int resubmitted,
            int lostSessions,
            PoolEnd pool) {}

    /**
     * Numbers of one tenant.
     *
     * @param name its name
     * @param requests requests served
     * @param blockAccesses blocks of their prompts
     * @param hits where those that were reused came from
     */
    public record Tenant(String name, int requests, long blockAccesses, Hits hits) {
        /** Share of the accesses that were hits. */
        public double hitRatio() {
            return blockAccesses == 0 ? 0 : (double) hits.total() / blockAccesses;
        }
    }

    /** Device pages at the end of the run; {@code held} should be 0. */
    public record PoolEnd(int pages, int cached, int held) {}

    /**
     * What an infinite cache would have given.
     *
     * @param hits blocks that an infinite shared cache would have had, by prefix and in order of arrival
     * @param beyond hits it would not have had, since requests overtook each other
     * @param misses blocks missed up to it, by cause; {@code hits of the run + misses - beyond = hits}
     */
    public record Ideal(long hits, long beyond, Map<MissCause, Long> misses) {}

    /**
     * Times.
     *
     * @param submitToReady from submit to offer, all requests: one that was answered at once was ready at once
     * @param waited of those, the ones that had to wait
     * @param load loads
     * @param timeToFirstToken measured wait and load, and modelled prefill
     */
    public record Latencies(Latency submitToReady, Latency waited, Latency load, Latency timeToFirstToken) {}

    public RunReport {
        nodes = List.copyOf(nodes);
        tenants = List.copyOf(tenants);
        refusals = Map.copyOf(refusals);
    }

    /** Requests served. */
    public long requests() {
        return sum(Node::requests);
    }

    /** Requests rejected. */
    public long rejected() {
        return sum(Node::rejected);
    }

    /** Blocks of the prompts of served requests. */
    public long blockAccesses() {
        return sum(Node::blockAccesses);
    }

    /** Blocks that were computed. */
    public long computedBlocks() {
        return sum(Node::computedBlocks);
    }

    /** Blocks with wrong content. */
    public long wrongContent() {
        return sum(Node::wrongContent);
    }

    /** Bytes loaded. */
    public long loadedBytes() {
        return sum(Node::loadedBytes);
    }

    /** Blocks that were hits. */
    public Hits hits() {
        return nodes.stream().map(Node::hits).reduce(Hits.NONE, Hits::plus);
    }

    /** Share of the accesses that were hits. */
    public double hitRatio() {
        return blockAccesses() == 0 ? 0 : (double) hits().total() / blockAccesses();
    }

    /** Whether every access is a hit or computed, and every ideal hit a hit or a miss with a cause. */
    public boolean addsUp() {
        long misses = ideal.misses.values().stream().mapToLong(Long::longValue).sum();
        return hits().total() + computedBlocks() == blockAccesses() && hits().total() + misses - ideal.beyond == ideal.hits;
    }

    private long sum(ToLongFunction<Node> number) {
        return nodes.stream().mapToLong(number).sum();
    }

    /** The report as one JSON object, names in snake case. */
    public ObjectNode toJson() {
        ObjectNode json = JsonNodeFactory.instance.objectNode();
        json.put("requests", requests()).put("rejected", rejected()).put("block_accesses", blockAccesses());
        json.set("hits", json(hits()));
        json.put("computed_blocks", computedBlocks()).put("hit_ratio", hitRatio()).put("wrong_content", wrongContent());
        firstWrong.ifPresent(what -> json.put("first_wrong_content", what));
        json.put("ideal_hits", ideal.hits).put("hits_beyond_ideal", ideal.beyond);
        ObjectNode misses = json.putObject("misses");
        new TreeMap<>(ideal.misses).forEach((cause, count) -> misses.put(cause.label(), count));
        ObjectNode times = json.putObject("latency_ms");
        times.set("submit_to_ready", json(latencies.submitToReady));
        times.set("submit_to_ready_waited", json(latencies.waited));
        times.set("load", json(latencies.load));
        times.set("time_to_first_token", json(latencies.timeToFirstToken));
        json.put("loaded_bytes", loadedBytes()).put("elapsed_s", elapsedMs / 1_000.0);
        ObjectNode refused = json.putObject("refusals");
        new TreeMap<>(refusals).forEach(refused::put);
        ObjectNode perNode = json.putObject("nodes");
        nodes.forEach(node -> perNode.set(node.name, json(node)));
        ObjectNode perTenant = json.putObject("tenants");
        tenants.forEach(tenant -> perTenant
                .putObject(tenant.name)
                .put("requests", tenant.requests)
                .put("block_accesses", tenant.blockAccesses)
                .put("hit_ratio", tenant.hitRatio())
                .set("hits", json(tenant.hits)));
        return json;
    }

    private static ObjectNode json(Hits hits) {
        return JsonNodeFactory.instance
                .objectNode()
                .put("device", hits.device())
                .put("host", hits.host())
                .put("disk", hits.disk())
                .put("store", hits.store());
    }

    private static ObjectNode json(Latency latency) {
        return JsonNodeFactory.instance
                .objectNode()
                .put("count", latency.count())
                .put("p50", latency.p50())
                .put("p90", latency.p90())
                .put("p99", latency.p99())
                .put("max", latency.max());
    }

    private static ObjectNode json(Node node) {
        ObjectNode json = JsonNodeFactory.instance.objectNode();
        json.put("requests", node.requests).put("rejected", node.rejected).put("block_accesses", node.blockAccesses);
        json.set("hits", json(node.hits));
        return json.put("computed_blocks", node.computedBlocks)
                .put("loaded_bytes", node.loadedBytes)
                .put("wrong_content", node.wrongContent)
                .put("resubmitted", node.resubmitted)
                .put("lost_sessions", node.lostSessions)
                .put("device_pages", node.pool.pages)
                .put("device_pages_cached", node.pool.cached)
                .put("device_pages_held", node.pool.held);
    }
}
