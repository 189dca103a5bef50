/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.streams;

import io.tierlog.events.Causes;
import io.tierlog.events.Codec;
import io.tierlog.events.KafkaAccess;
import io.tierlog.events.Reading;
import io.tierlog.events.RecordReader;
import io.tierlog.events.RecordStamp;
import io.tierlog.events.UnknownTypeException;
import io.tierlog.events.registry.RegistryUnavailableException;
import io.tierlog.events.topic.Topics;
import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.SkipReason;
import io.tierlog.schemas.decision.Fact;
import io.tierlog.schemas.decision.PartitionOpened;
import io.tierlog.threads.RareWarning;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Function;
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
 *   <li>The last decision of the restored state must be on the log, and no decision that follows the state may come after it. Otherwise group
 *       offsets, changelog or decisions were lost, and the controller stops before it decides anything.
 *   <li>Records that no controller of this log has written are passed over, however many come after the last decision, and named at
 *       {@code /health}: see {@link DecisionTail}.
 *   <li>Where records have codes, the last decision must fit our keys: with those of another log every event would be put aside as forged.
 *   <li>A partition without decisions and without state must have its first records: otherwise they were trimmed, and this is not a new log.
 *   <li>The last event that the state decided must be there, and be that event. A topic of events that was deleted and made again would give
 *       offsets, and with them ids of operations, a second time.
 * </ul>
 *
 * <p>{@link #isOurs} blocks for about {@link KafkaAccess#timeout} per partition, {@link #check} until the log answers or this is closed.
 * Trade-off: a consumer for each check at the same time stays open, a stream thread waits for a slow broker, and it reads all that others have
 * appended to the decisions since the last one of the state.
 */
final class LogOwner implements EventProcessor.Opening, AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(LogOwner.class);
    private static final Duration POLL = Duration.ofMillis(100);
    private static final long AGAIN_MS = 200;
    private static final int FETCH_WAIT_MS = 10;
    private static final int FIRST_STEP = 64;
    private static final int MOST_AT_FIRST = FIRST_STEP * FIRST_STEP * FIRST_STEP;

    /** A transaction that is still open by then is not the one that the state ends with. */
    private static final Duration LATEST_COMMIT = Duration.ofMinutes(5);

    private final KafkaAccess access;
    private final Topics topics;
    private final RecordReader<Fact> reader;
    private final String applicationId;
    private final BiConsumer<Integer, String> foreignDecisions;
    private final Set<Integer> unopened = new HashSet<>();
    private final CountDownLatch closing = new CountDownLatch(1);
    /** Consumers that no check uses now: to make one for each partition would take as long as the check. */
    private final Deque<KafkaConsumer<byte[], byte[]>> spare = new ArrayDeque<>();
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
        try (DecisionConsumer used = new DecisionConsumer()) {
            KafkaConsumer<byte[], byte[]> consumer = used.consumer;
            for (int partition : List.copyOf(unopened)) {
                TopicPartition place = new TopicPartition(topics.decisions(), partition);
                consumer.assign(List.of(place));
                if (first(consumer, place)) {
                    unopened.remove(partition);
                }
            }
            used.worked();
        }
        return unopened.isEmpty();
    }

    /** A spare consumer, or a new one. One that has worked is spare again, any other is closed. */
    private final class DecisionConsumer implements AutoCloseable {
        private final KafkaConsumer<byte[], byte[]> consumer;
        private boolean worked;

        DecisionConsumer() {
            KafkaConsumer<byte[], byte[]> idle;
            synchronized (spare) {
                idle = spare.poll();
            }
            consumer = idle == null ? consumer("read_committed") : idle;
        }

        void worked() {
            consumer.assign(List.of()); // so that it keeps no records
            worked = true;
        }

        @Override
        public void close() {
            synchronized (spare) {
                if (worked && closing.getCount() > 0) {
                    spare.add(consumer);
                    return;
                }
            }
            consumer.close(KafkaAccess.AT_ONCE);
        }
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
     * @throws ControllerException.ForeignDecision when a record after the last decision of the state may be a decision, and cannot be read
     * @throws ControllerException.EventsLost when the events that were decided are not there
     * @throws ControllerException.OtherKeys when the last decision was signed under an id for which our file has another key
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

    /** Ends every wait of {@link #check}, and closes what no check uses. Closing twice is nothing. */
    @Override
    public void close() {
        List<KafkaConsumer<byte[], byte[]>> idle;
        synchronized (spare) {
            closing.countDown();
            idle = List.copyOf(spare);
            spare.clear();
        }
        idle.forEach(consumer -> consumer.close(KafkaAccess.AT_ONCE));
    }

    /** The partition is decided elsewhere from now on, or not at all. */
    @Override
    public void ended(int partition) {
        foreignDecisions.accept(partition, "");
    }

    private long compare(int partition, SequenceStamper state) {
        TopicPartition place = new TopicPartition(topics.decisions(), partition);
        StateEnd known = state.end();
        try (DecisionConsumer used = new DecisionConsumer()) {
            KafkaConsumer<byte[], byte[]> consumer = used.consumer;
            consumer.assign(List.of(place));
            if (known.equals(StateEnd.NONE)) {
                requireNew(consumer, place);
                used.worked();
                return StateEnd.NONE.event();
            }
            long last = awaitLast(consumer, place, state);
            DecisionTail.Foreign foreign = before(consumer, place, last, state);
            consumer.seek(place, last + 1);
            read(consumer, place, end(consumer, place), record -> after(record, state, foreign));
            report(place, foreign);
            requireEvent(consumer, place, known);
            used.worked();
            return known.event();
        }
    }

    /** Without state, the log must not have any decision. */
    private void requireNew(KafkaConsumer<byte[], byte[]> consumer, TopicPartition place) {
        consumer.seekToBeginning(List.of(place));
        read(consumer, place, end(consumer, place), record -> {
            Envelope decision = read(record).envelope();
            throw ControllerException.StateLost.decisionsNotInState(at(record), decision, RecordStamp.NONE, applicationId);
        });
        requireBeginning(consumer, place.partition());
    }

    /** Offset of the last decision of the state. Waits while its commit may still show. */
    private long awaitLast(KafkaConsumer<byte[], byte[]> consumer, TopicPartition place, SequenceStamper state) {
        StateEnd known = state.end();
        long startNs = System.nanoTime();
        long least = Math.max(known.decisionsFrom(), consumer.beginningOffsets(List.of(place)).getOrDefault(place, 0L));
        long lowest = Math.max(least, end(consumer, place) - MOST_AT_FIRST);
        long searched = lowest;
        while (true) {
            long end = end(consumer, place);
            OptionalLong last = find(consumer, place, searched, end, state);
            if (last.isPresent()) {
                return last.getAsLong();
            }
            searched = Math.max(searched, end);
            if (mayBeLate(consumer, place, System.nanoTime() - startNs)) {
                LOG.info("partition {}: the last commit does not show in {} yet", place.partition(), topics.decisions());
                pause();
                continue;
            }
            // So much came after it that the first search, which must be short, did not reach it.
            return find(consumer, place, least, lowest, state).orElseThrow(() -> new ControllerException.StateLost(place, known.aggregate(),
                    state.last(SequenceStamper.Kind.DECISION, known.aggregate()).sequence(), applicationId));
        }
    }

    /** Searches the last decision of the state from {@code to} back to {@code from}. */
    private OptionalLong find(KafkaConsumer<byte[], byte[]> consumer, TopicPartition place, long from, long to, SequenceStamper state) {
        StateEnd known = state.end();
        if (known.aggregate().isEmpty()) {
            return to >= known.decisionsFrom() ? OptionalLong.of(known.decisionsFrom() - 1) : OptionalLong.empty();
        }
        RecordStamp last = state.last(SequenceStamper.Kind.DECISION, known.aggregate());
        long high = to;
        for (long step = FIRST_STEP; high > from; step *= step < MOST_AT_FIRST ? FIRST_STEP : 2) {
            long low = Math.max(from, high - step);
            AtomicLong found = new AtomicLong(-1);
            consumer.seek(place, low);
            read(consumer, place, high, record -> {
                if (found.get() < 0 && DecisionTail.crc32c(record.value()) == last.crc32c() && isOf(known.aggregate(), last, record)) {
                    found.set(record.offset());
                }
            });
            if (found.get() >= 0) {
                return OptionalLong.of(found.get());
            }
            high = low;
        }
        return OptionalLong.empty();
    }

    private boolean isOf(String aggregate, RecordStamp last, ConsumerRecord<byte[], byte[]> record) {
        DecisionTail.Entry entry = entry(record);
        return entry.envelope() != null && entry.envelope().aggregate().equals(aggregate) && entry.stamp().equals(last);
    }

    /** Those of the last records up to the last decision of the state that are not in the chain of their aggregate. */
    private DecisionTail.Foreign before(KafkaConsumer<byte[], byte[]> consumer, TopicPartition place, long last, SequenceStamper state) {
        long begin = consumer.beginningOffsets(List.of(place)).getOrDefault(place, 0L);
        consumer.seek(place, Math.max(begin, last + 1 - FIRST_STEP));
        List<DecisionTail.Entry> entries = new ArrayList<>(FIRST_STEP);
        read(consumer, place, last + 1, record -> {
            entries.add(entry(record));
            if (record.offset() == last && isOfOtherKey(record)) {
                throw new ControllerException.OtherKeys(place);
            }
        });
        DecisionTail.Foreign foreign = new DecisionTail.Foreign();
        DecisionTail.unchained(entries, decisions(state)).forEach(foreign::add);
        return foreign;
    }

    /** A record after the last decision of the state. */
    private void after(ConsumerRecord<byte[], byte[]> record, SequenceStamper state, DecisionTail.Foreign foreign) {
        // Up to the end of the state, numbers and checksums say what is a decision, also where keys were added or changed since.
        DecisionTail.Entry entry = isForged(record) ? new DecisionTail.Entry(record.offset(), null, RecordStamp.NONE) : entry(record);
        Envelope envelope = entry.envelope();
        if (envelope != null && DecisionTail.mayBeLost(envelope, decisions(state))) {
            throw ControllerException.StateLost.decisionsNotInState(
                    at(record), envelope, state.last(SequenceStamper.Kind.DECISION, envelope.aggregate()), applicationId);
        }
        foreign.add(entry);
    }

    private static Function<String, RecordStamp> decisions(SequenceStamper state) {
        return aggregate -> state.last(SequenceStamper.Kind.DECISION, aggregate);
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

    /** The last event that the state decided is there, and is that event. A trimmed event is not compared. */
    private void requireEvent(KafkaConsumer<byte[], byte[]> consumer, TopicPartition decisions, StateEnd known) {
        TopicPartition events = new TopicPartition(topics.events(), decisions.partition());
        consumer.assign(List.of(events));
        long begin = consumer.beginningOffsets(List.of(events)).getOrDefault(events, 0L);
        long end = end(consumer, events);
        if (known.event() >= end) {
            throw new ControllerException.EventsLost(known.event(), events, "it ends at " + end, applicationId);
        }
        if (known.event() < begin || known.eventCrc32c() == StateEnd.UNKNOWN) {
            return;
        }
        consumer.seek(events, known.event());
        AtomicBoolean same = new AtomicBoolean();
        read(consumer, events, known.event() + 1, record -> same.set(
                record.offset() == known.event() && StateEnd.crc32c(record.value()) == known.eventCrc32c()));
        if (!same.get()) {
            throw new ControllerException.EventsLost(known.event(), events, "it has another record there", applicationId);
        }
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
        return switch (reading(record)) {
            case Reading.Decoded<Fact> good -> good.value();
            case Reading.Unreadable<Fact> bad -> throw new ControllerException.ForeignDecision(at(record), bad.detail());
        };
    }

    private Reading<Fact> reading(ConsumerRecord<byte[], byte[]> record) {
        try {
            return reader.read(record.value());
        } catch (UnknownTypeException e) {
            throw new ControllerException.ForeignDecision(at(record), String.valueOf(e.getMessage()));
        } catch (RegistryUnavailableException e) {
            throw new ControllerException.RegistryUnreachable(e);
        }
    }

    /**
     * A record without an envelope is none of any controller. One whose schema the registry does not know may be a decision of one.
     *
     * @throws ControllerException.ForeignDecision when a later version wrote it, or its schema is not known
     */
    private DecisionTail.Entry entry(ConsumerRecord<byte[], byte[]> record) {
        return switch (reading(record)) {
            case Reading.Decoded<Fact> good -> {
                Envelope envelope = good.value().envelope();
                yield new DecisionTail.Entry(
                        record.offset(), envelope, new RecordStamp(envelope.sequence(), DecisionTail.crc32c(record.value())));
            }
            case Reading.Unreadable<Fact> bad -> {
                if (bad.reason() == SkipReason.UNKNOWN_SCHEMA_ID) {
                    throw new ControllerException.ForeignDecision(at(record), bad.detail());
                }
                yield new DecisionTail.Entry(record.offset(), null, RecordStamp.NONE);
            }
        };
    }

    /** Whether a decision that our state proves was signed by another key than our file has under the same id. */
    private boolean isOfOtherKey(ConsumerRecord<byte[], byte[]> record) {
        return access.signing()
                .map(on -> on.isOfOtherKey(record.topic(), record.partition(), record.key(), record.value(), record.headers()))
                .orElse(false);
    }

    /** A decision that no controller with our keys has written, where codes are checked. */
    private boolean isForged(ConsumerRecord<byte[], byte[]> record) {
        Optional<String> why = access.signing()
                .map(on -> on.check(record.topic(), record.partition(), record.key(), record.value(), record.headers()));
        why.ifPresent(what -> warning.warn("the decision at {} is forged: {}", at(record), what));
        return why.isPresent();
    }

    private static String at(ConsumerRecord<byte[], byte[]> record) {
        return record.topic() + "-" + record.partition() + "@" + record.offset();
    }

    private void report(TopicPartition place, DecisionTail.Foreign foreign) {
        String what = foreign.count() == 0 ? "" : foreign.count() + " records of " + place + " were not written by a controller of this log, from"
                + " offset " + foreign.first() + " to " + foreign.last() + "; they were passed over, see tierlog audit verify";
        if (!what.isEmpty()) {
            LOG.warn(what);
        }
        foreignDecisions.accept(place.partition(), what);
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

    /** A fetch at the end of a log waits at the broker, and a seek waits for that fetch: so it is short. */
    private KafkaConsumer<byte[], byte[]> consumer(String isolation) {
        return new KafkaConsumer<>(
                access.client(Map.of(
                        "isolation.level", isolation,
                        "enable.auto.commit", "false",
                        "auto.offset.reset", "earliest",
                        "fetch.max.wait.ms", FETCH_WAIT_MS,
                        "default.api.timeout.ms", Math.toIntExact(access.timeout().toMillis()))),
                new ByteArrayDeserializer(),
                new ByteArrayDeserializer());
    }
}
