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
 * Requests a promotion, from this node's own aggregate, of blocks that a read wanted and that only the disk of this node has. The controller decides,
 * and the read does not wait for it: the next read may find the blocks on their way or on the host.
 *
 * <p>A block is not requested again for a while, and for twice as long each time that it is requested again soon, up to a bound; a directory
 * backs off in the same way. Bounded by {@link AgentLimits.Promotions}; forgetting a block costs one more request. For the core's one thread.
 */
final class PromotionRequests {
    private final AgentContext context;
    private final AgentLimits.Promotions limits;
    /** In the order of their last request. */
    private final Map<Asked, Kept> asked = new LinkedHashMap<>();
    private long asks;

    private record Asked(String namespace, Bytes key) {}

    /** Until when a block is kept back, and how long the next time; milliseconds of the monotonic clock. */
    private record Kept(long untilMs, long nextMs) {}

    PromotionRequests(AgentContext context) {
        this.context = context;
        limits = context.limits().promotions();
    }

    /** A read found these blocks neither on the host nor on their way there. */
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
