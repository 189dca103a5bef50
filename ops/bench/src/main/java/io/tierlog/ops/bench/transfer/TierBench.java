/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench.transfer;

import java.io.IOException;
import java.util.List;

/** The benchmark of one tier: comparisons that follow each other in every round. For one thread. */
interface TierBench extends AutoCloseable {
    /** The tier, and how the agent reaches it. */
    String title();

    /** In the order of a round: writes before reads. */
    List<Comparison> comparisons();

    /** Prepares a round; not measured. */
    default void beginRound() throws IOException {}

    /** Ends a round; not measured. */
    default void endRound() throws IOException {}

    @Override
    void close();
}
