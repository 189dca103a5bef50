/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench.directory;

import java.io.IOException;

/** One way to ask: a server and a protocol. */
interface Way {
    /** Its name in the table. */
    String name();

    /** Whether it asks how long a prefix is, and not which keys are held. */
    boolean lookup();

    /** A caller of its own, for one thread. */
    Session open() throws Exception;

    /** One caller. */
    interface Session extends AutoCloseable {
        /** Asks, and answers with how many keys are held, or how long the prefix is. */
        int ask(Keys.Batch batch) throws Exception;

        @Override
        default void close() throws IOException {
            // Most have nothing of their own.
        }
    }
}
