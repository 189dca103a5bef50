/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.streams;

import io.tierlog.events.Codec;
import io.tierlog.events.KafkaAccess;
import io.tierlog.events.LogReader;
import io.tierlog.events.LogReader.Isolation;
import io.tierlog.events.Partitions;
import io.tierlog.events.Schemas;
import io.tierlog.events.TopicAdmin;
import io.tierlog.events.topic.Topics;
import io.tierlog.ops.kafka.EmbeddedKafka;
import io.tierlog.schemas.WireRecord;
import io.tierlog.schemas.decision.Fact;
import io.tierlog.schemas.event.Event;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.RemoveMembersFromConsumerGroupOptions;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** The topics of one log on a broker, and a plain producer. */
public final class TestLog implements AutoCloseable {
    public static final Duration PATIENCE = Duration.ofSeconds(60);

    private static final AtomicInteger NUMBER = new AtomicInteger();

    public final int partitions;
    public final Topics topics;
    public final KafkaAccess access;
    public final Codec codec = new Codec(Schemas.bundled());
    private final Producer<byte[], byte[]> producer;

    public TestLog(EmbeddedKafka broker, int partitions) {
        this.partitions = partitions;
        topics = new Topics("test" + NUMBER.incrementAndGet());
        access = KafkaAccess.of(broker.bootstrapServers());
        try (TopicAdmin admin = new TopicAdmin(access)) {
            admin.create(topics, partitions, 1);
        }
        producer = new KafkaProducer<>(
                access.client(Map.of("linger.ms", 0, "acks", "all")), new ByteArraySerializer(), new ByteArraySerializer());
    }

    /** Settings for a controller on this log. */
    public ControllerConfig.Builder controller(Path stateDir) {
        return ControllerConfig.of(access, stateDir)
                .with()
                .topics(topics)
                .applicationId(topics.prefix() + "-controller")
                .http("127.0.0.1", 0);
    }

    /** Appends an event where it belongs and waits until it is there; returns its offset. */
    public long append(Event event) {
        String aggregate = event.envelope().aggregate();
        return append(Partitions.of(aggregate, partitions), Partitions.key(aggregate), codec.encode(topics.events(), event));
    }

    /** Appends an event where it belongs, soon. */
    void appendLater(Event event) {
        String aggregate = event.envelope().aggregate();
        Future<RecordMetadata> _ = producer.send(new ProducerRecord<>(
                topics.events(),
                Partitions.of(aggregate, partitions),
                Partitions.key(aggregate),
                codec.encode(topics.events(), event)));
    }

    /** Appends a decision as no controller does, where it belongs; returns its offset. */
    long append(String topic, Fact forged) {
        String aggregate = forged.envelope().aggregate();
        return append(topic, Partitions.of(aggregate, partitions), Partitions.key(aggregate), codec.encode(topic, forged));
    }

    /** Appends bytes. */
    long append(int partition, byte[] key, byte[] value) {
        return append(topics.events(), partition, key, value);
    }

    /** Appends these bytes to a topic and returns their offset. */
    long append(String topic, int partition, byte[] key, byte[] value) {
        try {
            return producer.send(new ProducerRecord<>(topic, partition, key, value)).get(30, TimeUnit.SECONDS).offset();
        } catch (Exception e) {
            throw new IllegalStateException("could not append", e);
        }
    }

    public <F extends WireRecord> LogReader<F> reader(String topic, Class<F> family, Isolation isolation) {
        return new LogReader<>(access, codec, new LogReader.Source<>(topic, family, isolation));
    }

    /** Ends the membership of instances that were closed: the next instance need not wait for the end of their sessions. */
    public void forgetMembers(String group) throws InterruptedException, ExecutionException, TimeoutException {
        try (Admin admin = Admin.create(access.client(Map.of()))) {
            if (admin.describeConsumerGroups(List.of(group)).describedGroups().get(group).get(30, TimeUnit.SECONDS).members().isEmpty()) {
                return;
            }
            admin.removeMembersFromConsumerGroup(group, new RemoveMembersFromConsumerGroupOptions()).all().get(30, TimeUnit.SECONDS);
        }
    }

    /** Waits for a condition without a fixed sleep. */
    public static void await(String what, BooleanSupplier condition) {
        await(what, PATIENCE, condition);
    }

    /** Waits for a condition that takes its time. */
    public static void await(String what, Duration patience, BooleanSupplier condition) {
        long deadline = System.nanoTime() + patience.toNanos();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() > deadline) {
                throw new AssertionError("did not come about within " + patience + ": " + what);
            }
            LockSupport.parkNanos(10_000_000);
        }
    }

    @Override
    public void close() {
        producer.close(Duration.ofSeconds(1));
    }
}
