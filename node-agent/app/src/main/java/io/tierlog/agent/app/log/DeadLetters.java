/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.log;

import io.tierlog.events.Causes;
import io.tierlog.events.DeadLetter;
import io.tierlog.events.KafkaAccess;
import io.tierlog.events.QueuedProducer;
import io.tierlog.schemas.SkipReason;
import io.tierlog.threads.RareWarning;
import java.time.Duration;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What could not be read, put aside for people. Safe for use by several threads; no call waits for a broker. A letter that cannot be delivered is
 * logged: the record is still where it was read.
 */
public final class DeadLetters implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(DeadLetters.class);
    private static final QueuedProducer.Bounds BOUNDS = new QueuedProducer.Bounds(1_000, 16 << 20, Duration.ofSeconds(30));

    private final String topic;
    private final QueuedProducer producer;
    private final RareWarning warning = new RareWarning(LOG);

    /** Connects; the cluster is not asked anything yet. */
    public DeadLetters(KafkaAccess access, String topic) {
        this.topic = topic;
        Map<String, Object> settings =
                access.client(Map.of("acks", "all", "enable.idempotence", "true", "max.block.ms", QueuedProducer.MAX_BLOCK_MS));
        producer = new QueuedProducer(
                "agent-dead-letters", new KafkaProducer<>(settings, new ByteArraySerializer(), new ByteArraySerializer()), BOUNDS);
    }

    void send(ConsumerRecord<byte[], byte[]> record, SkipReason reason, String detail) {
        DeadLetter.Place place = new DeadLetter.Place(record.topic(), record.partition(), record.offset());
        producer.send(
                DeadLetter.of(topic, place, record.key(), record.value(), record.headers(), reason, detail),
                failure -> warning.warn(
                        "no dead letter for {} partition {} offset {}: {}", record.topic(), record.partition(), record.offset(), Causes.of(failure)),
                () -> {});
    }

    /** Gives the connections back. */
    @Override
    public void close() {
        producer.close(Duration.ofSeconds(1));
    }
}
