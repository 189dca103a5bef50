/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cluster;

import io.tierlog.events.KafkaAccess;
import io.tierlog.events.topic.Topics;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.jspecify.annotations.Nullable;

/**
 * Follows the committed decisions of every partition and measures how long one stood still. Ticks make decisions every second, and in
 * a partition without a living node every five; a longer silence is that of the log or of a controller. Has a thread of its own until it is closed.
 * Records are not decoded: a registry that does not answer must not look like a silence.
 */
final class DecisionWatch implements AutoCloseable {
    private static final Duration POLL = Duration.ofMillis(50);

    private final Thread thread;
    private final long[] lastNanos = new long[TierlogCluster.PARTITIONS];
    private final long[] longestNanos = new long[TierlogCluster.PARTITIONS];
    private final long[] seen = new long[TierlogCluster.PARTITIONS];
    private volatile boolean closed;
    private volatile @Nullable RuntimeException failure;

    /** Begins at the present end of the log. */
    DecisionWatch(KafkaAccess access) {
        thread = Thread.ofPlatform().daemon().name("decision-watch").start(() -> follow(access));
    }

    private void follow(KafkaAccess access) {
        Map<String, Object> settings = access.client(Map.of("isolation.level", "read_committed", "enable.auto.commit", "false"));
        try (KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(settings, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            List<TopicPartition> partitions = IntStream.range(0, TierlogCluster.PARTITIONS)
                    .mapToObj(p -> new TopicPartition(Topics.DEFAULT.decisions(), p))
                    .toList();
            consumer.assign(partitions);
            consumer.seekToEnd(partitions);
            while (!closed) {
                consumer.poll(POLL).forEach(decision -> arrived(decision.partition()));
            }
        } catch (InterruptException e) {
            // closed
        } catch (RuntimeException e) {
            failure = e;
        }
    }

    private synchronized void arrived(int partition) {
        long now = System.nanoTime();
        if (seen[partition]++ > 0) {
            longestNanos[partition] = Math.max(longestNanos[partition], now - lastNanos[partition]);
        }
        lastNanos[partition] = now;
    }

    /**
     * Whether every partition has had decisions since the last mark.
     *
     * @throws IllegalStateException when the log can no longer be followed
     */
    synchronized boolean allMoved() {
        if (failure != null) {
            throw new IllegalStateException("the decisions cannot be followed", failure);
        }
        return Arrays.stream(seen).allMatch(count -> count > 1);
    }

    /** Counts decisions from now on; the longest silence is still that since {@link #mark}. */
    synchronized void countAgain() {
        Arrays.fill(seen, 1);
    }

    /** From now on. */
    synchronized void mark() {
        long now = System.nanoTime();
        Arrays.fill(longestNanos, 0);
        Arrays.fill(seen, 1);
        Arrays.fill(lastNanos, now);
    }

    /** Waits until every partition has had a decision since {@link #mark} or {@link #countAgain}. */
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
