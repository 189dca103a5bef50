/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.streams;

import io.tierlog.controller.core.table.HeapTables;
import io.tierlog.controller.core.table.RowImage;
import io.tierlog.controller.core.table.WriteBehindTables;
import io.tierlog.events.Causes;
import io.tierlog.events.KafkaAccess;
import io.tierlog.events.RecordStamp;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.ListOffsetsOptions;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.IsolationLevel;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.GroupIdNotFoundException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * Writes the changelog of a controller from tables, when it was lost: the controller then restores its state from it as from any changelog, and
 * compares it with the log before it decides.
 *
 * <p>All partitions are one transaction: a process that is killed leaves a changelog without rows, and the next try fences it. Two rows with the same
 * value, the first and the last of a partition, show state directories that are older. Trade-off: the rows of a partition are on the heap.
 */
public final class StateRestore {
    private static final Duration POLL = Duration.ofMillis(200);
    private static final int TRANSACTION_MS = 900_000;

    private final KafkaAccess access;
    private final String applicationId;
    private final String changelog;
    private final int partitions;

    /**
     * The state to write.
     *
     * @param stamps by aggregate, number and checksum of the last decision about it
     * @param end the last event and the last decision of the state
     */
    public record State(HeapTables tables, Map<String, RecordStamp> stamps, StateEnd end) {}

    /** Gives the state of each partition, one after the other. */
    @FunctionalInterface
    public interface States {
        /** The state of a partition, after its last decision. */
        State of(int partition);
    }

    /** The changelog of a controller. */
    public StateRestore(KafkaAccess access, String applicationId, int partitions) {
        this.access = access;
        this.applicationId = applicationId;
        this.changelog = applicationId + "-" + ControllerTopology.STORE + "-changelog";
        this.partitions = partitions;
    }

    /**
     * Requires that no controller runs and that the changelog has no rows; makes the topic if needed.
     *
     * @throws ControllerException.NotRestored when it is otherwise, or the brokers do not answer
     */
    public void prepare() {
        try (Admin admin = Admin.create(access.client(Map.of()))) {
            if (members(admin) > 0) {
                throw new ControllerException.NotRestored("a controller of application id " + applicationId
                        + " is running, or ended a moment ago; stop it, and try again: its state is not lost while it decides", null);
            }
            int found = found(admin);
            if (found == 0) {
                done(admin.createTopics(List.of(
                        new NewTopic(changelog, Optional.of(partitions), Optional.empty()).configs(ControllerTopology.CHANGELOG))).all());
            } else if (found != partitions) {
                throw new ControllerException.NotRestored(changelog + " has " + found + " partitions, and the log has " + partitions
                        + "; delete that topic, or look at --topic-prefix and --application-id", null);
            } else {
                requireEmpty();
            }
        }
    }

    private long members(Admin admin) {
        try {
            return done(admin.describeConsumerGroups(List.of(applicationId)).all()).values().stream()
                    .mapToLong(group -> group.members().size()).sum();
        } catch (GroupIdNotFoundException e) {
            return 0;
        }
    }

    private int found(Admin admin) {
        try {
            return done(admin.describeTopics(List.of(changelog)).allTopicNames()).values().stream()
                    .mapToInt(topic -> topic.partitions().size()).sum();
        } catch (UnknownTopicOrPartitionException e) {
            return 0;
        }
    }

    private <T> T done(KafkaFuture<T> future) {
        try {
            return future.get(access.timeout().toMillis(), TimeUnit.MILLISECONDS);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof KafkaException known) {
                throw known;
            }
            throw new ControllerException.NotRestored("the brokers do not answer: " + Causes.of(e), e);
        } catch (TimeoutException e) {
            throw new ControllerException.NotRestored("the brokers do not answer within " + access.timeout(), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new ControllerException.Closing();
        }
    }

