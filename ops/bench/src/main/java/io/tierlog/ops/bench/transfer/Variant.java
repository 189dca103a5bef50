/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench.transfer;

import java.io.IOException;

/**
 * A method that moves all blocks once.
 *
 * @param name its name in the report
 * @param run moves them
 */
record Variant(String name, Run run) {
    /** Moves all blocks once. */
    interface Run {
        /**
         * Runs it.
         *
         * @throws IOException when files fail
         * @throws InterruptedException when the run is to end
         */
        Sample sample() throws IOException, InterruptedException;
    }
}
