/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.bridge.log;

import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The nodes of a bridge. A node that is stopped keeps its count of records for the next publisher of that name, until there are too many nodes; each
 * session is a process of its own for the controller. Its map may be read by several threads; sessions are confined to the bridge's thread.
 */
public final class NodeSessions {
    private final EventWriter writer;
    private final String processId;
    private final int most;
    private long created;
    private final Map<String, NodeSession> byAggregate = new ConcurrentHashMap<>();
    private final AtomicInteger registered = new AtomicInteger();

    /** At most {@code most} nodes. */
    public NodeSessions(EventWriter writer, String processId, int most) {
        this.writer = writer;
        this.processId = processId;
        this.most = most;
    }

    /** The node with that name for another publisher; empty when a publisher has it, or there are too many. */
    public Optional<NodeSession> open(String node, Map<String, String> configuration, NodeSession.Content content) {
        NodeSession known = byAggregate.get("node/" + node);
        if (known != null) {
            if (!known.isFree()) {
                return Optional.empty();
            }
            known.attach(content);
            return Optional.of(known);
        }
        if (byAggregate.size() >= most) {
            byAggregate.values().removeIf(NodeSession::isFree);
        }
        if (byAggregate.size() >= most) {
            return Optional.empty();
        }
        created++;
        NodeSession session = new NodeSession(writer, node, processId + "." + created, configuration, content);
        byAggregate.put(session.aggregate(), session);
        return Optional.of(session);
    }

    /** Whether an aggregate is one of these nodes. */
    public boolean contains(String aggregate) {
        return byAggregate.containsKey(aggregate);
    }

    /** The session of an aggregate. */
    public Optional<NodeSession> find(String aggregate) {
        return Optional.ofNullable(byAggregate.get(aggregate));
    }

    /** Time passes. */
    public void tick(long nowMs) {
        byAggregate.values().forEach(session -> session.tick(nowMs));
        registered.set((int) byAggregate.values().stream().filter(NodeSession::isRegistered).count());
    }

    /** Nodes that the controller has accepted, count; for any thread. */
    public int registered() {
        return registered.get();
    }

    /** All engines are gone, or the bridge ends. */
    public void stop() {
        byAggregate.values().forEach(NodeSession::stop);
    }
}
