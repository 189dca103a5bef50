/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.log;

import io.tierlog.agent.core.api.AgentInput.Registered;
import io.tierlog.agent.core.port.EventSink;
import io.tierlog.events.KafkaAccess;
import io.tierlog.events.Partitions;
import io.tierlog.events.Reading;
import io.tierlog.events.RecordReader;
import io.tierlog.events.registry.RegistryUnavailableException;
import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.RefusalReason;
import io.tierlog.schemas.decision.AgentAccepted;
import io.tierlog.schemas.decision.AgentRefused;
import io.tierlog.schemas.decision.Fact;
import io.tierlog.schemas.event.Event;
import io.tierlog.threads.RareWarning;
import java.time.Duration;
import java.util.Arrays;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * How a process comes to speak for its node: it asks by AgentRegistering, and the controller answers by a committed decision.
 *
 * <p>Blocks its caller, for as long as no controller answers; it asks once and waits, since a second request would be a second incarnation.
 * Refused as a duplicate it asks again every second, until the registration time-out has passed since the first refusal: the other process
 * may be dead and its silence not over. Every other refusal is final.
 */
public final class Registrar {
    private static final Logger LOG = LoggerFactory.getLogger(Registrar.class);
    private static final Duration POLL = Duration.ofMillis(100);
    private static final long ASK_AGAIN_MS = 1_000;
    private static final long REMIND_MS = 10_000;

    private final RareWarning warning = new RareWarning(LOG);
    private final AgentLog log;
    private final EventSink sink;
    private final Duration timeout;
    private final BooleanSupplier stopped;

    /**
     * @param timeout how long to keep asking after the first refusal because another process is registered
     * @param stopped true when the agent is stopping, or the question may not be in the log
     */
    public Registrar(AgentLog log, EventSink sink, Duration timeout, BooleanSupplier stopped) {
        this.log = log;
        this.sink = sink;
        this.timeout = timeout;
        this.stopped = stopped;
    }

    /**
     * Registers.
     *
     * @param registering makes the question
     * @return what the core must know, or nothing when stopped meanwhile
     * @throws RegistrationRefusedException when the controller refused it for good
     */
    public Optional<Registered> register(Function<Envelope, Event> registering) throws InterruptedException {
        TopicPartition partition = log.partitionIn(log.topics().decisions());
        RecordReader<Fact> reader = log.codec().reader(Fact.class);
        // From the first refusal on, since no controller may have run for hours before it.
        long refusedNs = 0;
        boolean wasRefused = false;
        KafkaConsumer<byte[], byte[]> consumer = log.atTheEndOf(partition, true);
        try {
            while (true) {
                sink.append(log.aggregate(), "", registering);
                Optional<Fact> answer = await(consumer, reader);
                if (answer.isEmpty()) {
                    return Optional.empty();
                }
                if (answer.get() instanceof AgentAccepted accepted) {
                    return Optional.of(new Registered(
                            accepted.newIncarnation(), accepted.commandSequence(), accepted.policy(), accepted.sessionMs()));
                }
                AgentRefused refused = (AgentRefused) answer.get();
                refusedNs = wasRefused ? refusedNs : System.nanoTime();
                wasRefused = true;
                long waitedMs = (System.nanoTime() - refusedNs) / 1_000_000;
                if (refused.reason() != RefusalReason.DUPLICATE_NODE || waitedMs + ASK_AGAIN_MS > timeout.toMillis()) {
                    throw new RegistrationRefusedException(log.node(), refused.reason(), refused.detail());
                }
                LOG.info("another process is registered for node {} ({}); asking again", log.node(), refused.detail());
                Thread.sleep(ASK_AGAIN_MS);
            }
        } finally {
            consumer.close(KafkaAccess.AT_ONCE);
        }
    }

    /** The decision about this process, or nothing when stopped. */
    private Optional<Fact> await(KafkaConsumer<byte[], byte[]> consumer, RecordReader<Fact> reader) throws InterruptedException {
        byte[] key = Partitions.key(log.aggregate());
        long remindedNs = System.nanoTime();
        while (!stopped.getAsBoolean()) {
            Optional<Fact> found = Optional.empty();
            for (ConsumerRecord<byte[], byte[]> record : consumer.poll(POLL)) {
                if (found.isEmpty() && Arrays.equals(key, record.key()) && !isForged(record)) {
                    found = read(reader, record).filter(this::isOurs);
                }
            }
            if (found.isPresent()) {
                return found;
            }
            if (System.nanoTime() - remindedNs > REMIND_MS * 1_000_000) {
                remindedNs = System.nanoTime();
                LOG.warn("node {}: no controller has answered yet; requests are answered from what is here and nothing is fetched",
                        log.node());
            }
        }
        return Optional.empty();
    }

    private boolean isForged(ConsumerRecord<byte[], byte[]> record) {
        Optional<String> why = log.access().signing()
                .map(on -> on.check(record.topic(), record.partition(), record.key(), record.value(), record.headers()));
        why.ifPresent(what -> warning.warn("node {}: a decision at offset {} is passed over, no controller with our keys wrote it: {}", log.node(),
                record.offset(), what));
        return why.isPresent();
    }

    private boolean isOurs(Fact decision) {
        return switch (decision) {
            case AgentAccepted accepted -> accepted.processId().equals(log.processId());
            case AgentRefused refused -> refused.processId().equals(log.processId());
            default -> false;
        };
    }

    private static Optional<Fact> read(RecordReader<Fact> reader, ConsumerRecord<byte[], byte[]> record)
            throws InterruptedException {
        while (true) {
            try {
                // By its schema first: a newer controller may decide what this version has no type for.
                boolean wanted = reader.is(record.value(), AgentAccepted.TYPE) || reader.is(record.value(), AgentRefused.TYPE);
                return wanted && reader.read(record.value()) instanceof Reading.Decoded<Fact>(Fact fact) ? Optional.of(fact) : Optional.empty();
            } catch (RegistryUnavailableException e) {
                LOG.warn("a decision waits for the registry: {}", e.getMessage());
                Thread.sleep(Math.max(1, e.retryInMs()));
            }
        }
    }
}
