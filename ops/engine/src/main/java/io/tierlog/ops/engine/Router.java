/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.engine;

import io.tierlog.ops.engine.workload.BlockId;
import io.tierlog.ops.engine.workload.Request;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Chooses the node of a request. Depends on the requests so far and on nothing else, so that every run of a workload is spread alike. Used by the one
 * thread that dispatches.
 */
public abstract sealed class Router {
    private final long[] assigned;

    private Router(int nodes) {
        this.assigned = new long[nodes];
    }

    /** A router that has seen no request yet. */
    public static Router of(RouterKind kind, int nodes) {
        return switch (kind) {
            case AFFINITY -> new Affinity(nodes);
            case ROUND_ROBIN -> new RoundRobin(nodes);
        };
    }

    /** Number of the node for {@code request}. */
    public final int route(Request request) {
        int node = choose(request);
        assigned[node] += request.accesses();
        return node;
    }

    abstract int choose(Request request);

    final int leastLoaded() {
        int least = 0;
        for (int node = 1; node < assigned.length; node++) {
            if (assigned[node] < assigned[least]) {
                least = node;
            }
        }
        return least;
    }

    final long assigned(int node) {
        return assigned[node];
    }

    final int nodes() {
        return assigned.length;
    }

    private static final class RoundRobin extends Router {
        private int next;

        private RoundRobin(int nodes) {
            super(nodes);
        }

        @Override
        int choose(Request request) {
            int node = next;
            next = (next + 1) % nodes();
            return node;
        }
    }

    /** By block 1, since block 0 is often the same for all; a new beginning goes to the node with the fewest block accesses so far. */
    private static final class Affinity extends Router {
        private static final int MAX_BEGINNINGS = 1 << 20;
        /** A node may have this many times the accesses of another, and the slack, before a beginning moves. */
        private static final double IMBALANCE = 1.25;

        private static final long SLACK = 1_000;

        private final Map<BlockId, Integer> beginnings = new LinkedHashMap<>(16, 0.75f, true) {
            private static final long serialVersionUID = 1L;

            @Override
            protected boolean removeEldestEntry(Map.Entry<BlockId, Integer> eldest) {
                return size() > MAX_BEGINNINGS;
            }
        };

        private Affinity(int nodes) {
            super(nodes);
        }

        @Override
        int choose(Request request) {
            BlockId beginning = request.id(request.promptKeys().get(Math.min(1, request.accesses() - 1)));
            int least = leastLoaded();
            int node = beginnings.getOrDefault(beginning, least);
            if (assigned(node) > assigned(least) * IMBALANCE + SLACK) {
                node = least;
            }
            beginnings.put(beginning, node);
            return node;
        }
    }
}
