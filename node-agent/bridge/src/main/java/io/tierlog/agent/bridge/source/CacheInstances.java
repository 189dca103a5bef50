/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.bridge.source;

import io.tierlog.agent.bridge.decode.CacheBatch;
import io.tierlog.agent.bridge.decode.Decoded;
import io.tierlog.agent.bridge.decode.EngineEvent;
import io.tierlog.agent.bridge.decode.Media;
import io.tierlog.agent.bridge.lmcache.CacheArrival;
import io.tierlog.agent.bridge.lmcache.CacheQueue;
import io.tierlog.agent.bridge.view.BridgeCounter;
import io.tierlog.schemas.Tier;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.zeromq.ZContext;

/**
 * The instances of LMCache whose events arrive, each a publisher of its own: by whichever way its batches come, their numbers order them. No node
 * begins before a topic was read to its end at the start, so that no block appears that has left since. Confined to the bridge's thread.
 */
public final class CacheInstances implements Followed, AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(CacheInstances.class);
    private static final int MOST = 10_000;
    private static final int BATCHES_AT_ONCE = 64;
    private static final String FAMILY = "lmcache";

    private final CacheQueue queue;
    private final SourceParts parts;
    private final ZContext context;
    private final int most;
    private final Map<String, Known> known = new LinkedHashMap<>();
    private boolean caughtUp;
    /** An instance was forgotten, so that one that is new may have been known before. */
    private boolean forgetful;

    /**
     * An instance.
     *
     * @param way by which it was first seen
     */
    private record Known(Lane lane, String way) {}

    /**
     * None so far.
     *
     * @param caughtUp whether there is no topic that is read to its end first
     * @param context of the bridge; no socket is made here
     */
    public CacheInstances(CacheQueue queue, SourceParts parts, ZContext context, boolean caughtUp) {
        this(queue, parts, context, caughtUp, MOST);
    }

    CacheInstances(CacheQueue queue, SourceParts parts, ZContext context, boolean caughtUp, int most) {
        this.most = most;
        this.queue = queue;
        this.parts = parts;
        this.context = context;
        this.caughtUp = caughtUp;
    }

    /** Applies some of what has arrived, unless the log takes no more now; returns how much. */
    public int receive(long nowMs) {
        int taken = 0;
        while (taken < BATCHES_AT_ONCE && !parts.writer().congested()) {
            Optional<CacheArrival> next = queue.poll();
            if (next.isEmpty()) {
                break;
            }
            taken++;
            switch (next.get()) {
                case CacheArrival.Batch arrived -> guarded(arrived.batch().origin().instance(), () -> apply(nowMs, arrived));
                case CacheArrival.Unreadable bad -> guarded(bad.instance(), () -> unreadable(nowMs, bad));
                case CacheArrival.Deleted(String way) -> known.values().stream().filter(each -> each.way().equals(way))
                        .forEach(each -> each.lane().publisher().lostWithoutNumber(nowMs, "batches were deleted before they were read"));
                case CacheArrival.CaughtUp() -> {
                    caughtUp = true;
                    LOG.info("the events of {} LMCache instances are read up to now", known.size());
                }
            }
        }
        return taken;
    }

    /** What one instance cannot bear ends what is known of it, and nothing of the others. */
    private void guarded(String instance, Runnable work) {
        try {
            work.run();
        } catch (RuntimeException e) {
            LOG.error("the events of LMCache instance {} cannot be applied, and it is forgotten until its next batch", instance, e);
            parts.counts().add(BridgeCounter.SOURCE_FAILURES, 1);
            forgetful = true;
            Known failed = known.remove(instance);
            if (failed != null) {
                failed.lane().close();
            }
        }
    }

    private void apply(long nowMs, CacheArrival.Batch arrived) {
        CacheBatch batch = arrived.batch();
        long atMs = nowMs - arrived.ageMs();
        String name = batch.origin().instance();
        Known instance = known.get(name);
        if (instance == null) {
            if (!hasSpace()) {
                parts.counts().add(BridgeCounter.OVER_LIMIT, 1);
                return;
            }
            SourceSpec spec = new SourceSpec(FAMILY + "://" + arrived.way(), Optional.empty(), name, "", FAMILY, 0, "", true, false);
            instance = new Known(new Lane(spec, parts, context, "", OptionalInt.empty(), 0), arrived.way());
            known.put(name, instance);
            if (!arrived.whole() || forgetful) {
                instance.lane().publisher().unknownPast(atMs);
            }
        }
        if (instance.lane().numbered(atMs, batch) && batch.content() instanceof Decoded.Batch content) {
            Lane reporter = instance.lane();
            content.events().forEach(event -> removedFromPool(nowMs, reporter, event));
        }
        if (caughtUp) {
            instance.lane().flush(nowMs);
        }
    }

    /** Any instance may report that a block has left a pool that instances share. */
    private void removedFromPool(long nowMs, Lane reporter, EngineEvent event) {
        if (event instanceof EngineEvent.Removed removed && Media.tier(removed.place(), false) == Tier.STORE) {
            known.values().stream().filter(each -> !each.lane().equals(reporter))
                    .forEach(each -> each.lane().publisher().removedElsewhere(nowMs, removed));
        }
    }

    private void unreadable(long nowMs, CacheArrival.Unreadable bad) {
        Known instance = known.get(bad.instance());
        if (instance != null) {
            instance.lane().publisher().unreadable(nowMs, bad.reason());
        }
    }

    /** One that was silent for so long that its node has ended is forgotten for a new one. */
    private boolean hasSpace() {
        if (known.size() >= most) {
            Optional<String> silent = known.entrySet().stream().filter(each -> each.getValue().lane().isResting()).map(Map.Entry::getKey).findFirst();
            silent.ifPresent(name -> {
                forgetful = true;
                known.remove(name);
            });
        }
        return known.size() < most;
    }

    /** Time passes. */
    public void tick(long nowMs) {
        if (!caughtUp) {
            return;
        }
        List.copyOf(known.keySet()).forEach(name -> guarded(name, () -> tick(nowMs, name)));
    }

    private void tick(long nowMs, String name) {
        Known instance = known.get(name);
        if (instance == null) {
            return;
        }
        Lane lane = instance.lane();
        if (!lane.isResting() && nowMs - lane.publisher().arrivedMs() >= parts.rules().idleMs()) {
            LOG.warn("LMCache instance {} has been silent for {} s: what it has counts no longer until it reports again", name,
                    parts.rules().idleMs() / 1_000);
            lane.rest();
        }
        lane.tick(nowMs);
    }

    @Override
    public int publishers() {
        return known.size();
    }

    @Override
    public int unknown() {
        return (int) known.values().stream().filter(each -> each.lane().publisher().isUnknown()).count();
    }

    @Override
    public long blocks() {
        return known.values().stream().mapToLong(each -> each.lane().publisher().blocks()).sum();
    }

    @Override
    public void close() {
        known.values().forEach(each -> each.lane().close());
    }
}
