/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.audit.heads;

import io.tierlog.events.topic.Topics;
import io.tierlog.ops.audit.AuditException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * Finds the last head of a log: the signed record with the highest number among the last {@value #WINDOW} offsets of the topic, or further back when
 * there is none. So a record that is not signed, or an old head that was written again, does not hide it. For one thread.
 */
final class HeadTopic {
    /** Offsets that are looked at, at least: each head takes two, one of them for the marker of its transaction. */
    static final long WINDOW = 10_000;

    private static final int GROWTH = 8;
    private static final Duration POLL = Duration.ofMillis(200);

    private final KafkaConsumer<byte[], byte[]> consumer;
    private final TopicPartition place;
    private final HeadRecords records;
    private final Duration patience;
    private final BooleanSupplier going;

    /**
     * @param consumer its assignment is changed
     * @param patience how long it is waited for a record that is there
     * @param going whether to go on
     */
    HeadTopic(KafkaConsumer<byte[], byte[]> consumer, Topics topics, HeadRecords records, Duration patience, BooleanSupplier going) {
        this.consumer = consumer;
        this.place = new TopicPartition(topics.heads(), 0);
        this.records = records;
        this.patience = patience;
        this.going = going;
    }

    /**
     * The last head; empty when the topic is empty.
     *
     * @throws AuditException when the topic has records, and none of them is a head that was signed with one of the keys
     */
    Optional<HeadRecords.Read.Signed> last() {
        consumer.assign(List.of(place));
        long begin = consumer.beginningOffsets(List.of(place)).getOrDefault(place, 0L);
        long end = consumer.endOffsets(List.of(place)).getOrDefault(place, 0L);
        for (long window = WINDOW; ; window *= GROWTH) {
            long from = Math.max(begin, end - window);
            Best best = new Best();
            read(from, end, record -> best.take(records.read(record.value(), record.headers())));
            if (best.head != null) {
                return Optional.of(best.head);
            }
            if (from == begin && best.refused.isEmpty()) {
                return Optional.empty();
            }
            if (from == begin) {
                throw new AuditException("no record of " + place.topic() + " is a head that was signed with a key of --head-keys; of the last"
                        + " one: " + best.refused, "put the public keys of earlier signers at the beginning of the file; where the topic has no"
                        + " head of this log, delete it and run: tierlog topics create");
            }
        }
    }

    private static final class Best {
        private HeadRecords.Read.@Nullable Signed head;
        private String refused = "";

        void take(HeadRecords.Read read) {
            switch (read) {
                case HeadRecords.Read.Signed signed -> {
                    HeadRecords.Read.Signed known = head;
                    if (known == null || signed.head().number() > known.head().number()) {
                        head = signed;
                    }
                }
                case HeadRecords.Read.Refused(String why) -> refused = why;
            }
        }
    }

    private void read(long from, long end, Consumer<ConsumerRecord<byte[], byte[]>> sink) {
        consumer.seek(place, from);
        long seen = System.nanoTime();
        while (going.getAsBoolean() && consumer.position(place) < end) {
            long before = consumer.position(place);
            consumer.poll(POLL).forEach(sink);
            if (consumer.position(place) > before) {
                seen = System.nanoTime();
            } else if (System.nanoTime() - seen > patience.toNanos()) {
                throw new TimeoutException("no record of " + place.topic() + " came for " + patience.toSeconds() + " s");
            }
        }
    }
}
