/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.attack;

import io.tierlog.events.Codec;
import io.tierlog.events.KafkaAccess;
import io.tierlog.events.Partitions;
import io.tierlog.events.Schemas;
import io.tierlog.schemas.WireRecord;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.stream.IntStream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.GroupListing;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.GroupIdNotFoundException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** A client with the right to write to every topic and to delete it. */
final class Forger implements AutoCloseable {
    private static final Codec CODEC = new Codec(Schemas.bundled());

    private final KafkaAccess access;
    private final KafkaProducer<byte[], byte[]> producer;
    private final Admin admin;

    Forger(KafkaAccess access) {
        this.access = access;
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

    /** All topics. */
    Set<String> topics() throws Exception {
        return admin.listTopics().names().get();
    }

    /** All consumer groups. */
    List<String> groups() throws Exception {
        return admin.listGroups().all().get().stream().map(GroupListing::groupId).toList();
    }

    /** Deletes groups with their offsets; false while they have members. */
    boolean forgetOffsets(List<String> groups) {
        try {
            admin.deleteConsumerGroups(groups).all().get();
            return true;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        } catch (ExecutionException e) {
            return e.getCause() instanceof GroupIdNotFoundException; // by an earlier try
        }
    }

    /** Appends the first record of a topic again, as it is. */
    void repeatFirst(String topic) throws Exception {
        try (KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(
                access.client(Map.of("isolation.level", "read_committed")), new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            List<TopicPartition> all = IntStream.range(0, AttackScene.PARTITIONS).mapToObj(p -> new TopicPartition(topic, p)).toList();
            consumer.assign(all);
            consumer.seekToBeginning(all);
            for (int i = 0; i < 100; i++) {
                for (ConsumerRecord<byte[], byte[]> first : consumer.poll(Duration.ofMillis(200))) {
                    producer.send(new ProducerRecord<>(topic, first.partition(), first.key(), first.value(), first.headers())).get();
                    return;
                }
            }
        }
        throw new AssertionError(topic + " has no record");
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
