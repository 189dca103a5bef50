/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app;

import io.tierlog.events.Codec;
import io.tierlog.events.KafkaAccess;
import io.tierlog.events.LogReader;
import io.tierlog.events.Partitions;
import io.tierlog.events.Reading;
import io.tierlog.events.Schemas;
import io.tierlog.events.sign.RecordSigner;
import io.tierlog.events.topic.Topics;
import io.tierlog.schemas.Block;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.Policy;
import io.tierlog.schemas.RefusalReason;
import io.tierlog.schemas.WireRecord;
import io.tierlog.schemas.WritePolicy;
import io.tierlog.schemas.command.CommandHeader;
import io.tierlog.schemas.decision.AgentAccepted;
import io.tierlog.schemas.decision.AgentRefused;
import io.tierlog.schemas.event.AgentRegistering;
import io.tierlog.schemas.event.Event;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.function.Predicate;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** Plays the controller by a plain producer: every decision and command is written down by the test. For one thread. */
final class ScriptedController implements AutoCloseable {
    static final Policy POLICY = new Policy(0, WritePolicy.WRITE_BACK, 0.9, 0.8, 0.95, 0.9, true, 64, 30_000, 10_000, 10, true, null, null);

    private static final Duration PATIENCE = Duration.ofSeconds(20);

    private final Codec codec = new Codec(Schemas.bundled());
    private final Topics topics;
    private final KafkaProducer<byte[], byte[]> producer;
    private final LogReader<Event> reader;
    private final List<Event> events = new ArrayList<>();
    private final List<Integer> partitions = new ArrayList<>();
    private long commandSequence;

    ScriptedController(KafkaAccess access, Topics topics) {
        this.topics = topics;
        producer = new KafkaProducer<>(
                access.signed(RecordSigner.Writer.CONTROLLER, access.client(Map.of("acks", "all", "linger.ms", 0))),
                new ByteArraySerializer(), new ByteArraySerializer());
        reader = new LogReader<>(access, codec, new LogReader.Source<>(topics.events(), Event.class, LogReader.Isolation.ALL));
    }

    /** All events read so far. */
    List<Event> events() {
        return events;
    }

    /** Partition of each of {@link #events}. */
    List<Integer> partitions() {
        return partitions;
    }

    /** The first event of that type that fits, read from the log or read before. */
    <E extends Event> E await(Class<E> type, Predicate<E> fits) {
        long end = System.nanoTime() + PATIENCE.toNanos();
        while (true) {
            for (Event event : events) {
                if (type.isInstance(event) && fits.test(type.cast(event))) {
                    return type.cast(event);
                }
            }
            if (System.nanoTime() - end > 0) {
                List<?> there = events.stream().map(Event::getClass).toList();
                throw new AssertionError("no " + type.getSimpleName() + " that fits, only " + there);
            }
            read(Duration.ofMillis(50));
        }
    }

    <E extends Event> E await(Class<E> type) {
        return await(type, any -> true);
    }

    /** Reads what is there. */
    void read(Duration patience) {
        reader.poll(patience, entry -> {
            if (entry.reading() instanceof Reading.Decoded<Event> decoded) {
                events.add(decoded.value());
                partitions.add(entry.partition());
            }
        });
    }

    void accept(AgentRegistering asked, long incarnation) {
        decide(asked.node(), new AgentAccepted(
                envelope(asked.node(), 0),
                asked.node(),
                asked.processId(),
                incarnation,
                asked.tiers(),
                asked.layoutDigest(),
                asked.configurationDigest(),
                0,
                POLICY, null, false));
    }

    void refuse(AgentRegistering asked, RefusalReason reason, String detail) {
        decide(asked.node(), new AgentRefused(envelope(asked.node(), 0), asked.node(), asked.processId(), reason, detail));
    }

    void decide(String node, WireRecord decision) {
        send(topics.decisions(), node, codec.encode(topics.decisions(), decision));
    }

    void command(String node, WireRecord command) {
        send(topics.commands(), node, codec.encode(topics.commands(), command));
    }

    void send(String topic, String node, byte[] value) {
        try {
            int partition = Partitions.of("node/" + node, producer.partitionsFor(topic).size());
            producer.send(new ProducerRecord<>(topic, partition, Partitions.key("node/" + node), value)).get();
        } catch (InterruptedException | ExecutionException e) {
            throw new AssertionError(e);
        }
    }

    /** Number and id for the next command. */
    CommandHeader header() {
        commandSequence++;
        return new CommandHeader("node/a@" + commandSequence + ".0", commandSequence);
    }

    static Envelope envelope(String node, long incarnation) {
        return new Envelope("node/" + node, "controller/0", incarnation, 1, 0, 0, null, null, null);
    }

    static Bytes key(int seed) {
        return Bytes.ofHex("%016x".formatted(0x51ab_0000 + seed));
    }

    @Override
    public void close() {
        producer.close(Duration.ofSeconds(1));
        reader.close();
    }

    /** The block of that index in the prompt that all tests use. */
    static Block block(int index) {
        return new Block(index, key(index), index == 0 ? Bytes.EMPTY : key(index - 1));
    }
}
