/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.streams.api;

import io.tierlog.controller.http.HealthParts;
import io.tierlog.events.KafkaAccess;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/**
 * Feeds a {@link CommittedState}: the changelog of the controller's store from its beginning, and the decisions from their end, both read committed.
 * One thread of its own. A row that cannot be read is left out, and what asks for its table is refused. After a failure it starts over,
 * and requests get NOT_READY until it has caught up.
 */
final class ChangelogReader implements LogLoop.Round, AutoCloseable {
    private static final Duration POLL = Duration.ofMillis(500);
    private static final long TOPIC_PAUSE_MS = 100;

    private final LogAccess log;
    private final CommittedState view;
    private final LogLoop loop = new LogLoop("tierlog-api-feed", this);

    ChangelogReader(LogAccess log, CommittedState view) {
        this.log = log;
        this.view = view;
    }

    void start() {
        loop.start();
    }

    @Override
    public void close() {
        loop.close();
        view.restart("the controller is stopping");
    }

    /** How it is. */
    HealthParts.State state() {
        String notReady = view.notReady();
        String unreadable = view.unreadable();
        return !notReady.isEmpty() ? HealthParts.State.degraded("the operator API waits: " + notReady)
                : unreadable.isEmpty() ? loop.state("the operator API reads no state") : HealthParts.State.degraded(unreadable);
    }

    @Override
    public void run(LogLoop its) {
        KafkaConsumer<byte[], byte[]> consumer = consumer();
        try {
            its.reads(consumer);
            feed(consumer);
        } finally {
            consumer.close(KafkaAccess.AT_ONCE);
        }
    }

    @Override
    public void failed(Throwable why) {
        view.restart("the state cannot be read: " + why.getMessage());
    }

    private void feed(KafkaConsumer<byte[], byte[]> consumer) {
        List<TopicPartition> rows = partitions(consumer, log.changelog());
        List<TopicPartition> facts = partitions(consumer, log.topics().decisions());
        if (!loop.isOpen()) {
            return;
        }
        List<TopicPartition> all = new ArrayList<>(rows);
        all.addAll(facts);
        consumer.assign(all);
        consumer.seekToBeginning(rows);
        consumer.seekToEnd(facts);
        Map<TopicPartition, Long> behind = new HashMap<>(consumer.endOffsets(rows));
        // Now, since seekToEnd is lazy: it must not miss a fact that follows the first response.
        facts.forEach(consumer::position);
        view.restart("the state is being read");
        boolean caughtUp = false;
        while (loop.isOpen()) {
            if (!caughtUp) {
                behind.entrySet().removeIf(end -> consumer.position(end.getKey()) >= end.getValue());
                if (behind.isEmpty()) {
                    caughtUp = true;
                    view.ready();
                }
            }
            take(consumer.poll(POLL));
            loop.progressed();
        }
    }

    private void take(ConsumerRecords<byte[], byte[]> records) {
        if (records.isEmpty()) {
            return;
        }
        view.batch(() -> {
            for (ConsumerRecord<byte[], byte[]> record : records) {
                if (record.topic().equals(log.changelog())) {
                    view.row(record.partition(), record.offset(), record.key(), record.value());
                } else {
                    view.decision(record.partition(), record.key(), record.value());
                }
            }
        });
    }

    /** The partitions of a topic, as soon as there are as many as the log has: the changelog is made when the controller first starts. */
    private List<TopicPartition> partitions(KafkaConsumer<byte[], byte[]> consumer, String topic) {
        List<TopicPartition> found = List.of();
        while (found.size() < log.partitions() && loop.isOpen()) {
            found = consumer.partitionsFor(topic).stream().map(info -> new TopicPartition(topic, info.partition())).toList();
            if (found.size() < log.partitions()) {
                loop.pause(TOPIC_PAUSE_MS);
            }
        }
        return found;
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
