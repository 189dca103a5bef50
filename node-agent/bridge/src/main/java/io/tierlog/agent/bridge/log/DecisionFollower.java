/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.bridge.log;

import io.tierlog.events.KafkaAccess;
import io.tierlog.events.Reading;
import io.tierlog.events.RecordReader;
import io.tierlog.events.registry.RegistryUnavailableException;
import io.tierlog.schemas.WireType;
import io.tierlog.schemas.decision.AgentAccepted;
import io.tierlog.schemas.decision.AgentRefused;
import io.tierlog.schemas.decision.Fact;
import io.tierlog.schemas.decision.InputRefused;
import io.tierlog.schemas.decision.NodeEnded;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.WakeupException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads what the controller decides about the bridge's own nodes, from the moment of its start on: registrations, ends, refusals. One thread.
 * Trade-off: it reads all partitions, and drops the records of other nodes by their keys.
 */
public final class DecisionFollower implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(DecisionFollower.class);
    private static final Duration POLL = Duration.ofMillis(200);
    private static final long CLOSE_MS = 5_000;
    private static final List<WireType<? extends Fact>> WANTED =
            List.of(AgentAccepted.TYPE, AgentRefused.TYPE, NodeEnded.TYPE, InputRefused.TYPE);

    private final KafkaConsumer<byte[], byte[]> consumer;
    private final RecordReader<Fact> reader;
    private final Predicate<String> own;
    private final Consumer<Fact> facts;
    private final Consumer<Throwable> fatal;
    private final AtomicBoolean closing = new AtomicBoolean();
    private final Thread thread;

    /**
     * Stands at the end of the decisions when it returns.
     *
     * @param own whether an aggregate is a node of this bridge
     * @param facts receives the facts about them, on the thread of this follower
     */
    public DecisionFollower(EventWriter.Log log, Predicate<String> own, Consumer<Fact> facts, Consumer<Throwable> fatal) {
        this.own = own;
        this.facts = facts;
        this.fatal = fatal;
        reader = log.codec().reader(Fact.class);
        consumer = new KafkaConsumer<>(log.access().client(Map.of(
                "isolation.level", "read_committed",
                "enable.auto.commit", "false",
                "auto.offset.reset", "latest",
                "default.api.timeout.ms", Math.toIntExact(log.access().timeout().toMillis()))),
                new ByteArrayDeserializer(), new ByteArrayDeserializer());
        try {
            List<TopicPartition> all = new ArrayList<>();
            for (int partition = 0; partition < log.partitions(); partition++) {
                all.add(new TopicPartition(log.topics().decisions(), partition));
            }
            consumer.assign(all);
            consumer.seekToEnd(all);
            // seekToEnd is lazy: the position is what pins the end down.
            all.forEach(consumer::position);
        } catch (RuntimeException e) {
            consumer.close(KafkaAccess.AT_ONCE);
            throw e;
        }
        thread = Thread.ofPlatform().name("bridge-decisions").daemon().start(this::run);
    }

    private void run() {
        try {
            while (!closing.get()) {
                for (ConsumerRecord<byte[], byte[]> record : consumer.poll(POLL)) {
                    if (record.key() != null && own.test(new String(record.key(), StandardCharsets.UTF_8))) {
                        read(record.value());
                    }
                }
            }
        } catch (WakeupException | InterruptException e) {
            // Closed.
        } catch (RuntimeException | Error e) {
            fatal.accept(e);
        } finally {
            consumer.close(KafkaAccess.AT_ONCE);
        }
    }

    private void read(byte[] value) {
        while (!closing.get()) {
            try {
                // By their schemas first: a newer controller may decide what this version has no type for.
                if (WANTED.stream().anyMatch(type -> reader.is(value, type)) && reader.read(value) instanceof Reading.Decoded<Fact>(Fact fact)) {
                    facts.accept(fact);
                }
                return;
            } catch (RegistryUnavailableException e) {
                LOG.warn("a decision waits for the registry: {}", e.getMessage());
                pause(Math.max(1, e.retryInMs()));
            }
        }
    }

    private static void pause(long ms) {
        try {
            Thread.sleep(ms);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new WakeupException();
        }
    }

    @Override
    public void close() {
        closing.set(true);
        consumer.wakeup();
        try {
            thread.join(CLOSE_MS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
