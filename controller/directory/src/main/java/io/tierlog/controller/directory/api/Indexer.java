/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.directory.api;

/**
 * How queries of indexer interfaces are answered, which name a model and tokens instead of a namespace and keys. Immutable.
 *
 * @param models what is known of models
 * @param namespaces which namespace a query is about
 * @param computeUs what computing a block costs, in microseconds, above 0; for scores
 */
public record Indexer(Models models, QueryNamespaces namespaces, long computeUs) {
    /** Of a block of 16 tokens, at 100 microseconds each. */
    public static final int COMPUTE_US = 1_600;

    /** Most tokens of a block. */
    public static final int MOST_BLOCK_TOKENS = 65_536;

    /** No model is known. */
    public static final Indexer NONE = new Indexer(Models.NONE, QueryNamespaces.MODEL, COMPUTE_US);

    Scores scores(LookupQueries questions) {
        return new Scores(questions, models, namespaces, computeUs);
    }
}
