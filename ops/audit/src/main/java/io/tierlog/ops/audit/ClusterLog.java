/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.audit;

import io.tierlog.events.KafkaAccess;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.CloseOptions;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/**
 * A log on a running cluster, read by consumers that belong to no group and commit nothing. What of a partition was aborted or is a marker
 * does not show, so a hole between two decisions may be one of these.
 */
public final class ClusterLog implements LogSource {
    private static final Duration POLL = Duration.ofMillis(200);
    private static final int MOST_RECORDS = 5_000;
    private static final int FETCH_BYTES = 4 << 20;

    private final KafkaAccess access;

    /** A log on the cluster that {@code access} reaches; nothing is asked yet. */
    public ClusterLog(KafkaAccess access) {
        this.access = access;
    }

    @Override
    public int partitions(String topic) {
        try (KafkaConsumer<byte[], byte[]> consumer = consumer()) {
            List<PartitionInfo> found = consumer.partitionsFor(topic);
            if (found == null || found.isEmpty()) {
                throw new AuditException("there is no topic " + topic + " at " + access.bootstrapServers(), "look at --topic-prefix");
            }
            return found.size();
        } catch (KafkaException e) {
            throw unreachable(topic, e);
        }
    }

    @Override
    public Stream open(String topic, int partition) {
        KafkaConsumer<byte[], byte[]> consumer = consumer();
        try {
            return new Reader(consumer, new TopicPartition(topic, partition));
        } catch (KafkaException e) {
            consumer.close(CloseOptions.timeout(Duration.ZERO));
            throw unreachable(topic, e);
        }
    }

    @Override
    public boolean isLive() {
        return true;
    }

    /** Holds nothing. */
    @Override
    public void close() {}

    private KafkaConsumer<byte[], byte[]> consumer() {
        Map<String, Object> settings = access.client(Map.of(
                "isolation.level", "read_committed",
                "enable.auto.commit", "false",
                "auto.offset.reset", "earliest",
                "allow.auto.create.topics", "false",
                "max.poll.records", MOST_RECORDS,
                "max.partition.fetch.bytes", FETCH_BYTES,
                "default.api.timeout.ms", Math.toIntExact(access.timeout().toMillis())));
        return new KafkaConsumer<>(settings, new ByteArrayDeserializer(), new ByteArrayDeserializer());
    }

    private AuditException unreachable(String topic, KafkaException e) {
        return new AuditException("cannot read " + topic + " at " + access.bootstrapServers() + ": " + e.getMessage(),
                "is the cluster up? A broker that is stopped is read with --log DIR", e);
    }

    private final class Reader implements Stream {
        private final KafkaConsumer<byte[], byte[]> consumer;
        private final TopicPartition partition;
        private final long begin;
        private final long end;

        Reader(KafkaConsumer<byte[], byte[]> consumer, TopicPartition partition) {
            this.consumer = consumer;
            this.partition = partition;
            List<TopicPartition> all = List.of(partition);
            consumer.assign(all);
            consumer.seekToBeginning(all);
            begin = consumer.position(partition);
            end = consumer.endOffsets(all).getOrDefault(partition, begin);
        }

        @Override
        public List<LogEntry> next() {
            List<LogEntry> entries = new ArrayList<>();
            try {
                while (entries.isEmpty() && consumer.position(partition) < end) {
                    for (ConsumerRecord<byte[], byte[]> record : consumer.poll(POLL)) {
                        if (record.offset() < end) {
                            entries.add(new LogEntry.Data(record.offset(), record.timestamp(), record.key(), record.value()));
                        }
                    }
                }
            } catch (KafkaException e) {
                throw unreachable(partition.topic(), e);
            }
            return entries;
        }

        @Override
        public long begin() {
            return begin;
        }

        @Override
        public long end() {
            return end;
        }

        @Override
        public boolean showsAll() {
            return false;
        }

        @Override
        public void close() {
            consumer.close(CloseOptions.timeout(Duration.ofSeconds(1)));
        }
    }
}
