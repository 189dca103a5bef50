/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.engine;

import io.tierlog.ops.engine.workload.BlockKey;
import java.util.List;

/**
 * Receives prompts before their requests are submitted, like a cache from a router. Called from one thread, in order of arrival; an exception ends
 * the run.
 */
@FunctionalInterface
public interface ProbeAhead {
    /**
     * A request with this prompt will come.
     *
     * @param node name of the node of the request
     * @param namespace namespace of its blocks
     * @param keys keys of the whole blocks of its prompt, from index 0
     */
    void comes(String node, String namespace, List<BlockKey> keys) throws InterruptedException;

    /**
     * The receiver of prompts, and when it receives them.
     *
     * @param receiver the receiver
     * @param aheadMs how long before the arrival of a request, in milliseconds of the machine's clock, 1 or more
     */
    record Plan(ProbeAhead receiver, long aheadMs) {}
}
