/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core;

import io.tierlog.agent.core.disk.DiskCopy;
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
 * directory does that hears no answers. Bounded by {@link AgentLimits.Asks}; forgetting costs work alone. For the core's one thread.
 */
final class PromotionAsks {
    private final Desk desk;
    private final AgentLimits.Asks limits;
    /** In the order in which they were asked for. */
    private final Map<Asked, Kept> asked = new LinkedHashMap<>();
    private long asks;

    private record Asked(String namespace, Bytes key) {}

    /** Until when a block is kept back, and how long the next time; milliseconds of the monotonic clock. */
    private record Kept(long untilMs, long nextMs) {}

    PromotionAsks(Desk desk) {
        this.desk = desk;
        limits = desk.limits.asks();
    }

    /** A read found no copy of these blocks on the host, and none on its way. */
    void missed(String namespace, List<Block> blocks) {
        if (blocks.isEmpty() || !desk.disk.exists() || !desk.disk.isOpen() || desk.ports.events().congested()) {
            return;
        }
        forget();
        List<Block> wanted = new ArrayList<>();
        for (Block block : blocks) {
            Block there = desk.disk.serving(namespace, block.key()).map(DiskCopy::block).filter(b -> b.index() == block.index()).orElse(null);
            if (there != null && keepBack(new Asked(namespace, block.key()))) {
                wanted.add(there);
            }
        }
        desk.counters.add(AgentCounter.PROMOTIONS_ASKED, wanted.size());
        for (int from = 0; from < wanted.size(); from += limits.blocks()) {
            List<Block> batch = List.copyOf(wanted.subList(from, Math.min(wanted.size(), from + limits.blocks())));
            String probe = desk.registration.node() + "/read/" + desk.incarnation() + "/" + ++asks;
            desk.tell("", e -> new PromotionRequested(e, probe, namespace, batch));
        }
    }

    /** Notes a block unless it is kept back; whether it was not. */
    private boolean keepBack(Asked one) {
        Kept kept = asked.get(one);
        if (kept != null && desk.nowMs() < kept.untilMs()) {
            return false;
        }
        long holdMs = kept == null || desk.nowMs() >= kept.untilMs() + kept.nextMs() ? limits.leastMs() : kept.nextMs();
        asked.remove(one);
        if (asked.size() >= limits.remembered()) {
            Iterator<Asked> oldest = asked.keySet().iterator();
            oldest.next();
            oldest.remove();
        }
        asked.put(one, new Kept(desk.nowMs() + holdMs, Math.min(2 * holdMs, limits.mostMs())));
        return true;
    }

    private void forget() {
        Iterator<Kept> oldest = asked.values().iterator();
        boolean more = true;
        while (more && oldest.hasNext()) {
            Kept kept = oldest.next();
            more = kept.untilMs() + kept.nextMs() <= desk.nowMs();
            if (more) {
                oldest.remove();
            }
        }
    }
}
