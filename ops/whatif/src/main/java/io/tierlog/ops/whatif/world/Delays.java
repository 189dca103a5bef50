/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.whatif.world;

import java.util.ArrayList;
import java.util.List;
import java.util.NavigableMap;
import java.util.TreeMap;

/**
 * Delays that were measured one after the other, so that slow times stay together, such as the first seconds of a cold process. After the last one
 * those of the second half come again and again. Immutable.
 *
 * @param samples in the order of their time; at most {@link #MOST}
 */
public record Delays(List<Sample> samples) {
    /** None: a constant holds. */
    public static final Delays NONE = new Delays(List.of());

    /** Most samples. */
    public static final int MOST = 1_000;

    /** Longest delay: what takes longer was an outage, in which a node without ticks would be lost. */
    public static final long MOST_MICROS = 5_000_000;

    /**
     * One of them.
     *
     * @param atMs when it began, in ms after the first request, 0 or more
     * @param micros how long it was, 0 to {@link #MOST_MICROS}
     */
    public record Sample(long atMs, long micros) {
        public Sample {
            if (atMs < 0 || micros < 0 || micros > MOST_MICROS) {
                throw new IllegalArgumentException(
                        "a delay begins at 0 or later and takes 0 to " + MOST_MICROS + " us, not " + atMs + " and " + micros);
            }
        }
    }

    public Delays {
        samples = List.copyOf(samples);
        if (samples.size() > MOST) {
            throw new IllegalArgumentException("more than " + MOST + " delays: " + samples.size());
        }
        for (int i = 1; i < samples.size(); i++) {
            if (samples.get(i).atMs <= samples.get(i - 1).atMs) {
                throw new IllegalArgumentException("the times of delays must rise: " + samples.get(i).atMs + " after " + samples.get(i - 1).atMs);
            }
        }
    }

    /**
     * Of measured ones, in any order: of those of one millisecond the shortest, since other waits only add to a delay, and one of so many that no
     * more than {@link #MOST} are left.
     */
    public static Delays of(List<Sample> measured) {
        NavigableMap<Long, Sample> byTime = new TreeMap<>();
        measured.forEach(sample -> byTime.merge(sample.atMs, sample, (a, b) -> a.micros <= b.micros ? a : b));
        int every = Math.max(1, Math.ceilDiv(byTime.size(), MOST));
        List<Sample> kept = new ArrayList<>();
        int number = 0;
        for (Sample sample : byTime.values()) {
            if (number++ % every == 0) {
                kept.add(sample);
            }
        }
        return new Delays(kept);
    }

    /**
     * The delay, in microseconds, of what begins {@code atMs} ms after the first request: of the last sample at or before then, or of the first
     * sample where none is. {@code otherwise} without samples, or when {@code atMs} is below 0.
     */
    long micros(long atMs, long otherwise) {
        if (samples.isEmpty() || atMs < 0) {
            return otherwise;
        }
        long lastMs = samples.getLast().atMs;
        long halfMs = lastMs / 2;
        long whenMs = atMs <= lastMs ? atMs : halfMs + (atMs - lastMs - 1) % (lastMs - halfMs + 1);
        int low = 0;
        int high = samples.size() - 1;
        while (low < high) {
            int middle = (low + high + 1) >>> 1;
            if (samples.get(middle).atMs <= whenMs) {
                low = middle;
            } else {
                high = middle - 1;
            }
        }
        return samples.get(low).micros;
    }
}
