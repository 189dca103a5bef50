/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench.transfer;

import java.io.IOException;

/**
 * One way of moving all blocks once.
 *
 * @param name what stands in the report
 * @param run moves them
 */
record Way(String name, Run run) {
    /** Moves all blocks once. */
    interface Run {
        /**
         * What it came to.
         *
         * @throws IOException when files fail
         * @throws InterruptedException when the run is to end
         */
        Sample sample() throws IOException, InterruptedException;
    }
}
