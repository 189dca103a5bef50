/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.bridge.view;

import io.tierlog.agent.bridge.decode.EngineEvent;
import io.tierlog.schemas.Tier;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Predicate;

/**
 * The instances that a publisher speaks for, by their topics: the book of each, and how whole it is known. Confined to its publisher.
 */
final class Instances {
    private static final String CACHE_SERVER = "LMCACHE-";

    private final int most;
    private final long unknownMs;
    private final Function<String, BlockBook> opener;
    private final BridgeCounts counts;
    private final PublisherOutput output;
    private final Map<String, Instance> byTopic = new LinkedHashMap<>();
    /** What an instance begins with. */
    private Optional<Lost> lost = Optional.empty();
    private boolean clearsAllTiers;

    /**
     * What is unknown, and until when.
     *
     * @param curable whether nothing is lost yet: an answer makes the view whole
     */
    private record Lost(String reason, long from, long to, long untilMs, boolean curable) {}

    private static final class Instance {
        private final BlockBook book;
        private Optional<Lost> lost;

        Instance(BlockBook book, Optional<Lost> lost) {
            this.book = book;
            this.lost = lost;
        }

        View view() {
            return lost.map(each -> new View(book.namespaces(), each.reason(), each.from(), each.to()))
                    .orElseGet(() -> new View(List.of(), "", -1, -1));
        }
    }

    /**
     * None so far.
     *
     * @param most bound
     * @param unknownMs time after which a view with lost batches counts as whole again
     */
    Instances(int most, long unknownMs, Function<String, BlockBook> opener, BridgeCounts counts, PublisherOutput output) {
        this.most = most;
        this.unknownMs = unknownMs;
        this.opener = opener;
        this.counts = counts;
        this.output = output;
    }

    /** The view of the instance that has this book. */
    View view(BlockBook book) {
        return byTopic.values().stream().filter(each -> each.book == book).findFirst().orElseGet(() -> new Instance(book, lost)).view();
    }

    /** Blocks of all, count. */
    long blocks() {
        return byTopic.values().stream().mapToLong(each -> each.book.size()).sum();
    }

    /** Whether any is not known whole. */
    boolean isUnknown() {
        return lost.isPresent() || byTopic.values().stream().anyMatch(each -> each.lost.isPresent());
    }

    /** Applies the events of the batch with that number. */
    void apply(long nowMs, long seq, String topic, List<EngineEvent> events) {
        Instance instance = byTopic.get(topic);
        int namespaces = 0;
        if (instance == null) {
            if (byTopic.size() >= most) {
                counts.add(BridgeCounter.OVER_LIMIT, 1);
                return;
            }
            instance = new Instance(opener.apply(topic), lost);
            byTopic.put(topic, instance);
        } else {
            namespaces = instance.book.namespaces().size();
        }
        for (EngineEvent event : events) {
            boolean hadLowerTiers = instance.book.hadLowerTiers();
            instance.book.apply(nowMs, seq, event, change -> changed(topic, change));
            clearsAllTiers |= isOfCacheServer(event);
            if (event instanceof EngineEvent.Cleared cleared && cleared.medium().isEmpty()) {
                cleared(nowMs, topic, instance, hadLowerTiers);
            }
        }
        if (instance.lost.isPresent() && instance.book.namespaces().size() > namespaces) {
            output.viewed(topic, instance.view());
        }
    }

    private static boolean isOfCacheServer(EngineEvent event) {
        return event instanceof EngineEvent.Stored stored && stored.place().medium().toUpperCase(Locale.ROOT).startsWith(CACHE_SERVER);
    }

    /**
     * The device is empty. Whether the tiers below it are, an engine does not tell; nor whether a batch that is lost had stored anything there. A
     * cache server speaks of all that it has.
     */
    private void cleared(long nowMs, String topic, Instance instance, boolean hadLowerTiers) {
        if (clearsAllTiers) {
            whole(topic, instance, "the cache server has cleared all that the instance had");
        } else if (hadLowerTiers) {
            instance.lost = Optional.of(
                    new Lost("the device was cleared, and the event does not say whether the tiers below it were", -1, -1, nowMs + unknownMs, false));
            output.viewed(topic, instance.view());
        }
    }

    /** What was there may be gone, and what is there is not known: all is withdrawn. */
    void lose(long nowMs, String reason, long from, long to) {
        unknown(new Lost(reason, from, to, nowMs + unknownMs, false));
        clear();
    }

    /** More may be there than is known, until an answer is complete. */
    void incomplete(long nowMs, String reason) {
        if (lost.isEmpty()) {
            unknown(new Lost(reason, -1, -1, nowMs + unknownMs, true));
        }
    }

    private void unknown(Lost what) {
        lost = Optional.of(what);
        byTopic.forEach((topic, instance) -> {
            if (instance.lost.isEmpty() || !what.curable()) {
                instance.lost = lost;
                output.viewed(topic, instance.view());
            }
        });
    }

    /** An answer was complete. */
    void complete() {
        wholeWhere(Lost::curable, "an answer was complete");
    }

    private void wholeWhere(Predicate<Lost> what, String reason) {
        lost = lost.filter(what.negate());
        byTopic.forEach((topic, instance) -> {
            if (instance.lost.filter(what).isPresent()) {
                whole(topic, instance, reason);
            }
        });
    }

    private void whole(String topic, Instance instance, String reason) {
        if (instance.lost.isPresent()) {
            instance.lost = Optional.empty();
            output.viewed(topic, new View(List.of(), reason, -1, -1));
        }
    }

    /** Time passes. */
    void tick(long nowMs) {
        wholeWhere(each -> nowMs >= each.untilMs(), "no batch of that time can matter any more");
        byTopic.forEach((topic, instance) -> instance.book.expire(nowMs, change -> changed(topic, change)));
    }

    /** Another process begins, with nothing. */
    void restart() {
        clear();
        wholeWhere(_ -> true, "the publisher has begun to count again");
    }

    /** Another process begins: the memory of the one before is gone, and what it has put below that is not. */
    void restartMemory() {
        byTopic.forEach((topic, instance) -> instance.book.clear(Tier.HOST, change -> changed(topic, change)));
    }

    /** Blocks have left a pool that several publishers share, as one of them reports. */
    void removedElsewhere(long nowMs, EngineEvent.Removed removed) {
        byTopic.forEach((topic, instance) -> instance.book.apply(nowMs, 0, removed, change -> changed(topic, change)));
    }

    /** The publisher speaks for that instance no longer. */
    void close(String topic) {
        Instance instance = byTopic.remove(topic);
        if (instance != null) {
            instance.book.clear(null, change -> changed(topic, change));
            output.closed(topic);
        }
    }

    private void clear() {
        byTopic.forEach((topic, instance) -> instance.book.clear(null, change -> changed(topic, change)));
    }

    private void changed(String topic, BlockBook.Change change) {
        counts.add(change.stored() ? BridgeCounter.STORED : BridgeCounter.REMOVED, 1);
        output.changed(topic, change);
    }
}
