/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.simulation.swarm;

import java.util.Locale;

/** What is counted of rows that expire in an episode. */
public enum ExpiryCount {
    NAMESPACES_EXPIRED("namespaces that expired on a node or in a shard of the store"),
    NODES_EXPIRED("nodes that expired"),
    NODES_BACK("nodes that registered again after they had expired");

    private final String meaning;

    ExpiryCount(String meaning) {
        this.meaning = meaning;
    }

    /** What it is, as a sentence without its end. */
    public String meaning() {
        return meaning;
    }

    /** As it is printed. */
    public String label() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
