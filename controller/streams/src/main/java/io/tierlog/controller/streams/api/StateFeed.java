/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.streams.api;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.consumer.CloseOptions;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.WakeupException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Feeds a {@link StateView}: the changelog of the controller's store from its beginning, and the decisions from their end, both read committed.
 * One thread of its own. After a failure it begins from nothing, and until it has caught up there are no answers.
 */
final class StateFeed implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(StateFeed.class);
    private static final Duration POLL = Duration.ofMillis(500);
    private static final long PAUSE_MS = 1_000;
    private static final long TOPIC_PAUSE_MS = 100;

    private final LogAccess log;
    private final StateView view;
    private final Thread thread;
    private final CountDownLatch closing = new CountDownLatch(1);
    private volatile @Nullable KafkaConsumer<byte[], byte[]> reading;

    StateFeed(LogAccess log, StateView view) {
        this.log = log;
        this.view = view;
        thread = new Thread(this::run, "tierlog-api-feed");
        thread.setDaemon(true);
    }

    void start() {
        thread.start();
    }

    @Override
    public void close() {
        closing.countDown();
        KafkaConsumer<byte[], byte[]> open = reading;
        if (open != null) {
            open.wakeup();
        }
        try {
            thread.join(5_000);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        view.restart("the controller stops");
    }

    private void run() {
        while (closing.getCount() > 0) {
            KafkaConsumer<byte[], byte[]> consumer = null;
            try {
                consumer = consumer();
                reading = consumer;
                feed(consumer);
            } catch (WakeupException e) {
                LOG.debug("the feed was woken to close");
            } catch (KafkaException | IllegalStateException e) {
                LOG.warn("the operator's door reads the state again in {} ms: {}", PAUSE_MS, e.toString());
                view.restart("the state cannot be read: " + e.getMessage());
                pause(PAUSE_MS);
            } finally {
                reading = null;
                if (consumer != null) {
                    consumer.close(CloseOptions.timeout(Duration.ofSeconds(1)));
                }
            }
        }
    }

    private void feed(KafkaConsumer<byte[], byte[]> consumer) {
        List<TopicPartition> rows = partitions(consumer, log.changelog());
        List<TopicPartition> facts = partitions(consumer, log.topics().decisions());
        if (closing.getCount() == 0) {
            return;
        }
        List<TopicPartition> all = new ArrayList<>(rows);
        all.addAll(facts);
        consumer.assign(all);
        consumer.seekToBeginning(rows);
        consumer.seekToEnd(facts);
        Map<TopicPartition, Long> behind = new HashMap<>(consumer.endOffsets(rows));
        // Asked for now, since the end is looked up only when it is needed: no fact that comes after the first answer may be missed.
        facts.forEach(consumer::position);
        view.restart("the state is being read");
        boolean caughtUp = false;
        while (closing.getCount() > 0) {
            if (!caughtUp) {
                behind.entrySet().removeIf(end -> consumer.position(end.getKey()) >= end.getValue());
                if (behind.isEmpty()) {
                    caughtUp = true;
                    view.ready();
                }
            }
            take(consumer.poll(POLL));
        }
    }

    private void take(ConsumerRecords<byte[], byte[]> records) {
        if (records.isEmpty()) {
            return;
        }
        view.batch(() -> {
            for (ConsumerRecord<byte[], byte[]> record : records) {
                if (record.topic().equals(log.changelog())) {
                    view.row(record.key(), record.value());
                } else {
                    view.decision(record.partition(), record.key(), record.value());
                }
            }
        });
    }

    /** The partitions of a topic, as soon as there are as many as the log has: the changelog is made when the controller first starts. */
    private List<TopicPartition> partitions(KafkaConsumer<byte[], byte[]> consumer, String topic) {
        List<TopicPartition> found = List.of();
        while (found.size() < log.partitions() && closing.getCount() > 0) {
            found = consumer.partitionsFor(topic).stream().map(info -> new TopicPartition(topic, info.partition())).toList();
            if (found.size() < log.partitions()) {
                pause(TOPIC_PAUSE_MS);
            }
        }
        return found;
    }

    private void pause(long ms) {
        try {
            if (closing.await(ms, TimeUnit.MILLISECONDS)) {
                LOG.debug("the feed closes");
            }
        } catch (InterruptedException e) {
            closing.countDown();
        }
    }

    private KafkaConsumer<byte[], byte[]> consumer() {
        return new KafkaConsumer<>(
                log.kafka().client(Map.of(
                        "isolation.level", "read_committed",
                        "enable.auto.commit", "false",
                        "allow.auto.create.topics", "false",
                        "auto.offset.reset", "earliest",
                        "max.poll.records", "5000")),
                new ByteArrayDeserializer(),
                new ByteArrayDeserializer());
    }
}
