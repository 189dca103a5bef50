/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.streams;

import io.tierlog.events.Causes;
import io.tierlog.events.Codec;
import io.tierlog.events.KafkaAccess;
import io.tierlog.events.RareWarning;
import io.tierlog.events.Reading;
import io.tierlog.events.RecordReader;
import io.tierlog.events.RecordStamp;
import io.tierlog.events.Topics;
import io.tierlog.events.UnknownTypeException;
import io.tierlog.events.registry.RegistryUnavailableException;
import io.tierlog.schemas.AppliedInput;
import io.tierlog.schemas.decision.Fact;
import io.tierlog.schemas.decision.PartitionOpened;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Compares a controller with the decisions that are in its log, so that no input is decided twice. Safe for use by several threads.
 *
 * <ul>
 *   <li>The first decision of a partition names the application id that decides it. A controller with another one stops.
 *   <li>The last decision of a partition must be the last one of the restored state. Otherwise group offsets, changelog or decisions were
 *       lost, and the controller stops before it decides anything.
 *   <li>Records near the end that no controller of this log has written are passed over and named at {@code /health}: see {@link DecisionTail}.
 *   <li>A partition without decisions and without state must have its first records: otherwise they were trimmed, and this is not a new log.
 *   <li>The event that the last decision answers must be there, and be that event. A topic of events that was deleted and made again would give
 *       offsets, and with them ids of operations, a second time.
 * </ul>
 *
 * <p>{@link #isOurs} blocks for about {@link KafkaAccess#timeout} per partition, {@link #check} until the log answers or this is closed.
 * Trade-off: a consumer is made for each partition that this instance gets, and a stream thread waits for a slow broker.
 */
final class LogOwner implements EventProcessor.Opening, AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(LogOwner.class);
    private static final Duration POLL = Duration.ofMillis(100);
    private static final long AGAIN_MS = 200;
    private static final int FIRST_STEP = 64;
    private static final int MOST_COMPARED = FIRST_STEP * FIRST_STEP * FIRST_STEP;
    private static final long NONE = -1;

    /** A transaction that is still open by then is not the one that the state ends with. */
    private static final Duration LATEST_COMMIT = Duration.ofMinutes(5);

    private final KafkaAccess access;
    private final Topics topics;
    private final RecordReader<Fact> reader;
    private final String applicationId;
    private final BiConsumer<Integer, String> foreignDecisions;
    private final Set<Integer> unopened = new HashSet<>();
    private final CountDownLatch closing = new CountDownLatch(1);
    private final RareWarning warning = new RareWarning(LOG);

    /** {@code foreignDecisions} receives a partition and what is wrong with its last decisions, for people; empty when all are of this log. */
    LogOwner(KafkaAccess access, Topics topics, Codec codec, int partitions, String applicationId, BiConsumer<Integer, String> foreignDecisions) {
        this.access = access;
        this.topics = topics;
        this.reader = codec.reader(Fact.class);
        this.applicationId = applicationId;
        this.foreignDecisions = foreignDecisions;
        for (int partition = 0; partition < partitions; partition++) {
            unopened.add(partition);
        }
    }

    /**
     * Reads the first decision of the partitions that had none so far. To be called again until it returns true, since two controllers may
     * open the same new log at once.
     *
     * @return whether all partitions name this application id
     * @throws ControllerException.DecidedByAnother when one names another
     * @throws ControllerException.RegistryUnreachable when the registry does not answer
     */
    synchronized boolean isOurs() {
        if (unopened.isEmpty()) {
            return true;
        }
        try (KafkaConsumer<byte[], byte[]> consumer = consumer("read_committed")) {
            for (int partition : List.copyOf(unopened)) {
                TopicPartition place = new TopicPartition(topics.decisions(), partition);
                consumer.assign(List.of(place));
                if (first(consumer, place)) {
                    unopened.remove(partition);
                }
            }
        }
        return unopened.isEmpty();
    }

    private boolean first(KafkaConsumer<byte[], byte[]> consumer, TopicPartition place) {
        consumer.seekToBeginning(List.of(place));
        long deadlineNs = System.nanoTime() + access.timeout().toNanos();
        long end = end(consumer, place);
        while (consumer.position(place) < end && System.nanoTime() < deadlineNs) {
            for (ConsumerRecord<byte[], byte[]> record : consumer.poll(POLL)) {
                if (read(record) instanceof PartitionOpened opened && !opened.applicationId().isEmpty()
                        && !opened.applicationId().equals(applicationId)) {
                    throw new ControllerException.DecidedByAnother(place.toString(), opened.applicationId(), applicationId);
                }
                return true;
            }
        }
        return false;
    }

    /**
     * Compares the restored state of a partition with its log. Waits while the broker or the registry does not answer.
     *
     * @return offset of the last event that was decided; -1 when none was
     * @throws ControllerException.StateLost when they do not end at the same decision
     * @throws ControllerException.EventsLost when the events that were decided are not there
     * @throws ControllerException.Closing when this was closed meanwhile
     */
    @Override
    public long check(int partition, SequenceStamper state) {
        if (!state.isOfOneLoad()) {
            throw new ControllerException.StateMixed(partition, applicationId);
        }
        while (true) {
            try {
                return compare(partition, state);
            } catch (RetriableException | ControllerException.RegistryUnreachable e) {
                warning.warn("partition {} waits, its log cannot be read: {}", partition, Causes.of(e));
                pause();
            }
        }
    }

    /** Ends every wait of {@link #check}. */
    @Override
    public void close() {
        closing.countDown();
    }

    private long compare(int partition, SequenceStamper state) {
        TopicPartition place = new TopicPartition(topics.decisions(), partition);
        String clock = "clock/" + partition;
        long startNs = System.nanoTime();
        try (KafkaConsumer<byte[], byte[]> consumer = consumer("read_committed")) {
            consumer.assign(List.of(place));
            while (true) {
                List<ConsumerRecord<byte[], byte[]>> tail = tail(consumer, place);
                DecisionTail seen = DecisionTail.of(tail.stream().map(this::entry).toList(), name -> state.last(SequenceStamper.Kind.DECISION, name));
                DecisionTail.Entry last = seen.last();
                if (last != null) {
                    report(place, seen.foreign());
                    Set<Long> foreign = seen.foreign().stream().map(DecisionTail.Entry::offset).collect(Collectors.toSet());
                    Fact decided = read(tail.stream().filter(record -> record.offset() == last.offset()).findFirst().orElseThrow());
                    requireEvents(consumer, place, decided, foreign);
                    return decidedEvent(decided);
                }
                Fact fact = tail.isEmpty() ? null : read(tail.getLast());
                String aggregate = fact == null ? clock : fact.envelope().aggregate();
                RecordStamp inState = state.last(SequenceStamper.Kind.DECISION, aggregate);
                RecordStamp inLog = fact == null ? RecordStamp.NONE : stamp(fact, tail.getLast());
                if (fact == null && inState.equals(RecordStamp.NONE)) {
                    requireBeginning(consumer, partition);
                    return NONE;
                }
                if (inLog.sequence() >= inState.sequence() || !mayBeLate(consumer, place, System.nanoTime() - startNs)) {
                    throw new ControllerException.StateLost(place.toString(), aggregate, inLog.sequence(), inState.sequence(), applicationId);
                }
                LOG.info("partition {}: the last commit does not show in {} yet", partition, topics.decisions());
                pause();
            }
        }
    }

    /** A log without decisions is new only where it has its first records. */
    private void requireBeginning(KafkaConsumer<byte[], byte[]> consumer, int partition) {
        for (String topic : List.of(topics.decisions(), topics.events())) {
            TopicPartition place = new TopicPartition(topic, partition);
            consumer.assign(List.of(place)); // Kafka warns of an answer about another one
            long begin = consumer.beginningOffsets(List.of(place)).getOrDefault(place, 0L);
            if (begin > 0) {
                throw new ControllerException.LogTrimmed(place, begin, applicationId);
            }
        }
    }

    /**
     * The event that the last decision answers is there; and where the last decisions keep the checksum of an event of an agent, it is that event.
     * Trimmed events are not compared.
     */
    private void requireEvents(KafkaConsumer<byte[], byte[]> consumer, TopicPartition decisions, Fact last, Set<Long> foreign) {
        TopicPartition events = new TopicPartition(topics.events(), decisions.partition());
        Optional<Fact> checked = lastWithChecksum(consumer, decisions, foreign);
        consumer.assign(List.of(events));
        long begin = consumer.beginningOffsets(List.of(events)).getOrDefault(events, 0L);
        long end = end(consumer, events);
        if (decidedEvent(last) >= end) {
            throw new ControllerException.EventsLost(last.envelope(), decisions, events, "it ends at " + end);
        }
        checked.filter(fact -> decidedEvent(fact) >= begin).ifPresent(fact -> {
            long offset = decidedEvent(fact);
            consumer.seek(events, offset);
            boolean same = records(consumer, events, offset + 1).stream()
                    .anyMatch(event -> event.offset() == offset && RecordStamp.crc32cOfFramed(event.value()) == checksum(fact));
            if (!same) {
                throw new ControllerException.EventsLost(fact.envelope(), decisions, events, "it has another record there");
            }
        });
    }

    /** The last decision that keeps the checksum of its event, among the last {@value #MOST_COMPARED} offsets; nothing when no agent has sent any. */
    private Optional<Fact> lastWithChecksum(KafkaConsumer<byte[], byte[]> consumer, TopicPartition decisions, Set<Long> foreign) {
        long begin = consumer.beginningOffsets(List.of(decisions)).getOrDefault(decisions, 0L);
        long to = end(consumer, decisions);
        for (long step = FIRST_STEP; to > begin && step <= MOST_COMPARED; step *= FIRST_STEP) {
            long from = Math.max(begin, to - step);
            consumer.seek(decisions, from);
            ArrayDeque<Fact> found = new ArrayDeque<>(1);
            read(consumer, decisions, to, record -> {
                Fact fact = foreign.contains(record.offset()) ? null : read(record);
                if (fact != null && checksum(fact) != 0) {
                    found.clear();
                    found.add(fact);
                }
            });
            if (!found.isEmpty()) {
                return Optional.of(found.getLast());
            }
            to = from;
        }
        return Optional.empty();
    }

    /** The checksum of its event that a decision keeps; 0 for none. */
    private static int checksum(Fact fact) {
        AppliedInput taken = fact.envelope().taken();
        return taken == null ? 0 : taken.crc32c();
    }

    /** Offset of the event that a decision answers, in the events of the same partition. */
    private static long decidedEvent(Fact fact) {
        String cause = String.valueOf(fact.envelope().cause());
        return Long.parseLong(cause.substring(cause.lastIndexOf('@') + 1));
    }

    /** Whether the commit that is missing in the log may still show: soon after the start always, later while a transaction is open there. */
    private boolean mayBeLate(KafkaConsumer<byte[], byte[]> consumer, TopicPartition place, long passedNs) {
        if (passedNs <= access.timeout().toNanos()) {
            return true;
        }
        if (passedNs > LATEST_COMMIT.toNanos()) {
            return false;
        }
        try (KafkaConsumer<byte[], byte[]> all = consumer("read_uncommitted")) {
            return end(consumer, place) < end(all, place);
        }
    }

    /** The last committed records, at least one if there is any. Commit markers and aborted records are passed over. */
    private List<ConsumerRecord<byte[], byte[]>> tail(KafkaConsumer<byte[], byte[]> consumer, TopicPartition place) {
        long end = end(consumer, place);
        long begin = consumer.beginningOffsets(List.of(place)).getOrDefault(place, 0L);
        for (long step = FIRST_STEP; ; step *= FIRST_STEP) {
            long from = Math.max(begin, end - step);
            consumer.seek(place, from);
            List<ConsumerRecord<byte[], byte[]>> found = records(consumer, place, end);
            if (!found.isEmpty() || from == begin) {
                return found;
            }
        }
    }

    /** The last committed records from the consumer's position to {@code end}, {@value #FIRST_STEP} at most. */
    private List<ConsumerRecord<byte[], byte[]>> records(KafkaConsumer<byte[], byte[]> consumer, TopicPartition place, long end) {
        ArrayDeque<ConsumerRecord<byte[], byte[]>> found = new ArrayDeque<>();
        read(consumer, place, end, record -> {
            if (found.size() == FIRST_STEP) {
                found.removeFirst();
            }
            found.add(record);
        });
        return List.copyOf(found);
    }

    /** Reads committed records from the consumer's position to {@code end}. */
    private void read(KafkaConsumer<byte[], byte[]> consumer, TopicPartition place, long end, Consumer<ConsumerRecord<byte[], byte[]>> action) {
        long deadlineNs = System.nanoTime() + access.timeout().toNanos();
        for (long position = consumer.position(place); position < end; position = consumer.position(place)) {
            for (ConsumerRecord<byte[], byte[]> record : consumer.poll(POLL)) {
                if (record.offset() < end) {
                    action.accept(record);
                }
            }
            if (consumer.position(place) > position) {
                deadlineNs = System.nanoTime() + access.timeout().toNanos();
            } else if (System.nanoTime() > deadlineNs) {
                throw new TimeoutException(place + " was not read from offset " + position + " on within " + access.timeout());
            }
        }
    }

    private static long end(KafkaConsumer<byte[], byte[]> consumer, TopicPartition place) {
        return consumer.endOffsets(List.of(place)).getOrDefault(place, 0L);
    }

    private Fact read(ConsumerRecord<byte[], byte[]> record) {
        String place = record.topic() + "-" + record.partition() + "@" + record.offset();
        try {
            return switch (reader.read(record.value())) {
                case Reading.Decoded<Fact> good -> good.value();
                case Reading.Unreadable<Fact> bad -> throw new ControllerException.ForeignDecision(place, bad.detail());
            };
        } catch (UnknownTypeException e) {
            throw new ControllerException.ForeignDecision(place, String.valueOf(e.getMessage()));
        } catch (RegistryUnavailableException e) {
            throw new ControllerException.RegistryUnreachable(e);
        }
    }

    /** What cannot be read is without an envelope. */
    private DecisionTail.Entry entry(ConsumerRecord<byte[], byte[]> record) {
        try {
            Fact fact = read(record);
            return new DecisionTail.Entry(record.offset(), fact.envelope(), stamp(fact, record));
        } catch (ControllerException.ForeignDecision e) {
            return new DecisionTail.Entry(record.offset(), null, RecordStamp.NONE);
        }
    }

    private void report(TopicPartition place, List<DecisionTail.Entry> foreign) {
        String what = foreign.isEmpty() ? "" : foreign.size() + " records of " + place + " were not written by a controller of this log, from offset "
                + foreign.getFirst().offset() + " to " + foreign.getLast().offset() + "; they were passed over, see tierlog audit verify";
        if (!what.isEmpty()) {
            LOG.warn(what);
        }
        foreignDecisions.accept(place.partition(), what);
    }

    private static RecordStamp stamp(Fact fact, ConsumerRecord<byte[], byte[]> record) {
        return new RecordStamp(fact.envelope().sequence(), RecordStamp.crc32cOfFramed(record.value()));
    }

    private void pause() {
        try {
            if (closing.await(AGAIN_MS, TimeUnit.MILLISECONDS)) {
                throw new ControllerException.Closing();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new ControllerException.Closing();
        }
    }

    private KafkaConsumer<byte[], byte[]> consumer(String isolation) {
        return new KafkaConsumer<>(
                access.client(Map.of(
                        "isolation.level", isolation,
                        "enable.auto.commit", "false",
                        "auto.offset.reset", "earliest",
                        "default.api.timeout.ms", Math.toIntExact(access.timeout().toMillis()))),
                new ByteArrayDeserializer(),
                new ByteArrayDeserializer());
    }
}
