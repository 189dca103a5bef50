/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.policy;

import io.tierlog.controller.core.policy.Policies;
import io.tierlog.events.Codec;
import io.tierlog.events.KafkaAccess;
import io.tierlog.events.LogReader;
import io.tierlog.events.LogReader.Entry;
import io.tierlog.events.LogReader.Isolation;
import io.tierlog.events.LogReader.Source;
import io.tierlog.events.Partitions;
import io.tierlog.events.Reading;
import io.tierlog.events.TopicAdmin;
import io.tierlog.events.UnknownTypeException;
import io.tierlog.events.acl.AccessRole;
import io.tierlog.events.acl.AclTable;
import io.tierlog.events.sign.KeyNames;
import io.tierlog.events.sign.RecordSigner;
import io.tierlog.events.topic.Topics;
import io.tierlog.ops.cli.command.CliError;
import io.tierlog.ops.cli.command.ClusterOptions;
import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.Policy;
import io.tierlog.schemas.RefusalReason;
import io.tierlog.schemas.decision.ConfigWarning;
import io.tierlog.schemas.decision.Fact;
import io.tierlog.schemas.decision.PolicyAdopted;
import io.tierlog.schemas.decision.PolicyRefused;
import io.tierlog.schemas.decision.PolicyVersioned;
import io.tierlog.schemas.event.PolicyChangeRequested;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ExecutionException;
import java.util.function.Function;
import java.util.function.Supplier;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.jspecify.annotations.Nullable;

/**
 * Reads the policy in force from the log, and requests another one from the controller. One call at a time.
 *
 * <p>Trade-off: the log is read backwards for the last version, in windows that grow, which on a long log with an old policy is most of a
 * partition.
 */
public final class PolicyClient {
    private static final String AGGREGATE = "policy";
    private static final Duration POLL = Duration.ofMillis(100);
    private static final long FIRST_WINDOW = 4_096;

    private final KafkaAccess access;
    private final Codec codec;
    private final Topics topics;
    private final long firstWindow;

    /** For a log; it is not contacted yet. */
    public PolicyClient(KafkaAccess access, Codec codec, Topics topics) {
        this(access, codec, topics, FIRST_WINDOW);
    }

    /** With another size of the first window, in offsets. */
    public PolicyClient(KafkaAccess access, Codec codec, Topics topics, long firstWindow) {
        this.access = access;
        this.codec = codec;
        this.topics = topics;
        this.firstWindow = firstWindow;
    }

    /**
     * A version of the policy.
     *
     * @param version from 1; 0 for the default, while no policy was applied
     */
    public record InForce(long version, Policy policy) {}

    /** The answer of the controller to a request. */
    public sealed interface Answer {
        /**
         * The policy is a version now.
         *
         * @param adoptedBy partitions that adopted it within the time limit
         */
        record Versioned(long version, List<ConfigWarning> warnings, int adoptedBy, int partitions) implements Answer {}

        /** The policy was refused; nothing has changed. */
        record Refused(RefusalReason reason, List<String> findings) implements Answer {}

        /** No answer came within the time limit; the controller may still apply the request. */
        record None() implements Answer {}
    }

    /**
     * The policy in force.
     *
     * @throws CliError when the log cannot be read, or not within {@code limit}, or was trimmed past the last version
     */
    public InForce inForce(Duration limit) {
        Deadline deadline = new Deadline(limit);
        return reading(decisions -> {
            Map<Integer, Long> begins = decisions.positions();
            int partition = Partitions.of(AGGREGATE, begins.size());
            long begin = begins.getOrDefault(partition, 0L);
            long to = decisions.seekToEnd().getOrDefault(partition, 0L);
            Latest latest = new Latest();
            for (long window = firstWindow; to > begin && latest.found == null; window *= 4) {
                long from = Math.max(begin, to - window);
                decisions.seek(partition, from);
                long end = to;
                while (decisions.positions().getOrDefault(partition, end) < end) {
                    deadline.check();
                    decisions.poll(POLL, entry -> latest.take(entry, partition, end));
                }
                to = from;
            }
            if (latest.found != null) {
                return latest.found;
            }
            if (begin > 0) {
                throw new CliError("the log was trimmed before offset " + begin + ", and what is left of it has no policy",
                        "GET /v1/policy of a controller has policy and version; give the version to policy apply as --based-on", CliError.BAD_INPUT);
            }
            return new InForce(0, Policies.INITIAL);
        });
    }

    /**
     * Requests {@code policy}, and waits until every partition has adopted it.
     *
     * @param basedOn the version in force
     * @throws CliError when the log cannot be read or written
     */
    public Answer change(Policy policy, long basedOn, Duration limit) {
        Deadline deadline = new Deadline(limit);
        ClusterOptions.checked(() -> {
            try (TopicAdmin admin = new TopicAdmin(access)) {
                AclTable.require(admin, topics, AccessRole.OPERATOR);
                return topics;
            }
        });
        return reading(decisions -> {
            int partitions = decisions.seekToEnd().size();
            Waiting waiting = new Waiting(send(policy, basedOn));
            while (!deadline.isOver() && waiting.refused == null && waiting.adoptedBy() < partitions) {
                decisions.poll(POLL, waiting::take);
            }
            if (waiting.refused != null) {
                return waiting.refused;
            }
            return waiting.version == 0
                    ? new Answer.None()
                    : new Answer.Versioned(waiting.version, List.copyOf(waiting.warnings), waiting.adoptedBy(), partitions);
        });
    }

