/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core.peer;

import io.tierlog.agent.core.api.AgentInput.PeersFound;
import io.tierlog.agent.core.context.AgentContext;
import io.tierlog.agent.core.port.PeerFinder.Holder;
import io.tierlog.schemas.PeerCopies;
import io.tierlog.schemas.Tier;
import java.util.ArrayDeque;
import java.util.Comparator;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Chooses the node to read from: the one of which this agent has the fewest reads under way; then the one with the fewest recent refusals; then
 * one that has the blocks on its host, since a disk has to promote them first; then by a hash of request and node, so that requests spread. It
 * considers only nodes with at least half as many blocks as the best one. For the core's one thread.
 */
public final class PeerChoice {
    /** Refusals that are remembered: enough to rank nodes. */
    private static final int REFUSALS = 256;
    /** 2^32 over the golden ratio: odd, and with no pattern in its bits. */
    private static final int GOLDEN = 0x9E3779B9;

    private final AgentContext context;
    private final Map<String, Integer> reads = new LinkedHashMap<>();
    private final Deque<Refusal> refusals = new ArrayDeque<>();

    private record Refusal(long atMs, String node) {}

    public PeerChoice(AgentContext context) {
        this.context = context;
    }

    public void readBegins(String node) {
        reads.merge(node, 1, Integer::sum);
    }

    public void readEnded(String node) {
        reads.computeIfPresent(node, (any, count) -> count == 1 ? null : count - 1);
    }

    /** The node has not given a block of its lease. */
    public void refused(String node) {
        if (refusals.size() == REFUSALS) {
            refusals.removeFirst();
        }
        refusals.addLast(new Refusal(context.nowMs(), node));
    }

    /** The node to ask for blocks from index {@code from} on, {@code most} at most; empty when there is none. */
    public Optional<PeerCopies> choose(String request, PeersFound in, int from, int most) {
        while (!refusals.isEmpty() && refusals.getFirst().atMs() + context.limits().peers().refusalMs() <= context.nowMs()) {
            refusals.removeFirst();
        }
        List<Holder> known = in.holders().stream().filter(this::canServe).toList();
        int longest = Math.min(most, known.stream().mapToInt(Holder::blocks).max().orElse(0));
        return known.stream()
                .filter(holder -> Math.min(most, holder.blocks()) * 2L >= longest)
                .min(Comparator.<Holder>comparingInt(holder -> reads.getOrDefault(holder.node(), 0))
                        .thenComparingLong(holder -> refusals.stream().filter(refusal -> refusal.node().equals(holder.node())).count())
                        .thenComparing(holder -> holder.tier() != Tier.HOST)
                        .thenComparingInt(holder -> spread(request, holder.node()))
                        .thenComparing(Holder::node))
                .map(holder -> new PeerCopies(holder.node(), holder.address(), holder.tier(), from, Math.min(most, holder.blocks())));
    }

    /** The hash of a text is almost in the order of its last characters, and would prefer one of two nodes for ever: it is stirred. */
    public static int spread(String request, String node) {
        int hash = (request + '@' + node).hashCode();
        hash = (hash ^ hash >>> 15) * GOLDEN;
        hash = (hash ^ hash >>> 13) * GOLDEN;
        return hash ^ hash >>> 16;
    }

    private boolean canServe(Holder holder) {
        boolean there = holder.tier() == Tier.HOST || holder.tier() == Tier.DISK;
        return there && holder.blocks() > 0 && !holder.address().isEmpty() && !holder.node().equals(context.registration().node());
    }
}
