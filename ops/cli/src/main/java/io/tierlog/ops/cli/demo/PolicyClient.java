/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.demo;

import io.tierlog.events.Codec;
import io.tierlog.events.KafkaAccess;
import io.tierlog.events.LogReader;
import io.tierlog.events.LogReader.Isolation;
import io.tierlog.events.LogReader.Source;
import io.tierlog.events.Partitions;
import io.tierlog.events.Reading;
import io.tierlog.events.Topics;
import io.tierlog.ops.cli.CliError;
import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.Policy;
import io.tierlog.schemas.decision.Decision;
import io.tierlog.schemas.decision.PolicyAdopted;
import io.tierlog.schemas.decision.PolicyRefused;
import io.tierlog.schemas.decision.PolicyVersioned;
import io.tierlog.schemas.event.PolicyChangeRequested;
import java.time.Duration;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** Asks the controller for a policy and waits until every partition goes by it. One call at a time. */
final class PolicyClient {
    private static final String AGGREGATE = "policy";
    private static final Duration POLL = Duration.ofMillis(100);

    private final KafkaAccess access;
    private final Codec codec;
    private final Topics topics;

    PolicyClient(KafkaAccess access, Codec codec, Topics topics) {
        this.access = access;
        this.codec = codec;
        this.topics = topics;
    }

    /**
     * Makes {@code policy} the first version of a fresh log.
     *
     * @throws CliError when it is refused, or not in force everywhere within {@code limit}
     */
    void setFirst(Policy policy, Duration limit) throws InterruptedException {
        Waiting waiting = new Waiting();
        try (LogReader<Decision> decisions =
                new LogReader<>(access, codec, new Source<>(topics.decisions(), Decision.class, Isolation.COMMITTED))) {
            int partitions = decisions.seekToEnd().size();
            send(policy);
            long untilNanos = System.nanoTime() + limit.toNanos();
            while (waiting.adoptedBy.size() < partitions && System.nanoTime() < untilNanos) {
                decisions.poll(POLL, entry -> {
                    if (entry.reading() instanceof Reading.Decoded<Decision>(Decision decision)) {
                        waiting.take(decision);
                    }
                });
            }
            if (waiting.adoptedBy.size() < partitions) {
                throw new CliError(
                        "the policy is in force in " + waiting.adoptedBy.size() + " of " + partitions
                                + " partitions after " + limit.toSeconds() + " s",
                        "is the controller running? Look at its output",
                        CliError.FAILURE);
            }
        }
    }

    private void send(Policy policy) throws InterruptedException {
        Map<String, Object> settings = access.client(Map.of("enable.idempotence", true, "linger.ms", 0, "acks", "all"));
        String sender = "operator/" + UUID.randomUUID();
        Envelope envelope = new Envelope(AGGREGATE, sender, 0, 1, 0, System.currentTimeMillis(), null, null, null);
        byte[] value = codec.encode(topics.events(), new PolicyChangeRequested(envelope, 0, policy));
        try (KafkaProducer<byte[], byte[]> producer = new KafkaProducer<>(settings, new ByteArraySerializer(), new ByteArraySerializer())) {
            producer.send(new ProducerRecord<>(topics.events(), Partitions.key(AGGREGATE), value)).get();
        } catch (ExecutionException e) {
            throw new CliError("the policy could not be sent: " + e.getCause(), "look at --bootstrap-servers", CliError.FAILURE, e);
        }
    }

    private static final class Waiting {
        private final Set<String> adoptedBy = new HashSet<>();
        private long version = Long.MAX_VALUE;

        private void take(Decision decision) {
            switch (decision) {
                case PolicyVersioned versioned -> version = versioned.version();
                case PolicyRefused refused ->
                    throw new CliError("the policy was refused: " + String.join("; ", refused.findings()), "look at --help", CliError.BAD_INPUT);
                case PolicyAdopted adopted when adopted.version() <= version -> adoptedBy.add(adopted.envelope().aggregate());
                default -> {}
            }
        }
    }
}
