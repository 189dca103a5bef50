/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core.call;

import io.tierlog.agent.core.api.AgentCounter;
import io.tierlog.agent.core.api.AgentLimits;
import io.tierlog.agent.core.context.AgentContext;
import io.tierlog.agent.core.disk.DiskPlacement;
import io.tierlog.schemas.Block;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.event.PromotionRequested;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Asks this node's own aggregate for promotion of what a read wanted and only the disk of this node has. Whether anything comes of it is the
 * controller's to decide, and nobody waits for it: the next read may find it on its way or on the host.
 *
 * <p>What was asked for is kept back for a while, and twice as long each time that it is asked for again at once, up to a bound, as a
 * directory does that hears no answers. Bounded by {@link AgentLimits.Promotions}; forgetting costs work alone. For the core's one thread.
 */
final class PromotionRequests {
    private final AgentContext context;
    private final AgentLimits.Promotions limits;
    /** In the order in which they were asked for. */
    private final Map<Asked, Kept> asked = new LinkedHashMap<>();
    private long asks;

    private record Asked(String namespace, Bytes key) {}

    /** Until when a block is kept back, and how long the next time; milliseconds of the monotonic clock. */
    private record Kept(long untilMs, long nextMs) {}

    PromotionRequests(AgentContext context) {
        this.context = context;
        limits = context.limits().promotions();
    }

    /** A read found no copy of these blocks on the host, and none on its way. */
    void missed(String namespace, List<Block> blocks) {
        if (blocks.isEmpty() || !context.disk().exists() || !context.disk().isOpen() || context.ports().events().congested()) {
            return;
        }
        forget();
        List<Block> wanted = new ArrayList<>();
        for (Block block : blocks) {
            Block there = context.disk().serving(namespace, block.key())
                    .map(DiskPlacement::block).filter(b -> b.index() == block.index()).orElse(null);
            if (there != null && keepBack(new Asked(namespace, block.key()))) {
                wanted.add(there);
            }
        }
        context.counters().add(AgentCounter.PROMOTIONS_ASKED, wanted.size());
        for (int from = 0; from < wanted.size(); from += limits.blocks()) {
            List<Block> batch = List.copyOf(wanted.subList(from, Math.min(wanted.size(), from + limits.blocks())));
            String probe = context.registration().node() + "/read/" + context.incarnation() + "/" + ++asks;
            context.append("", e -> new PromotionRequested(e, probe, namespace, batch));
        }
    }

    /** Notes a block unless it is kept back; whether it was not. */
    private boolean keepBack(Asked one) {
        Kept kept = asked.get(one);
        if (kept != null && context.nowMs() < kept.untilMs()) {
            return false;
        }
        long holdMs = kept == null || context.nowMs() >= kept.untilMs() + kept.nextMs() ? limits.leastMs() : kept.nextMs();
        asked.remove(one);
        if (asked.size() >= limits.remembered()) {
            Iterator<Asked> oldest = asked.keySet().iterator();
            oldest.next();
            oldest.remove();
        }
        asked.put(one, new Kept(context.nowMs() + holdMs, Math.min(2 * holdMs, limits.mostMs())));
        return true;
    }

    private void forget() {
        Iterator<Kept> oldest = asked.values().iterator();
        boolean more = true;
        while (more && oldest.hasNext()) {
            Kept kept = oldest.next();
            more = kept.untilMs() + kept.nextMs() <= context.nowMs();
            if (more) {
                oldest.remove();
            }
        }
    }
}
