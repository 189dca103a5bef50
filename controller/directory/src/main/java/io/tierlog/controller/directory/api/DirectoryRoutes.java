/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.directory.api;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.tierlog.controller.directory.api.LookupQueries.Existence;
import io.tierlog.controller.directory.index.BlockPlacement;
import io.tierlog.controller.directory.index.KeyWords;
import io.tierlog.controller.directory.index.PlacementIndex.Found;
import io.tierlog.controller.directory.index.Presence;
import io.tierlog.controller.directory.query.Freshness;
import io.tierlog.controller.http.HttpRequest;
import io.tierlog.controller.http.HttpResponse;
import io.tierlog.controller.http.JsonBody;
import io.tierlog.controller.http.PackedKeys;
import io.tierlog.controller.http.Route;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;

/** The directory over HTTP: one method for each query. Safe for use by several threads. */
public final class DirectoryRoutes {
    private static final String OPENAPI = "openapi.json";

    private final LookupQueries questions;
    private final QueryRoutes query;
    private final ScoreRoutes scores;
    private final ObjectNode openApi = openApi();

    /** Routes to the queries, those of the indexer interface among them. */
    public DirectoryRoutes(LookupQueries questions, Indexer indexer) {
        this.questions = questions;
        query = new QueryRoutes(questions, indexer.models(), indexer.namespaces());
        scores = new ScoreRoutes(questions, indexer.scores(questions));
    }

    /** All routes. */
    public List<Route> all() {
        List<Route> all = new ArrayList<>(List.of(
                Route.get("/v1/openapi.json", Set.of(), _ -> HttpResponse.of(200, openApi)),
                Route.ask("/v1/exist", this::exist),
                Route.ask("/v1/batch_exist", this::batchExist),
                Route.ask("/v1/lookup", this::lookup),
                Route.ask("/v1/where", this::where)));
        all.addAll(query.all());
        all.addAll(scores.all());
        return List.copyOf(all);
    }

    /** The OpenAPI document beside this class. */
    static ObjectNode openApi() {
        try (InputStream in = Objects.requireNonNull(DirectoryRoutes.class.getResourceAsStream(OPENAPI), OPENAPI)) {
            return (ObjectNode) new ObjectMapper().readTree(in);
        } catch (IOException e) {
            throw new IllegalStateException("openapi.json cannot be read", e);
        }
    }

    private HttpResponse exist(HttpRequest ask) {
        JsonBody body = ask.body();
        Optional<BlockChain> chain = chain(body, Optional.of("key"));
        boolean prefetch = body.flag("prefetch_to_memory");
        Optional<String> node = node(body);
        body.done();
        Existence known = questions.exist(ask.caller(), chain.orElseThrow(), prefetch, node);
        ObjectNode json = JsonNodeFactory.instance.objectNode().put("answer", known.first().name());
        return HttpResponse.of(200, with(json, known.freshness()));
    }

    private HttpResponse batchExist(HttpRequest ask) {
        JsonBody body = ask.body();
        Optional<BlockChain> chain = chain(body, Optional.empty());
        boolean prefetch = body.flag("prefetch_to_memory");
        Optional<String> node = node(body);
        body.done();
        Existence known = questions.exist(ask.caller(), chain.orElseThrow(), prefetch, node);
        ObjectNode json = JsonNodeFactory.instance.objectNode();
        ArrayNode answers = json.putArray("answers");
        for (byte presence : known.presences()) {
            answers.add(Presence.of(presence).name());
        }
        return HttpResponse.of(200, with(json, known.freshness()));
    }

    private HttpResponse where(HttpRequest ask) {
        JsonBody body = ask.body();
        Optional<BlockChain> chain = chain(body, Optional.of("key"));
        body.done();
        ChainPlacements places = questions.where(ask.caller(), chain.orElseThrow());
        Found found = places.found().apply(0);
        ObjectNode json = JsonNodeFactory.instance.objectNode().put("answer", found.presence().name());
        ArrayNode list = json.putArray("placements");
        for (BlockPlacement placed : found.placements()) {
            list.addObject()
                    .put("owner", placed.location().owner())
                    .put("tier", placed.location().tier().name())
                    .put("incarnation", placed.incarnation())
                    .put("index", placed.index())
                    .put("generation", placed.generation());
        }
        return HttpResponse.of(200, with(json, places.freshness()));
    }

    private HttpResponse lookup(HttpRequest ask) {
        JsonBody body = ask.body();
        Optional<BlockChain> chain = chain(body, Optional.empty());
        Optional<String> node = node(body);
        body.done();
        return HttpResponse.of(200, json(questions.lookup(ask.caller(), chain.orElseThrow(), node)));
    }

    private static ObjectNode json(Lookup lookup) {
        ObjectNode json = JsonNodeFactory.instance.objectNode();
        json.put("blocks", lookup.blocks()).put("unknown_from", lookup.unknownFrom()).put("store_blocks", lookup.storeBlocks());
        ArrayNode nodes = json.putArray("nodes");
        for (Lookup.NodePrefix node : lookup.nodes()) {
            ObjectNode each = nodes.addObject().put("node", node.node()).put("blocks", node.blocks());
            ArrayNode tiers = each.putArray("tiers");
            node.tiers().forEach((tier, blocks) -> tiers.addObject().put("tier", tier.name()).put("blocks", blocks));
            each.put("reach", node.plan().blocks()).put("cost_us", node.plan().costUs()).put("peer_readable", node.peerReadable());
            node.peerAddress().ifPresent(address -> each.put("peer_address", address));
        }
        ObjectNode best = json.putObject("best");
        best.put("node", lookup.best().node()).put("blocks", lookup.best().blocks()).put("cost_us", lookup.best().costUs());
        ArrayNode sources = best.putArray("sources");
        for (Lookup.Run run : lookup.best().sources()) {
            sources.addObject()
                    .put("first", run.first())
                    .put("blocks", run.blocks())
                    .put("owner", run.from().owner())
                    .put("tier", run.from().tier().name())
                    .put("block_cost_us", run.blockCostUs());
        }
        return with(json, lookup.freshness());
    }

    private static Optional<String> node(JsonBody body) {
        return NodeNames.in(body, "node");
    }

    /** The blocks in a body; an invalid field is a finding. */
    private Optional<BlockChain> chain(JsonBody body, Optional<String> single) {
        Optional<String> namespace = Optional.ofNullable(body.required("namespace", body.text("namespace", BlockChain.NAMESPACE)));
        if (namespace.isPresent() && namespace.get().isEmpty()) {
            body.finding("namespace", "must be a text of 1 to " + BlockChain.NAMESPACE + " characters");
        }
        Optional<PackedKeys> keys = single.isPresent()
                ? body.key(single.get(), KeyWords.LEAST, KeyWords.MOST)
                : body.keys("keys", questions.most(), KeyWords.LEAST, KeyWords.MOST);
        int index = (int) body.integer(single.isPresent() ? "index" : "first_index", 0, BlockChain.MOST_INDEX).orElse(0);
        return namespace.flatMap(text -> keys.map(each -> new BlockChain(text, each, index)));
    }

    static ObjectNode with(ObjectNode json, Freshness freshness) {
        return json.put("stale", freshness.stale()).put("behind_records", freshness.behindRecords()).put("as_of_ms", freshness.asOfMs());
    }
}
