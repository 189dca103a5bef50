/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.directory.api;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.tierlog.controller.directory.index.KeyWords;
import io.tierlog.controller.directory.query.Freshness;
import io.tierlog.controller.http.HttpRequest;
import io.tierlog.controller.http.HttpResponse;
import io.tierlog.controller.http.JsonBody;
import io.tierlog.controller.http.PackedKeys;
import io.tierlog.controller.http.Route;
import io.tierlog.schemas.Tier;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The query half of the field's indexer interface, in two forms: of Mooncake RFC 1403, which names a "model" and answers by tenant and instance,
 * and of Dynamo's standalone indexer, which names a "model_name" and answers by instance and rank. An instance is a node here, or the instance of an
 * engine that publishes events. How old an answer is stands in headers, since the body has no place for it. Safe for use by several threads.
 */
final class QueryRoutes {
    private static final int MOST_TOKENS = 1_000_000;

    private final LookupQueries questions;
    private final Models models;
    private final QueryNamespaces namespaces;

    QueryRoutes(LookupQueries questions, Models models, QueryNamespaces namespaces) {
        this.questions = questions;
        this.models = models;
        this.namespaces = namespaces;
    }

    List<Route> all() {
        return List.of(Route.ask("/query", this::byTokens), Route.ask("/query_by_hash", this::byHashes));
    }

    /** The fields of both queries. */
    private record Query(boolean byRank, String model, String tenant, Optional<String> instance, String namespace, int blockTokens) {
        static Query of(JsonBody body, Models models, QueryNamespaces namespaces) {
            boolean byRank = body.has("model_name") && !body.has("model");
            String field = byRank ? "model_name" : "model";
            String model = body.text(field, BlockChain.NAMESPACE).orElse("");
            Optional<String> instance = NodeNames.in(body, "instance_id");
            long blockTokens = body.integer("block_size", 1, Indexer.MOST_BLOCK_TOKENS).orElse(0);
            if (!body.has("block_size") && byRank) {
                blockTokens = models.blockTokens(model);
            } else if (!body.has("block_size")) {
                body.finding("block_size", "is missing");
            }
            String tenant = QueryNamespaces.tenant(body);
            return new Query(byRank, model, tenant, instance, namespaces.of(body, field, tenant), (int) blockTokens);
        }
    }

    private HttpResponse byHashes(HttpRequest ask) {
        JsonBody body = ask.body();
        Query query = Query.of(body, models, namespaces);
        String field = body.has("block_hash") && !body.has("seq_hashes") ? "block_hash" : "seq_hashes";
        Optional<PackedKeys> keys = query.byRank() ? body.keys("block_hashes", questions.most(), KeyWords.LEAST, KeyWords.MOST)
                : body.keys(field, questions.most(), KeyWords.LEAST, KeyWords.MOST);
        body.done();
        return answer(ask, query, keys.orElseThrow());
    }

    private HttpResponse byTokens(HttpRequest ask) {
        JsonBody body = ask.body();
        Query query = Query.of(body, models, namespaces);
        Optional<long[]> tokens = body.integers("token_ids", MOST_TOKENS);
        for (String more : List.of("lora_name", "cache_salt")) {
            // Engines hash these too, each in its own way.
            if (!body.text(more, BlockChain.NAMESPACE).orElse("").isEmpty()) {
                body.finding(more, "is not supported by the token hash here; use /query_by_hash");
            }
        }
        tokens.filter(all -> query.blockTokens() > 0 && all.length / query.blockTokens() > questions.most()).ifPresent(all ->
                body.finding("token_ids", "has " + all.length / query.blockTokens() + " blocks, more than " + questions.most()));
        body.done();
        PackedKeys keys = models.hasher(query.model()).keys(tokens.orElseThrow(), query.blockTokens());
        // Less than one block is nowhere, and a valid query.
        return answer(ask, query, keys.bytes().length == 0 ? keys : questions.packed(keys.bytes(), keys.width()));
    }

    private HttpResponse answer(HttpRequest ask, Query query, PackedKeys keys) {
        Lookup lookup = questions.lookup(ask.caller(), new BlockChain(query.namespace(), keys, 0), Optional.empty());
        ObjectNode json = query.byRank() ? byRank(lookup, query) : byTenant(lookup, query);
        Freshness freshness = lookup.freshness();
        return new HttpResponse(200, json, Map.of(
                "Tierlog-Stale", String.valueOf(freshness.stale()),
                "Tierlog-Behind-Records", String.valueOf(freshness.behindRecords()),
                "Tierlog-As-Of-Ms", String.valueOf(freshness.asOfMs()),
                "Tierlog-Unknown-From", String.valueOf(lookup.unknownFrom())));
    }

    private static ObjectNode byTenant(Lookup lookup, Query query) {
        ObjectNode json = JsonNodeFactory.instance.objectNode();
        ObjectNode tenant = json.putObject(query.tenant());
        for (Lookup.NodePrefix node : lookup.nodes()) {
            if (query.instance().isEmpty() || query.instance().get().equals(node.node())) {
                tenant.putObject(node.node())
                        .put("longest_matched", tokens(node.blocks(), query))
                        .put("GPU", tokens(node.tiers().getOrDefault(Tier.DEVICE, 0), query))
                        .put("CPU", tokens(node.tiers().getOrDefault(Tier.HOST, 0), query))
                        .put("DISK", tokens(node.tiers().getOrDefault(Tier.DISK, 0), query))
                        .put("STORE", tokens(Math.max(lookup.storeBlocks(), node.tiers().getOrDefault(Tier.STORE, 0)), query));
            }
        }
        return json;
    }

    /** Matched tokens of each instance and rank, and how many have each block. How much an instance has in all is not known here. */
    private static ObjectNode byRank(Lookup lookup, Query query) {
        ObjectNode json = JsonNodeFactory.instance.objectNode();
        ObjectNode scores = json.putObject("scores");
        for (Lookup.NodePrefix node : lookup.nodes()) {
            Instance instance = Instance.of(node.node());
            scores.withObjectProperty(instance.name()).put(String.valueOf(instance.rank().orElse(0)), tokens(node.blocks(), query));
        }
        ArrayNode frequencies = json.putArray("frequencies");
        int longest = lookup.nodes().stream().mapToInt(Lookup.NodePrefix::blocks).max().orElse(0);
        for (int block = 0; block < longest; block++) {
            int number = block;
            frequencies.add(lookup.nodes().stream().filter(node -> node.blocks() > number).count());
        }
        json.putObject("tree_sizes");
        return json;
    }

    private static long tokens(int blocks, Query query) {
        return (long) blocks * query.blockTokens();
    }
}
