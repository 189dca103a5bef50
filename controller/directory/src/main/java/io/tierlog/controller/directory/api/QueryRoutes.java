/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.directory.api;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.tierlog.controller.directory.index.KeyWords;
import io.tierlog.controller.directory.streams.Freshness;
import io.tierlog.controller.http.HttpRequest;
import io.tierlog.controller.http.HttpResponse;
import io.tierlog.controller.http.JsonBody;
import io.tierlog.controller.http.PackedKeys;
import io.tierlog.controller.http.Problem;
import io.tierlog.controller.http.Route;
import io.tierlog.schemas.Tier;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The query half of the field's indexer interface (Mooncake RFC 1403): matched tokens for each tenant and instance. An instance is a node here.
 * How old an answer is stands in headers, since the body has no place for it. Safe for use by several threads.
 */
final class QueryRoutes {
    private static final int MOST_TOKENS = 1_000_000;
    private static final int MOST_BLOCK_TOKENS = 65_536;

    private final LookupQueries questions;
    private final TokenHashers hashers;
    private final QueryNamespaces namespaces;

    QueryRoutes(LookupQueries questions, TokenHashers hashers, QueryNamespaces namespaces) {
        this.questions = questions;
        this.hashers = hashers;
        this.namespaces = namespaces;
    }

    List<Route> all() {
        return List.of(Route.ask("/query", this::byTokens), Route.ask("/query_by_hash", this::byHashes));
    }

    /** The fields of both queries. */
    private record Query(String tenant, Optional<String> instance, String namespace, int blockTokens) {
        static Query of(JsonBody body, QueryNamespaces namespaces) {
            Optional<String> instance = NodeNames.in(body, "instance_id");
            long blockTokens = body.integer("block_size", 1, MOST_BLOCK_TOKENS).orElse(0);
            if (blockTokens == 0 && !body.has("block_size")) {
                body.finding("block_size", "is missing");
            }
            String tenant = QueryNamespaces.tenant(body);
            return new Query(tenant, instance, namespaces.of(body, tenant), (int) blockTokens);
        }
    }

    private HttpResponse byHashes(HttpRequest ask) {
        JsonBody body = ask.body();
        Query query = Query.of(body, namespaces);
        String field = body.has("block_hash") && !body.has("seq_hashes") ? "block_hash" : "seq_hashes";
        Optional<PackedKeys> keys = body.keys(field, questions.most(), KeyWords.LEAST, KeyWords.MOST);
        body.done();
        return answer(ask, query, keys.orElseThrow());
    }

    private HttpResponse byTokens(HttpRequest ask) {
        JsonBody body = ask.body();
        Query query = Query.of(body, namespaces);
        String model = body.text("model", BlockChain.NAMESPACE).orElse("");
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
        TokenHasher hasher = hashers.of(model).orElseThrow(() -> new Problem(Problem.Kind.NOT_OFFERED,
                "this directory has no token hash for the model " + model, "use /query_by_hash with the keys of the engine"));
        PackedKeys keys = hasher.keys(tokens.orElseThrow(), query.blockTokens());
        // Less than one block is nowhere, and a valid query.
        return answer(ask, query, keys.bytes().length == 0 ? keys : questions.packed(keys.bytes(), keys.width()));
    }

    private HttpResponse answer(HttpRequest ask, Query query, PackedKeys keys) {
        Lookup lookup = questions.lookup(ask.caller(), new BlockChain(query.namespace(), keys, 0), Optional.empty());
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
        Freshness freshness = lookup.freshness();
        return new HttpResponse(200, json, Map.of(
                "Tierlog-Stale", String.valueOf(freshness.stale()),
                "Tierlog-Behind-Records", String.valueOf(freshness.behindRecords()),
                "Tierlog-As-Of-Ms", String.valueOf(freshness.asOfMs()),
                "Tierlog-Unknown-From", String.valueOf(lookup.unknownFrom())));
    }

    private static long tokens(int blocks, Query query) {
        return (long) blocks * query.blockTokens();
    }
}
