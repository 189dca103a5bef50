/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.engine;

import io.tierlog.ops.engine.workload.BlockKey;
import java.util.List;

/**
 * Who is told of prompts before their requests are submitted, as a router that knows them would tell a cache. Called from one thread, in order of
 * arrival; what it throws ends the run.
 */
@FunctionalInterface
public interface ProbeAhead {
    /**
     * A request with this prompt will come.
     *
     * @param node name of the node that it will come to
     * @param namespace namespace of its blocks
     * @param keys keys of the whole blocks of its prompt, from index 0
     */
    void comes(String node, String namespace, List<BlockKey> keys) throws InterruptedException;

    /**
     * Who is told, and when.
     *
     * @param teller who
     * @param aheadMs how long before the arrival of a request, in milliseconds of the machine's clock, 1 or more
     */
    record Plan(ProbeAhead teller, long aheadMs) {}
}
