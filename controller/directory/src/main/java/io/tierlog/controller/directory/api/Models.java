/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.directory.api;

import io.tierlog.controller.http.Problem;
import java.util.Map;

/**
 * What is known of models, by name. Immutable.
 *
 * @param hashers how keys follow from tokens
 * @param blockTokens tokens of a block, for queries that do not say it
 * @param tokenizers how tokens follow from text
 */
public record Models(Map<String, TokenHasher> hashers, Map<String, Integer> blockTokens, Map<String, Tokenizer> tokenizers) {
    /** Nothing is known. */
    public static final Models NONE = new Models(Map.of(), Map.of(), Map.of());

    /** Copies the maps. */
    public Models {
        hashers = Map.copyOf(hashers);
        blockTokens = Map.copyOf(blockTokens);
        tokenizers = Map.copyOf(tokenizers);
    }

    /**
     * How keys of a model follow from tokens.
     *
     * @throws Problem NOT_OFFERED when that is not known
     */
    TokenHasher hasher(String model) {
        TokenHasher hasher = hashers.get(model);
        if (hasher == null) {
            throw new Problem(Problem.Kind.NOT_OFFERED, "this directory has no token hash for the model " + model,
                    "start it with --token-hash, or use /query_by_hash with the keys of the engine");
        }
        return hasher;
    }

    /**
     * Tokens of a block of a model.
     *
     * @throws Problem NOT_OFFERED when that is not known
     */
    int blockTokens(String model) {
        Integer tokens = blockTokens.get(model);
        if (tokens == null) {
            throw new Problem(Problem.Kind.NOT_OFFERED, "this directory has no block size for the model " + model,
                    "start it with --block-tokens MODEL=N");
        }
        return tokens;
    }

    /**
     * How tokens of a model follow from text.
     *
     * @throws Problem NOT_OFFERED when that is not known
     */
    Tokenizer tokenizer(String model) {
        Tokenizer tokenizer = tokenizers.get(model);
        if (tokenizer == null) {
            throw new Problem(Problem.Kind.NOT_OFFERED, "this directory has no tokenizer for the model " + model,
                    "start it with --tokenizer MODEL=URL, or give the prompt as a list of token ids");
        }
        return tokenizer;
    }
}
