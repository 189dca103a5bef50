/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.directory.probe;

import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.PromotionReply;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Which blocks were requested from which node lately, and until when each is kept back. Bounded in number and time; safe for use by several
 * threads. A forgotten block or a missed answer costs one more request, which the node's aggregate answers again.
 *
 * <p>A block is kept back for {@link ProbeLimits#recentMs} at least. Its node's reply may report for how long it will begin nothing (the rest of
 * the dedup time, of the cooldown, of a pause), and then that counts. A block that is asked for again and again without such an answer is kept back
 * twice as long each time, up to {@link ProbeLimits#backOffMs}; a promotion that waits or is under way is held back again each time.
 */
final class RecentProbes {
    private final ProbeLimits limits;
    /** In the order of the last request or reply about them. */
    private final Map<Asked, Kept> asked = new LinkedHashMap<>();
    private final Deque<Load> load = new ArrayDeque<>();
    private final Map<String, Integer> ofNode = new LinkedHashMap<>();

    private record Asked(String namespace, Bytes key, String node) {}

    /** A block was requested from a node. */
    private record Load(String node, long atMs) {}

    /**
     * How long a block is kept back.
     *
     * @param askedMs when it was requested; -1 when another instance did so
     * @param untilMs first moment at which it may be requested again
     * @param nextMs how long it is kept back the next time
     */
    private record Kept(long askedMs, long untilMs, int nextMs) {}

    RecentProbes(ProbeLimits limits) {
        this.limits = limits;
    }

    /** Notes a block unless it is kept back; whether it was not. */
    synchronized boolean add(String namespace, Bytes key, String node, long nowMs) {
        forget(nowMs);
        Asked one = new Asked(namespace, key, node);
        Kept kept = asked.get(one);
        if (kept != null && nowMs < kept.untilMs()) {
            return false;
        }
        int holdMs = kept == null || nowMs >= kept.untilMs() + kept.nextMs() ? limits.recentMs() : kept.nextMs();
        put(one, new Kept(nowMs, nowMs + holdMs, Math.min(2 * holdMs, limits.backOffMs())));
        load.addLast(new Load(node, nowMs));
        ofNode.merge(node, 1, Integer::sum);
        return true;
    }

    /**
     * A node replied about a block, to any requester.
     *
     * @param retryMs for how long it will begin nothing, in milliseconds; 0 when unknown
     */
    synchronized void replied(String namespace, Bytes key, String node, PromotionReply reply, long retryMs, long nowMs) {
        Asked one = new Asked(namespace, key, node);
        Kept kept = asked.get(one);
        if (retryMs > 0) {
            long untilMs = nowMs + Math.min(retryMs, limits.longestMs());
            Kept later = kept == null
                    ? new Kept(-1, untilMs, limits.recentMs())
                    : new Kept(kept.askedMs(), Math.max(kept.untilMs(), untilMs), limits.recentMs());
            put(one, later);
        } else if (kept != null && isBegun(reply)) {
            put(one, new Kept(kept.askedMs(), kept.untilMs(), limits.recentMs()));
        }
    }

    private static boolean isBegun(PromotionReply reply) {
        return reply == PromotionReply.STARTED || reply == PromotionReply.QUEUED || reply == PromotionReply.JOINED;
    }

    /** A request that was not taken may be made again. */
    synchronized void remove(String namespace, Bytes key, String node) {
        asked.remove(new Asked(namespace, key, node));
    }

    /** Whether a block was requested from a node so lately that its promotion may be under way. */
    synchronized boolean has(String namespace, Bytes key, String node, long nowMs) {
        Kept kept = asked.get(new Asked(namespace, key, node));
        return kept != null && kept.askedMs() >= 0 && nowMs < kept.askedMs() + limits.recentMs();
    }

    /** Whether a block is not to be requested from a node now. */
    synchronized boolean isKeptBack(String namespace, Bytes key, String node, long nowMs) {
        Kept kept = asked.get(new Asked(namespace, key, node));
        return kept != null && nowMs < kept.untilMs();
    }

    /** Number of blocks requested from a node lately. */
    synchronized int of(String node, long nowMs) {
        forget(nowMs);
        return ofNode.getOrDefault(node, 0);
    }

    private void put(Asked one, Kept kept) {
        asked.remove(one);
        if (asked.size() >= limits.recent()) {
            Iterator<Asked> oldest = asked.keySet().iterator();
            oldest.next();
            oldest.remove();
        }
        asked.put(one, kept);
    }

    private void forget(long nowMs) {
        Iterator<Kept> oldest = asked.values().iterator();
        boolean more = true;
        while (more && oldest.hasNext()) {
            Kept kept = oldest.next();
            more = kept.untilMs() + kept.nextMs() <= nowMs;
            if (more) {
                oldest.remove();
            }
        }
        @Nullable Load first = load.peekFirst();
        while (first != null && (first.atMs() + limits.recentMs() <= nowMs || load.size() > limits.recent())) {
            ofNode.computeIfPresent(load.removeFirst().node(), (_, count) -> count == 1 ? null : count - 1);
            first = load.peekFirst();
        }
    }

    synchronized int size() {
        return asked.size();
    }
}
