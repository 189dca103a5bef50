/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.directory.api;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.tierlog.controller.directory.streams.Costs;
import io.tierlog.controller.http.Caller;
import io.tierlog.controller.http.PackedKeys;
import io.tierlog.controller.http.Problem;
import io.tierlog.schemas.Tier;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Scores of pods for a prompt, by cost: a pod's score is the number of blocks that it need not compute, less what getting them costs, in blocks that
 * could be computed in that time. A block on its device counts 1, one that costs as much as computing it nothing. Safe for use by several threads.
 */
final class Scores {
    private static final int MOST_TOKENS = 1_000_000;
    private static final ObjectMapper MAPPER = new ObjectMapper();

    private final LookupQueries questions;
    private final Models models;
    private final QueryNamespaces namespaces;
    private final double computeUs;

    /**
     * What a pod is worth.
     *
     * @param node its node in the directory
     * @param instance its name for routers
     * @param blocks that it need not compute, from the first on
     * @param score 0 to {@code blocks}
     */
    record Pod(String node, Instance instance, int blocks, double score) {
        String name() {
            return instance.name();
        }
    }

    /**
     * Scores.
     *
     * @param computeUs what computing a block costs, in microseconds, above 0
     */
    Scores(LookupQueries questions, Models models, QueryNamespaces namespaces, long computeUs) {
        this.questions = questions;
        this.models = models;
        this.namespaces = namespaces;
        this.computeUs = computeUs;
    }

    /** Scores of a prompt: a text, or the token ids as a JSON list. The best pod comes first; those without a score are left out. */
    List<Pod> ofPrompt(Caller caller, String model, String prompt, Set<String> wanted) {
        TokenHasher hasher = models.hasher(model);
        int blockTokens = models.blockTokens(model);
        long[] tokens = prompt.stripLeading().startsWith("[") ? listed(prompt) : models.tokenizer(model).tokens(model, prompt);
        if (tokens.length / blockTokens > questions.most()) {
            tokens = Arrays.copyOf(tokens, questions.most() * blockTokens);
        }
        PackedKeys keys = hasher.keys(tokens, blockTokens);
        if (keys.count() == 0) {
            return List.of();
        }
        BlockChain chain = new BlockChain(namespaces.ofModel(model), questions.packed(keys.bytes(), keys.width()), 0);
        return of(questions.lookup(caller, chain, Optional.empty()), wanted);
    }

    private static long[] listed(String prompt) {
        try {
            JsonNode list = MAPPER.readTree(prompt);
            if (list.isArray() && list.size() <= MOST_TOKENS && list.valueStream().allMatch(id -> id.canConvertToLong() && id.isIntegralNumber()
                    && id.longValue() >= 0)) {
                return list.valueStream().mapToLong(JsonNode::longValue).toArray();
            }
        } catch (JsonProcessingException e) {
            throw notListed();
        }
        throw notListed();
    }

    private static Problem notListed() {
        return new Problem(Problem.Kind.INVALID_REQUEST, "the prompt begins with [ and is no list of token ids",
                "give whole numbers from 0, at most " + MOST_TOKENS + "; a text that begins so needs a space before it");
    }

    /** Scores of the nodes of a lookup. */
    List<Pod> of(Lookup lookup, Set<String> wanted) {
        return lookup.nodes().stream()
                .map(node -> pod(node, questions.costs()))
                .filter(pod -> pod.score() > 0 && (wanted.isEmpty() || wanted.contains(pod.name()) || wanted.contains(pod.node())))
                .sorted(Comparator.comparingDouble(Pod::score).reversed().thenComparing(Pod::node))
                .toList();
    }

    private Pod pod(Lookup.NodePrefix node, Costs costs) {
        Instance instance = Instance.of(node.node());
        if (!instance.isForeign()) {
            return new Pod(node.node(), instance, node.plan().blocks(), score(node.plan().blocks(), node.plan().costUs()));
        }
        // It fetches nothing from Tierlog: what it has itself counts, each block at the cost of the warmest tier that has all before it.
        Map<Tier, Integer> tiers = node.tiers();
        int warm = Math.max(tiers.getOrDefault(Tier.DEVICE, 0), tiers.getOrDefault(Tier.HOST, 0));
        int disk = Math.max(warm, tiers.getOrDefault(Tier.DISK, 0));
        long costUs = (disk - warm) * costs.diskUs() + (node.blocks() - disk) * costs.storeUs() + warm * costs.hostUs();
        return new Pod(node.node(), instance, node.blocks(), score(node.blocks(), costUs));
    }

    private double score(int blocks, long costUs) {
        return Math.max(0, blocks - costUs / computeUs);
    }
}
