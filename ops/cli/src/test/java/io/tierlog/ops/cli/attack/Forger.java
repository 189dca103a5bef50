/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.attack;

import io.tierlog.events.Codec;
import io.tierlog.events.KafkaAccess;
import io.tierlog.events.Partitions;
import io.tierlog.events.Schemas;
import io.tierlog.schemas.WireRecord;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** A client with the right to write to every topic and to delete it. */
final class Forger implements AutoCloseable {
    private static final Codec CODEC = new Codec(Schemas.bundled());

    private final KafkaProducer<byte[], byte[]> producer;
    private final Admin admin;

    Forger(KafkaAccess access) {
        producer = new KafkaProducer<>(access.client(Map.of("acks", "all")), new ByteArraySerializer(), new ByteArraySerializer());
        admin = Admin.create(access.client(Map.of()));
    }

    /** Appends a valid record about an aggregate, where records about it belong. */
    void append(String topic, String aggregate, WireRecord record) throws Exception {
        append(topic, Partitions.of(aggregate, AttackScene.PARTITIONS), Partitions.key(aggregate),
                CODEC.frame(topic, record.schema(), Codec.avro(record)));
    }

    /** Appends any bytes. */
    void append(String topic, int partition, byte[] key, byte[] value) throws Exception {
        producer.send(new ProducerRecord<>(topic, partition, key, value)).get();
    }

    /** Deletes a topic, with all that it holds. */
    void delete(String topic) throws Exception {
        admin.deleteTopics(List.of(topic)).all().get();
    }

    @Override
    public void close() {
        producer.close();
        admin.close();
    }
}
