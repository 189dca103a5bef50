/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench.directory;

import java.io.IOException;

/** One path of queries: a server and a protocol. */
interface QueryPath {
    /** Its name in the table. */
    String name();

    /** Whether it looks up the length of a prefix, and not which keys are held. */
    boolean lookup();

    /** A new caller, for one thread. */
    Session open() throws Exception;

    /** One caller. */
    interface Session extends AutoCloseable {
        /** Sends one query; returns how many keys are held, or the length of the prefix. */
        int query(Keys.Batch batch) throws Exception;

        @Override
        default void close() throws IOException {
            // Most sessions hold no resource.
        }
    }
}
