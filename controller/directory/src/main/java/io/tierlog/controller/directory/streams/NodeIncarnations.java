/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.directory.streams;

import io.tierlog.controller.directory.index.Incarnations;
import io.tierlog.schemas.directory.NodeEpoch;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The newest life of each node, and where other agents may read from it. What is said of a life comes to every partition, so an instance hears of
 * it by any that it has. Safe for use by several threads. The price: a node is remembered for good, some 300 bytes each.
 */
public final class NodeIncarnations {
    private final Map<String, NodeEpoch> newest = new ConcurrentHashMap<>();
    private final Incarnations incarnations;

    NodeIncarnations(Incarnations incarnations) {
        this.incarnations = incarnations;
    }

    /** Takes what a record says; of two about one life the end is the later one. */
    void lived(NodeEpoch life) {
        newest.merge(life.node(), life, (known, told) -> {
            boolean newer = told.incarnation() > known.incarnation() || (told.incarnation() == known.incarnation() && known.alive());
            return newer ? told : known;
        });
        // What an ended life held counts no more, on the disk either: the next life says anew what it finds there.
        incarnations.seen(life.envelope().aggregate(), life.alive() ? life.incarnation() : life.incarnation() + 1);
    }

    /** Address of the node's peer door, HOST:PORT; empty when it has none, or does not live. */
    public Optional<String> peerAddress(String node) {
        NodeEpoch life = newest.get(node);
        return life == null || !life.alive() ? Optional.empty() : Optional.ofNullable(life.peerAddress());
    }
}