    /**
     * Makes {@code policy} the first version of a fresh log.
     *
     * @throws CliError when it is refused, or not in force everywhere within {@code limit}
     */
    public void setFirst(Policy policy, Duration limit) {
        switch (change(policy, 0, limit)) {
            case Answer.Versioned v when v.adoptedBy() == v.partitions() -> {}
            case Answer.Versioned v -> throw new CliError(
                    "the policy is in force in " + v.adoptedBy() + " of " + v.partitions() + " partitions after " + limit.toSeconds() + " s",
                    "is the controller running? Look at its output", CliError.FAILURE);
            case Answer.None _ -> throw noAnswer(limit);
            case Answer.Refused refused -> throw new CliError(
                    "the policy was refused: " + String.join("; ", refused.findings()), "look at --help", CliError.BAD_INPUT);
        }
    }

    /** The error when the controller does not answer. */
    public static CliError noAnswer(Duration limit) {
        return new CliError("the controller has not answered within " + limit.toSeconds() + " s, and may still apply the policy",
                "is it running? Look with policy show before you apply again, or give more --timeout", CliError.FAILURE);
    }

    private <T> T reading(Function<LogReader<Fact>, T> step) {
        return guarded(() -> {
            try (TopicAdmin admin = new TopicAdmin(access)) {
                admin.check(topics);
            }
            try (LogReader<Fact> decisions =
                    new LogReader<>(access, codec, new Source<>(topics.decisions(), Fact.class, Isolation.COMMITTED))) {
                return step.apply(decisions);
            }
        });
    }

    private static <T> T guarded(Supplier<T> step) {
        try {
            return ClusterOptions.checked(step);
        } catch (UnknownTypeException e) {
            throw new CliError(e.getMessage(), "use the version that wrote the log, or a later one", CliError.BAD_INPUT, e);
        } catch (KafkaException e) {
            throw new CliError("the log cannot be read or written: " + e.getMessage(), "look at --bootstrap-servers", CliError.FAILURE, e);
        }
    }

    /** Appends the request; the answer names it as its cause. */
    private String send(Policy policy, long basedOn) {
        guarded(() -> {
            access.signing().ifPresent(on -> on.keys().require(KeyNames.OPERATOR));
            return access;
        });
        Map<String, Object> settings = access.signed(RecordSigner.Writer.of(KeyNames.OPERATOR), access.client(Map.of("enable.idempotence", true,
                "linger.ms", 0, "acks", "all", "max.block.ms", access.timeout().toMillis())));
        String sender = "operator/" + UUID.randomUUID();
        Envelope envelope = new Envelope(AGGREGATE, sender, 0, 1, 0, System.currentTimeMillis(), null, null, null);
        byte[] value = codec.encode(topics.events(), new PolicyChangeRequested(envelope, basedOn, policy));
        try (KafkaProducer<byte[], byte[]> producer = new KafkaProducer<>(settings, new ByteArraySerializer(), new ByteArraySerializer())) {
            int partition = Partitions.of(AGGREGATE, producer.partitionsFor(topics.events()).size());
            long offset = producer.send(new ProducerRecord<>(topics.events(), partition, Partitions.key(AGGREGATE), value)).get().offset();
            return AGGREGATE + "@" + offset;
        } catch (ExecutionException e) {
            throw new CliError("the policy could not be sent: " + e.getCause(), "look at --bootstrap-servers", CliError.FAILURE, e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new CliError("interrupted, and the policy may be on its way", "look with policy show", CliError.FAILURE, e);
        }
    }

    /** A deadline. */
    private static final class Deadline {
        private final Duration limit;
        private final long untilNanos;

        Deadline(Duration limit) {
            this.limit = limit;
            this.untilNanos = System.nanoTime() + limit.toNanos();
        }

        boolean isOver() {
            return System.nanoTime() - untilNanos >= 0;
        }

        void check() {
            if (isOver()) {
                throw new CliError("the policy in force was not found in the log within " + limit.toSeconds() + " s", "give more --timeout",
                        CliError.FAILURE);
            }
        }
    }

    /** The last version within what was read. */
    private static final class Latest {
        private @Nullable InForce found;

        void take(Entry<Fact> entry, int partition, long end) {
            if (entry.partition() == partition && entry.offset() < end
                    && entry.reading() instanceof Reading.Decoded<Fact>(Fact decision)
                    && decision instanceof PolicyVersioned versioned) {
                found = new InForce(versioned.version(), versioned.policy());
            }
        }
    }

    /** The facts about one request. Partitions are read in any order: the adoption of a version may be read before the version itself. */
    private static final class Waiting {
        private final String cause;
        private final List<ConfigWarning> warnings = new ArrayList<>();
        private final Map<String, Long> adopted = new HashMap<>();
        private Answer.@Nullable Refused refused;
        private long version;

        Waiting(String cause) {
            this.cause = cause;
        }

        void take(Entry<Fact> entry) {
            if (!(entry.reading() instanceof Reading.Decoded<Fact>(Fact decision))) {
                return;
            }
            boolean answer = cause.equals(decision.envelope().cause());
            switch (decision) {
                case PolicyVersioned versioned when answer -> version = versioned.version();
                case ConfigWarning warning when answer -> warnings.add(warning);
                case PolicyRefused refusal when answer -> refused = new Answer.Refused(refusal.reason(), refusal.findings());
                case PolicyAdopted adoption -> adopted.merge(adoption.envelope().aggregate(), adoption.version(), Math::max);
                default -> {}
            }
        }

        /** Partitions that have adopted it, or a later one. */
        int adoptedBy() {
            return version == 0 ? 0 : (int) adopted.values().stream().filter(one -> one >= version).count();
        }
    }
}