    /**
     * Writes the rows of all partitions, as {@link #prepare} allows.
     *
     * @return rows written
     * @throws ControllerException.NotRestored when the changelog has rows, or cannot be written; nothing of it counts then
     */
    public long write(States states) {
        Map<String, Object> settings = access.producer(Map.of(
                "transactional.id", applicationId + "-restore",
                "transaction.timeout.ms", TRANSACTION_MS,
                "acks", "all"));
        try (Producer<byte[], byte[]> producer = new KafkaProducer<>(settings, new ByteArraySerializer(), new ByteArraySerializer())) {
            // Ends the transaction of a process that was killed: what is committed from here on is all there is.
            producer.initTransactions();
            requireEmpty();
            producer.beginTransaction();
            byte[] mark = UUID.randomUUID().toString().getBytes(StandardCharsets.UTF_8);
            long rows = 0;
            for (int partition = 0; partition < partitions; partition++) {
                rows += write(producer, partition, states.of(partition), mark);
            }
            producer.commitTransaction();
            awaitReadable();
            return rows;
        } catch (KafkaException e) {
            throw new ControllerException.NotRestored(changelog + " cannot be written: " + Causes.of(e) + "; nothing of it counts, try again", e);
        }
    }

    private long write(Producer<byte[], byte[]> producer, int partition, State state, byte[] mark) {
        HeapBytes bytes = new HeapBytes();
        WriteBehindTables tables = TaskRows.over(bytes);
        RowImage.copy(state.tables(), tables);
        tables.flush();
        SequenceStamper stamper = new SequenceStamper(bytes);
        state.stamps().forEach(stamper::restore);
        stamper.restore(state.end());
        stamper.flush();
        send(producer, partition, SequenceStamper.FIRST, mark);
        bytes.rows().forEach((key, value) -> send(producer, partition, key, value));
        send(producer, partition, SequenceStamper.LAST, mark);
        return bytes.rows().size();
    }

    /**
     * Waits until a reader of committed records sees all rows. The brokers end a transaction in its partitions after the commit returns, and a
     * controller that starts before would restore a part of them.
     */
    private void awaitReadable() {
        long deadlineNs = System.nanoTime() + access.timeout().toNanos();
        try (Admin admin = Admin.create(access.client(Map.of()))) {
            while (!ends(admin, IsolationLevel.READ_COMMITTED).equals(ends(admin, IsolationLevel.READ_UNCOMMITTED))) {
                if (System.nanoTime() > deadlineNs) {
                    throw new ControllerException.NotRestored("the rows are committed, but " + changelog + " does not show them within "
                            + access.timeout() + "; look at the brokers before a controller is started", null);
                }
                LockSupport.parkNanos(POLL.toNanos());
            }
        }
    }

    private Map<TopicPartition, Long> ends(Admin admin, IsolationLevel level) {
        Map<TopicPartition, OffsetSpec> places = IntStream.range(0, partitions).boxed()
                .collect(Collectors.toMap(p -> new TopicPartition(changelog, p), _ -> OffsetSpec.latest()));
        return done(admin.listOffsets(places, new ListOffsetsOptions(level)).all()).entrySet().stream()
                .collect(Collectors.toMap(Map.Entry::getKey, end -> end.getValue().offset()));
    }

    /** A failure shows when the transaction is committed. */
    private void send(Producer<byte[], byte[]> producer, int partition, byte[] key, byte[] value) {
        Future<RecordMetadata> _ = producer.send(new ProducerRecord<>(changelog, partition, key, value));
    }

    private void requireEmpty() {
        Map<String, Object> settings = access.client(Map.of(
                "isolation.level", "read_committed", "enable.auto.commit", "false", "auto.offset.reset", "earliest"));
        List<TopicPartition> places = IntStream.range(0, partitions).mapToObj(p -> new TopicPartition(changelog, p)).toList();
        try (KafkaConsumer<byte[], byte[]> consumer =
                new KafkaConsumer<>(settings, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            consumer.assign(places);
            consumer.seekToBeginning(places);
            Map<TopicPartition, Long> ends = consumer.endOffsets(places);
            long deadlineNs = System.nanoTime() + access.timeout().toNanos();
            while (places.stream().anyMatch(place -> consumer.position(place) < ends.getOrDefault(place, 0L))) {
                if (!consumer.poll(POLL).isEmpty()) {
                    throw new ControllerException.NotRestored(changelog + " has rows: the state is not lost. Start the controller; if it refuses"
                            + " them, delete that topic and the state directories of all instances, and restore again", null);
                }
                if (System.nanoTime() > deadlineNs) {
                    throw new ControllerException.NotRestored(changelog + " was not read within " + access.timeout(), null);
                }
            }
        }
    }
}
