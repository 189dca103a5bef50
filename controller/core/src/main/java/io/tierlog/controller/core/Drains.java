/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core;

import io.tierlog.schemas.event.NodeDrainRequested;

/** A node that drains takes nothing new and saves what only it has. Without state. */
final class Drains {
    private Drains() {}

    static void requested(NodeDraft n, NodeDrainRequested e) {}

    /** Goes on saving what only a draining node has, at most {@code budget} blocks; answers with how many. */
    static int decide(NodeDraft n, int budget) {
        return 0;
    }
}
