/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cluster;

import io.tierlog.events.Codec;
import io.tierlog.events.KafkaAccess;
import io.tierlog.events.LogReader;
import io.tierlog.events.topic.Topics;
import io.tierlog.schemas.decision.Fact;
import java.time.Duration;
import java.util.Arrays;

/**
 * Follows the committed decisions of every partition and measures how long one stood still. Ticks make decisions every second, and in
 * a partition without a living node every five; a longer silence is that of the log or of a controller. Has a thread of its own until it is closed.
 */
final class DecisionWatch implements AutoCloseable {
    private static final Duration POLL = Duration.ofMillis(50);

    private final Thread thread;
    private final long[] lastNanos = new long[TierlogCluster.PARTITIONS];
    private final long[] longestNanos = new long[TierlogCluster.PARTITIONS];
    private final long[] seen = new long[TierlogCluster.PARTITIONS];
    private volatile boolean closed;

    /** Begins at the present end of the log. */
    DecisionWatch(KafkaAccess access, Codec codec) {
        thread = Thread.ofPlatform().daemon().name("decision-watch").start(() -> follow(access, codec));
    }

    private void follow(KafkaAccess access, Codec codec) {
        LogReader.Source<Fact> source = new LogReader.Source<>(Topics.DEFAULT.decisions(), Fact.class, LogReader.Isolation.COMMITTED);
        try (LogReader<Fact> reader = new LogReader<>(access, codec, source)) {
            reader.seekToEnd();
            while (!closed) {
                reader.poll(POLL, entry -> arrived(entry.partition()));
            }
        }
    }

    private synchronized void arrived(int partition) {
        long now = System.nanoTime();
        if (seen[partition]++ > 0) {
            longestNanos[partition] = Math.max(longestNanos[partition], now - lastNanos[partition]);
        }
        lastNanos[partition] = now;
    }

    /** Whether every partition has had decisions since the last mark. */
    synchronized boolean allMoved() {
        return Arrays.stream(seen).allMatch(count -> count > 1);
    }

    /** From now on. */
    synchronized void mark() {
        long now = System.nanoTime();
        Arrays.fill(longestNanos, 0);
        Arrays.fill(seen, 1);
        Arrays.fill(lastNanos, now);
    }

    /** Waits until every partition has had a decision since the mark. */
    void awaitAllMoved(String what) {
        if (!Until.within(Duration.ofSeconds(120), this::allMoved)) {
            throw new AssertionError(what + ": decisions stand still for 120 s; silent partitions: " + silent());
        }
    }

    private synchronized String silent() {
        return Arrays.toString(seen);
    }

    /** Longest time since the mark without a decision, of the partition that stood still longest; in seconds. */
    synchronized double longestSilence() {
        long now = System.nanoTime();
        long longest = 0;
        for (int p = 0; p < seen.length; p++) {
            longest = Math.max(longest, Math.max(longestNanos[p], now - lastNanos[p]));
        }
        return longest / 1e9;
    }

    @Override
    public void close() {
        closed = true;
        thread.interrupt();
    }
}
