/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.node;

import io.tierlog.controller.core.decide.NodeContext;
import io.tierlog.schemas.RefusalReason;
import io.tierlog.schemas.decision.EngineJoined;
import io.tierlog.schemas.decision.EngineLeft;
import io.tierlog.schemas.event.EngineAttached;
import io.tierlog.schemas.event.EngineDetached;
import io.tierlog.schemas.state.EngineRow;

/** Engine instances of a node. Without state. */
public final class Engines {
    private Engines() {}

    public static void attached(NodeContext n, EngineAttached e) {
        if (!e.layoutDigest().equals(n.row().layoutDigest())) {
            n.refuse(e, RefusalReason.CONFIGURATION_MISMATCH,
                    "Engine " + e.instance() + " has another KV layout than its agent: start both with the same layouts");
        } else if (e.instance().length() > n.limits().textLength() || n.row().engines().size() >= n.limits().enginesPerNode()) {
            n.refuse(e, RefusalReason.OVER_LIMIT, "A node has at most " + n.limits().enginesPerNode() + " engines");
        } else {
            n.fact(new EngineJoined(n.envelope(), e.instance(), e.deviceBlocks()));
        }
    }

    public static void detached(NodeContext n, EngineDetached e) {
        for (EngineRow engine : n.row().engines()) {
            if (engine.instance().equals(e.instance())) {
                n.fact(new EngineLeft(n.envelope(), e.instance()));
                return;
            }
        }
        n.refuse(e, RefusalReason.REPEATED, "Engine " + e.instance() + " is not attached");
    }
}
