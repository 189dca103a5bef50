/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench.transfer;

import java.io.IOException;
import java.util.List;

/** One tier, made ready to be measured: contests that follow each other in every round. For one thread. */
interface Course extends AutoCloseable {
    /** The tier, and how it is reached. */
    String title();

    /** In the order of a round: what is read was written before. */
    List<Contest> contests();

    /** Makes what the contests of a round need; not measured. */
    default void beginRound() throws IOException {}

    /** Removes it; not measured. */
    default void endRound() throws IOException {}

    @Override
    void close();
}
