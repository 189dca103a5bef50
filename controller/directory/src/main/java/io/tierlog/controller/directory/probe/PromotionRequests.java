/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.directory.probe;

import io.tierlog.schemas.Bytes;
import java.util.List;

/** The receiver of promotion requests: the log. A request may be lost, which costs work alone. Safe for use by several threads. */
public interface PromotionRequests {
    /** A block that is on a node's disk and not in its memory. */
    record Wanted(int index, Bytes key) {}

    /**
     * Sends a request to a node's aggregate.
     *
     * @param node the node's name
     * @param namespace of the blocks
     * @param blocks 1 to 128 of them
     * @throws RuntimeException when that is not possible now: the blocks may be requested again
     */
    void request(String node, String namespace, List<Wanted> blocks);
}
