/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.directory.api;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.tierlog.controller.directory.index.KeyWords;
import io.tierlog.controller.http.HttpRequest;
import io.tierlog.controller.http.HttpResponse;
import io.tierlog.controller.http.JsonBody;
import io.tierlog.controller.http.PackedKeys;
import io.tierlog.controller.http.Route;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** Scores over HTTP: for pickers of endpoints, and as llm-d's indexer answers for a prompt. Safe for use by several threads. */
final class ScoreRoutes {
    private static final int MOST_PODS = 10_000;
    private static final int LONGEST_PROMPT = 4 << 20;

    private final LookupQueries questions;
    private final Scores scores;

    ScoreRoutes(LookupQueries questions, Scores scores) {
        this.questions = questions;
        this.scores = scores;
    }

    List<Route> all() {
        return List.of(Route.ask("/v1/scores", this::byKeys), Route.ask("/score_completions", this::byPrompt));
    }

    private HttpResponse byKeys(HttpRequest ask) {
        JsonBody body = ask.body();
        Optional<String> namespace = Optional.ofNullable(body.required("namespace", body.text("namespace", BlockChain.NAMESPACE)));
        Optional<PackedKeys> keys = body.keys("keys", questions.most(), KeyWords.LEAST, KeyWords.MOST);
        Set<String> wanted = Set.copyOf(body.names("pods", MOST_PODS, ".{1,253}", "names of pods"));
        body.done();
        BlockChain chain = new BlockChain(namespace.orElseThrow(), keys.orElseThrow(), 0);
        Lookup lookup = questions.lookup(ask.caller(), chain, Optional.empty());
        ObjectNode json = JsonNodeFactory.instance.objectNode();
        ArrayNode list = json.putArray("scores");
        for (Scores.Pod pod : scores.of(lookup, wanted)) {
            ObjectNode each = list.addObject().put("pod", pod.name()).put("node", pod.node()).put("blocks", pod.blocks()).put("score", pod.score())
                    .put("share", pod.score() / chain.keys().count());
            pod.instance().rank().ifPresent(rank -> each.put("data_parallel_rank", rank));
        }
        return HttpResponse.of(200, DirectoryRoutes.with(json.put("unknown_from", lookup.unknownFrom()), lookup.freshness()));
    }

    /** The best rank of a pod counts, since the answer has one number for each pod. */
    private HttpResponse byPrompt(HttpRequest ask) {
        JsonBody body = ask.body();
        Optional<String> model = Optional.ofNullable(body.required("model", body.text("model", BlockChain.NAMESPACE)));
        Optional<String> prompt = Optional.ofNullable(body.required("prompt", body.text("prompt", LONGEST_PROMPT)));
        body.done();
        ObjectNode json = JsonNodeFactory.instance.objectNode();
        for (Scores.Pod pod : scores.ofPrompt(ask.caller(), model.orElseThrow(), prompt.orElseThrow(), Set.of()).reversed()) {
            json.put(pod.name(), pod.score());
        }
        return HttpResponse.of(200, json);
    }
}
