/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.log;

import io.tierlog.events.KafkaAccess;
import io.tierlog.schemas.SkipReason;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What could not be read, put aside for people as it came, with the error in its headers. Safe for use by several threads. A letter that
 * cannot be delivered is logged: the record is still where it was read.
 */
public final class DeadLetters implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(DeadLetters.class);
    private static final int MAX_BLOCK_MS = 5_000;

    private final String topic;
    private final Producer<byte[], byte[]> producer;

    /** Connects; the cluster is not asked anything yet. */
    public DeadLetters(KafkaAccess access, String topic) {
        this.topic = topic;
        Map<String, Object> settings = access.client(Map.of("acks", "all", "enable.idempotence", "true", "max.block.ms", MAX_BLOCK_MS));
        producer = new KafkaProducer<>(settings, new ByteArraySerializer(), new ByteArraySerializer());
    }

    void send(ConsumerRecord<byte[], byte[]> record, SkipReason reason, String detail) {
        Headers headers = new RecordHeaders(record.headers());
        put(headers, "tierlog.topic", record.topic());
        put(headers, "tierlog.partition", String.valueOf(record.partition()));
        put(headers, "tierlog.offset", String.valueOf(record.offset()));
        put(headers, "tierlog.reason", reason.name());
        put(headers, "tierlog.detail", detail);
        var letter = new ProducerRecord<>(topic, null, record.key(), record.value(), headers);
        var _ = producer.send(letter, (metadata, failure) -> {
            if (failure != null) {
                LOG.warn("no dead letter for {} partition {} offset {}: {}", record.topic(), record.partition(), record.offset(),
                        failure.getMessage());
            }
        });
    }

    /** Gives the connections back. */
    @Override
    public void close() {
        producer.close(Duration.ofSeconds(1));
    }

    private static void put(Headers headers, String name, String value) {
        headers.add(name, value.getBytes(StandardCharsets.UTF_8));
    }
}
