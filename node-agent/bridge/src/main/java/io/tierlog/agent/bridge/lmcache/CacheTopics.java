/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.bridge.lmcache;

import io.tierlog.agent.bridge.decode.CacheBatch;
import io.tierlog.agent.bridge.decode.CacheEventDecoder;
import io.tierlog.agent.bridge.decode.CacheRequest;
import io.tierlog.agent.bridge.decode.Decoded;
import io.tierlog.agent.bridge.view.BridgeCounter;
import io.tierlog.events.Causes;
import io.tierlog.events.KafkaAccess;
import io.tierlog.threads.RareWarning;
import io.tierlog.threads.Supervised;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetOutOfRangeException;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.WakeupException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads topics of LMCache's events, from their start with each start of the bridge. No offset is committed: what a bridge knows is in its memory, and
 * the topics have all that is needed to know it again. One thread. Trade-off: a start takes as long as the topics take to read.
 */
public final class CacheTopics implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(CacheTopics.class);
    private static final Duration POLL = Duration.ofMillis(200);
    private static final long RETRY_MS = 5_000;
    private static final int LOOK_MS = 5_000;
    private static final long CLOSE_MS = 5_000;

    private final List<String> topics;
    private final KafkaAccess access;
    private final CacheParts parts;
    private final Map<TopicPartition, Place> places = new HashMap<>();
    /** Ends of the partitions that are still to be reached, for the first time. */
    private final Map<TopicPartition, Long> ends = new HashMap<>();
    private final RareWarning warning = new RareWarning(LOG);
    private final CountDownLatch closing = new CountDownLatch(1);
    private final AtomicReference<KafkaConsumer<byte[], byte[]>> open = new AtomicReference<>();
    private final Thread thread;
    private boolean started;
    private boolean caughtUp;
    private volatile boolean reading;

    /**
     * How far a partition is read.
     *
     * @param next offset
     * @param whole whether no record was deleted before it was read
     */
    private record Place(long next, boolean whole) {}

    /** Begins at once; a cluster or a topic that is not there is tried again. */
    public CacheTopics(CacheFeeds feeds, CacheParts parts) {
        topics = feeds.topics();
        access = feeds.access();
        this.parts = parts;
        thread = Supervised.start("bridge-lmcache", this::run);
    }

    /** Whether its topics are read now. */
    public boolean isReading() {
        return reading;
    }

    private boolean isClosing() {
        return closing.getCount() == 0;
    }

    private void run() throws InterruptedException {
        while (!isClosing()) {
            try (KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(access.client(Map.of(
                    "enable.auto.commit", "false",
                    "auto.offset.reset", "none",
                    "allow.auto.create.topics", "false",
                    // What it knows of a topic's partitions is no older.
                    "metadata.max.age.ms", LOOK_MS,
                    "default.api.timeout.ms", Math.toIntExact(access.timeout().toMillis()))),
                    new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
                open.set(consumer);
                follow(consumer);
            } catch (WakeupException | InterruptException e) {
                LOG.debug("no longer reads {}", topics);
            } catch (RuntimeException e) {
                parts.counts().add(BridgeCounter.SOURCE_FAILURES, 1);
                warning.warn("{} cannot be read from {}, and are tried again every {} s: {}", topics, access.bootstrapServers(),
                        RETRY_MS / 1_000, Causes.of(e));
            } finally {
                open.set(null);
                reading = false;
            }
            if (closing.await(RETRY_MS, TimeUnit.MILLISECONDS)) {
                return;
            }
        }
    }

    private void follow(KafkaConsumer<byte[], byte[]> consumer) {
        long lookedNs = System.nanoTime();
        assign(consumer);
        while (!isClosing()) {
            try {
                for (ConsumerRecord<byte[], byte[]> record : consumer.poll(POLL)) {
                    take(record);
                }
            } catch (OffsetOutOfRangeException e) {
                deleted(consumer, e.partitions());
            }
            reading = true;
            if (!caughtUp && ends.entrySet().stream().allMatch(end -> consumer.position(end.getKey()) >= end.getValue())) {
                caughtUp = true;
                ends.clear();
                parts.queue().put(new CacheArrival.CaughtUp(), 0);
            }
            if (System.nanoTime() - lookedNs >= TimeUnit.MILLISECONDS.toNanos(LOOK_MS)) {
                lookedNs = System.nanoTime();
                assign(consumer);
            }
        }
    }

    /** Takes up the partitions that are new, where they begin, and the others where they were left. */
    private void assign(KafkaConsumer<byte[], byte[]> consumer) {
        Set<TopicPartition> all = new HashSet<>();
        for (String topic : topics) {
            List<PartitionInfo> found = consumer.partitionsFor(topic);
            if (found == null || found.isEmpty()) {
                throw new IllegalStateException("there is no topic " + topic);
            }
            found.forEach(each -> all.add(new TopicPartition(each.topic(), each.partition())));
        }
        if (consumer.assignment().equals(all)) {
            return;
        }
        consumer.assign(all);
        List<TopicPartition> fresh = all.stream().filter(each -> !places.containsKey(each)).toList();
        consumer.beginningOffsets(fresh).forEach((partition, offset) -> places.put(partition, new Place(offset, offset == 0)));
        all.forEach(each -> consumer.seek(each, place(each).next()));
        if (!started) {
            ends.putAll(consumer.endOffsets(all));
            started = true;
        }
        LOG.info("{} of {} are read, {} partitions", topics, access.bootstrapServers(), all.size());
    }

    private Place place(TopicPartition partition) {
        return places.getOrDefault(partition, new Place(0, false));
    }

    /** What was deleted before it was read may be about any instance of its partition. */
    private void deleted(KafkaConsumer<byte[], byte[]> consumer, Set<TopicPartition> partitions) {
        for (Map.Entry<TopicPartition, Long> each : consumer.beginningOffsets(partitions).entrySet()) {
            warning.warn("records of {} were deleted before they were read", each.getKey());
            places.put(each.getKey(), new Place(each.getValue(), false));
            consumer.seek(each.getKey(), each.getValue());
            parts.queue().put(new CacheArrival.Deleted(each.getKey().toString()), 0);
        }
    }

    private void take(ConsumerRecord<byte[], byte[]> record) {
        TopicPartition partition = new TopicPartition(record.topic(), record.partition());
        Place place = place(partition);
        byte[] value = record.value() == null ? new byte[0] : record.value();
        String where = partition + "@" + record.offset();
        switch (CacheEventDecoder.decode(value)) {
            case CacheRequest.Malformed bad -> {
                parts.malformed(where, value, bad.reason());
                if (record.key() != null) {
                    parts.queue().put(new CacheArrival.Unreadable(new String(record.key(), StandardCharsets.UTF_8), bad.reason()), 0);
                }
            }
            case CacheRequest.Batches(List<CacheBatch> batches) -> {
                long ageMs = caughtUp ? 0 : Math.max(0, System.currentTimeMillis() - record.timestamp());
                int size = value.length / Math.max(1, batches.size());
                for (CacheBatch batch : batches) {
                    if (batch.content() instanceof Decoded.Malformed bad) {
                        parts.malformed(where, Arrays.copyOfRange(value, batch.from(), batch.to()), bad.reason());
                    }
                    parts.queue().put(new CacheArrival.Batch(batch, ageMs, partition.toString(), place.whole()), size);
                }
            }
        }
        places.put(partition, new Place(record.offset() + 1, place.whole()));
    }

    @Override
    public void close() {
        closing.countDown();
        KafkaConsumer<byte[], byte[]> consumer = open.get();
        if (consumer != null) {
            consumer.wakeup();
        }
        parts.queue().close();
        try {
            thread.join(CLOSE_MS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
