/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.directory.streams;

import io.tierlog.controller.directory.index.Incarnations;
import io.tierlog.schemas.directory.NodeEpoch;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The newest incarnation of each node, and where other agents may read from it. Every partition gets these records, so an instance sees them in
 * any of its partitions. Safe for use by several threads. Trade-off: a node is never forgotten, some 300 bytes each.
 */
public final class NodeIncarnations {
    private final Map<String, NodeEpoch> newest = new ConcurrentHashMap<>();
    private final Incarnations incarnations;

    NodeIncarnations(Incarnations incarnations) {
        this.incarnations = incarnations;
    }

    /** Applies a record; of two about one incarnation the end is the later one, else the one with the higher view. */
    synchronized void apply(NodeEpoch epoch) {
        NodeEpoch known = newest.get(epoch.node());
        if (known == null || isNewer(known, epoch)) {
            newest.put(epoch.node(), epoch);
            incarnations.unknownAt(epoch.envelope().aggregate(), epoch.unknownNamespaces());
        }
        // Placements of an ended incarnation no longer count, also on disk: the next one reports again what it finds there.
        incarnations.seen(epoch.envelope().aggregate(), epoch.alive() ? epoch.incarnation() : epoch.incarnation() + 1);
    }

    private static boolean isNewer(NodeEpoch known, NodeEpoch other) {
        if (other.incarnation() != known.incarnation()) {
            return other.incarnation() > known.incarnation();
        }
        return known.alive() && (!other.alive() || other.view() >= known.view());
    }

    /** Address of the node's peer API, HOST:PORT; empty without one, or when the node is not alive. */
    public Optional<String> peerAddress(String node) {
        NodeEpoch epoch = newest.get(node);
        return epoch == null || !epoch.alive() ? Optional.empty() : Optional.ofNullable(epoch.peerAddress());
    }
}
