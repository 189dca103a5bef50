/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cluster;

import io.tierlog.controller.core.policy.Policies;
import io.tierlog.events.KafkaAccess;
import io.tierlog.events.LogReader;
import io.tierlog.events.Partitions;
import io.tierlog.events.Reading;
import io.tierlog.events.topic.Topics;
import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.OperationKind;
import io.tierlog.schemas.SkipReason;
import io.tierlog.schemas.command.CancelOperation;
import io.tierlog.schemas.command.CommandHeader;
import io.tierlog.schemas.decision.Fact;
import io.tierlog.schemas.decision.InputSkipped;
import io.tierlog.schemas.decision.MigrationStopping;
import io.tierlog.schemas.event.AgentHeartbeat;
import io.tierlog.schemas.event.Event;
import io.tierlog.schemas.event.MigrationCancelRequested;
import io.tierlog.schemas.event.PolicyChangeRequested;
import io.tierlog.schemas.event.Tick;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** One record of every kind, written by a principal that the brokers let write it, and without a code. For one thread. */
final class Forgeries {
    static final long EVENTS = 4;
    static final long COMMANDS = 1;
    static final long DECISIONS = 1;
    static final long PLACEMENTS = 1;
    private static final Topics TOPICS = Topics.DEFAULT;

    private final TierlogCluster cluster;

    Forgeries(TierlogCluster cluster) {
        this.cluster = cluster;
    }

    /** The agent of a speaks for b, the clock, the policy and an operator; who has the controllers' ACLs commands, decides and places. */
    void send() throws Exception {
        try (KafkaProducer<byte[], byte[]> agent = producer("agent"); KafkaProducer<byte[], byte[]> controller = producer("controller")) {
            event(agent, new AgentHeartbeat(from("agent/b/forged", "node/b", 1), List.of(), 0, 0, 0));
            event(agent, new Tick(from("clock/0/forged", "clock/0", 0), Long.MAX_VALUE / 2, 1));
            event(agent, new PolicyChangeRequested(from("operator/forged/1", "policy", 0), 0, Policies.INITIAL));
            event(agent, new MigrationCancelRequested(from("operator/forged/2", "node/a", 0)));
            Envelope ofController = from("controller/" + Partitions.of("node/a", TierlogCluster.PARTITIONS), "node/a", 1);
            append(controller, TOPICS.commands(), "node/a", cluster.codec().encode(TOPICS.commands(),
                    new CancelOperation(ofController, new CommandHeader("forged", 1_000_000), "forged", OperationKind.COPY)));
            append(controller, TOPICS.decisions(), "node/a", cluster.codec().encode(TOPICS.decisions(),
                    new MigrationStopping(ofController, "forged", 1_000_000)));
            ConsumerRecord<byte[], byte[]> real = aPlacement();
            controller.send(new ProducerRecord<>(TOPICS.placements(), real.partition(), real.key(), real.value())).get();
        }
    }

    private KafkaProducer<byte[], byte[]> producer(String principal) throws IOException {
        return new KafkaProducer<>(cluster.as(principal).client(Map.of("acks", "all", "enable.idempotence", false)), new ByteArraySerializer(),
                new ByteArraySerializer());
    }

    private static Envelope from(String sender, String aggregate, long incarnation) {
        return new Envelope(aggregate, sender, incarnation, 1, 0, 1_000, null, null, null, null);
    }

    private void event(KafkaProducer<byte[], byte[]> producer, Event event) throws Exception {
        append(producer, TOPICS.events(), event.envelope().aggregate(), cluster.codec().encode(TOPICS.events(), event));
    }

    private static void append(KafkaProducer<byte[], byte[]> producer, String topic, String aggregate, byte[] value)
            throws ExecutionException, InterruptedException {
        producer.send(new ProducerRecord<>(topic, Partitions.of(aggregate, TierlogCluster.PARTITIONS), Partitions.key(aggregate), value)).get();
    }

    /** The last placement that is no tombstone. */
    private ConsumerRecord<byte[], byte[]> aPlacement() {
        AtomicReference<ConsumerRecord<byte[], byte[]>> last = new AtomicReference<>();
        read(cluster.auditor(), TOPICS.placements(), record -> {
            if (record.value() != null) {
                last.set(record);
            }
        });
        return Objects.requireNonNull(last.get(), "no placement was published");
    }

    /** Records that were put aside as forged. */
    long deadLetters() {
        AtomicLong count = new AtomicLong();
        try {
            read(cluster.as("dashboard"), TOPICS.deadLetters(), record -> {
                Header reason = record.headers().lastHeader("tierlog.reason");
                if (reason != null && SkipReason.FORGED.name().equals(new String(reason.value(), StandardCharsets.UTF_8))) {
                    count.incrementAndGet();
                }
            });
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
        return count.get();
    }

    /** Decisions that an event was skipped as forged. */
    long skipped() {
        AtomicLong count = new AtomicLong();
        LogReader.Source<Fact> source = new LogReader.Source<>(TOPICS.decisions(), Fact.class, LogReader.Isolation.COMMITTED);
        try (LogReader<Fact> reader = new LogReader<>(cluster.auditor(), cluster.codec(), source)) {
            reader.readToEnd(entry -> {
                if (entry.reading() instanceof Reading.Decoded<Fact>(InputSkipped skip) && skip.reason() == SkipReason.FORGED) {
                    count.incrementAndGet();
                }
            });
        }
        return count.get();
    }

    private static void read(KafkaAccess access, String topic, Consumer<ConsumerRecord<byte[], byte[]>> each) {
        try (KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(access.client(Map.of("isolation.level", "read_committed",
                "enable.auto.commit", false)), new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            List<TopicPartition> all = IntStream.range(0, TierlogCluster.PARTITIONS).mapToObj(p -> new TopicPartition(topic, p)).toList();
            consumer.assign(all);
            consumer.seekToBeginning(all);
            Map<TopicPartition, Long> ends = consumer.endOffsets(all);
            while (all.stream().anyMatch(one -> consumer.position(one) < ends.getOrDefault(one, 0L))) {
                consumer.poll(Duration.ofMillis(100)).forEach(each);
            }
        }
    }
}
