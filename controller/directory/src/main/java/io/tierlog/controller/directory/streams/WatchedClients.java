/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.directory.streams;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.streams.KafkaClientSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The clients that Kafka Streams works with; the main consumer reports its position to {@link LocalShards}. Created once for an instance. */
final class WatchedClients implements KafkaClientSupplier {
    private static final Logger LOG = LoggerFactory.getLogger(WatchedClients.class);

    private final LocalShards copies;

    WatchedClients(LocalShards copies) {
        this.copies = copies;
    }

    @Override
    public Admin getAdmin(Map<String, Object> config) {
        return Admin.create(config);
    }

    @Override
    public Producer<byte[], byte[]> getProducer(Map<String, Object> config) {
        return new KafkaProducer<>(config, new ByteArraySerializer(), new ByteArraySerializer());
    }

    @Override
    public Consumer<byte[], byte[]> getConsumer(Map<String, Object> config) {
        return new Watched(config, copies);
    }

    @Override
    public Consumer<byte[], byte[]> getRestoreConsumer(Map<String, Object> config) {
        return new KafkaConsumer<>(config, new ByteArrayDeserializer(), new ByteArrayDeserializer());
    }

    @Override
    public Consumer<byte[], byte[]> getGlobalConsumer(Map<String, Object> config) {
        return new KafkaConsumer<>(config, new ByteArrayDeserializer(), new ByteArrayDeserializer());
    }

    /** Reports its position after every poll. */
    private static final class Watched extends KafkaConsumer<byte[], byte[]> {
        private final LocalShards copies;

        Watched(Map<String, Object> config, LocalShards copies) {
            super(config, new ByteArrayDeserializer(), new ByteArrayDeserializer());
            this.copies = copies;
        }

        @Override
        public ConsumerRecords<byte[], byte[]> poll(Duration patience) {
            ConsumerRecords<byte[], byte[]> polled = super.poll(patience);
            assignment().forEach(partition -> report(partition, polled.records(partition)));
            return polled;
        }

        private void report(TopicPartition partition, List<ConsumerRecord<byte[], byte[]>> records) {
            long last = records.isEmpty() ? -1 : records.getLast().offset();
            try {
                copies.reach(partition.partition()).polled(position(partition, Duration.ZERO), last);
            } catch (TimeoutException e) {
                LOG.debug("{} has no position yet, so nothing was handed out either", partition);
            }
        }
    }
}
