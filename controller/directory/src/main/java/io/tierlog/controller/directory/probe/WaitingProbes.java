/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.directory.probe;

import io.tierlog.controller.directory.probe.ProbeSink.Probe;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The probes that wait, so that one caller's flood takes no place and no time from the others. The next is of the caller that had the fewest keys
 * looked at since it began to wait; a caller begins where the probe ends that was taken last, so that new callers without end do not stop the others
 * (self-clocked fair queuing, Golestani 1994). When there is no place, the caller with the most keys loses its last probe. Safe for
 * use by several threads.
 */
final class WaitingProbes {
    private final int mostProbes;
    private final int mostKeys;
    private final Map<String, Share> shares = new HashMap<>();
    private int probes;
    /** Of those that wait and of those that are looked at. */
    private int keys;
    /** Where the probe ends that was taken last; never falls. */
    private long served;

    /** A probe and the nodes where its blocks are wanted. */
    static final class Waiting {
        private final Probe probe;
        private final List<String> nodes;

        Waiting(Probe probe, List<String> nodes) {
            this.probe = probe;
            this.nodes = nodes;
        }

        Probe probe() {
            return probe;
        }

        List<String> nodes() {
            return nodes;
        }

        int keys() {
            return probe.keys().length / probe.width();
        }
    }

    private static final class Share {
        private final Deque<Waiting> waiting = new ArrayDeque<>();
        private int keys;
        /** Where its next probe stands: keys looked at, on the scale that all shares have in common. */
        private long position;

        Share(long position) {
            this.position = position;
        }
    }

    /** Holds at most so many probes, with so many keys together. */
    WaitingProbes(int mostProbes, int mostKeys) {
        this.mostProbes = mostProbes;
        this.mostKeys = mostKeys;
    }

    /**
     * Accepts a probe, when need be at the cost of callers that have more keys here.
     *
     * @return the probes that are dropped: none, the last ones of others, or {@code added} alone
     */
    synchronized List<Waiting> add(Waiting added) {
        List<Waiting> dropped = new ArrayList<>();
        String caller = added.probe().caller();
        int own = keysOf(caller) + added.keys();
        // First whether it can be done, so that nothing is dropped in vain.
        int free = mostKeys - keys + shares.values().stream().filter(share -> share.keys > own).mapToInt(share -> share.keys - own).sum();
        boolean placeOfOthers = shares.values().stream().anyMatch(share -> share.keys > own);
        if (added.keys() > free || (probes >= mostProbes && !placeOfOthers)) {
            return List.of(added);
        }
        while (probes >= mostProbes || keys + added.keys() > mostKeys) {
            Share longest = shares.values().stream().max(Comparator.comparingInt(share -> share.keys)).orElseThrow();
            Waiting last = longest.waiting.removeLast();
            longest.keys -= last.keys();
            probes--;
            keys -= last.keys();
            dropped.add(last);
            shares.values().removeIf(share -> share.waiting.isEmpty());
        }
        Share share = shares.computeIfAbsent(caller, _ -> new Share(served));
        share.waiting.addLast(added);
        share.keys += added.keys();
        probes++;
        keys += added.keys();
        return dropped;
    }

    private int keysOf(String caller) {
        Share share = shares.get(caller);
        return share == null ? 0 : share.keys;
    }

    /** The next to look at; empty when none waits. Its keys keep their place until {@link #done}. */
    synchronized Optional<Waiting> next() {
        Optional<Map.Entry<String, Share>> first = shares.entrySet().stream().min(Comparator
                .comparingLong((Map.Entry<String, Share> each) -> each.getValue().position).thenComparingInt(each -> each.getValue().keys));
        return first.map(entry -> {
            Share share = entry.getValue();
            Waiting next = share.waiting.removeFirst();
            share.position += next.keys();
            served = Math.max(served, share.position);
            share.keys -= next.keys();
            probes--;
            if (share.waiting.isEmpty()) {
                shares.remove(entry.getKey());
            }
            return next;
        });
    }

    /** A probe has been looked at. */
    synchronized void done(Waiting ended) {
        keys -= ended.keys();
    }
}
