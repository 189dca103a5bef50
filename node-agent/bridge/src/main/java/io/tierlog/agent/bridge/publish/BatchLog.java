/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.bridge.publish;

import io.tierlog.events.Causes;
import io.tierlog.events.Codec;
import io.tierlog.events.KafkaAccess;
import io.tierlog.events.Reading;
import io.tierlog.events.RecordReader;
import io.tierlog.events.registry.RegistryUnavailableException;
import io.tierlog.events.topic.Topics;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.decision.BlocksPlaced;
import io.tierlog.schemas.decision.BlocksRemoved;
import io.tierlog.schemas.decision.Fact;
import io.tierlog.threads.RareWarning;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The decisions as batches of placements. Safe for use by several threads. */
final class BatchLog {
    private static final Logger LOG = LoggerFactory.getLogger(BatchLog.class);
    private static final int FETCH_WAIT_MS = 50;
    private static final long PAUSE_NS = 200_000_000;

    private final KafkaAccess access;
    private final Topics topics;
    private final RecordReader<Fact> reader;
    private final Set<Tier> tiers;
    private final RareWarning warning = new RareWarning(LOG);

    /**
     * A batch with its number.
     *
     * @param partition of the log, which is its stream
     */
    record Numbered(int partition, long seq, PlacementBatch batch) {}

    BatchLog(KafkaAccess access, Topics topics, Codec codec, Set<Tier> tiers) {
        this.access = access;
        this.topics = topics;
        this.tiers = Set.copyOf(tiers);
        reader = codec.reader(Fact.class);
    }

    /** A consumer of committed decisions without a group; it refuses offsets that are gone. */
    KafkaConsumer<byte[], byte[]> consumer(List<TopicPartition> partitions) {
        KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(access.client(Map.of(
                "isolation.level", "read_committed",
                "enable.auto.commit", "false",
                "auto.offset.reset", "none",
                "max.poll.records", "500",
                // A seek waits for the fetch that is under way.
                "fetch.max.wait.ms", FETCH_WAIT_MS,
                "default.api.timeout.ms", Math.toIntExact(access.timeout().toMillis()))),
                new ByteArrayDeserializer(), new ByteArrayDeserializer());
        consumer.assign(partitions);
        return consumer;
    }

    TopicPartition partition(int number) {
        return new TopicPartition(topics.decisions(), number);
    }

    /**
     * Whether a record has a number, by its key and its schema alone: placements of a node with an agent, or of the store. While the registry is
     * unreachable it waits.
     *
     * @param going false when the caller shall stop
     */
    boolean counts(ConsumerRecord<byte[], byte[]> record, BooleanSupplier going) {
        byte[] key = record.key();
        if (key == null || PlacementBatch.isForeign(new String(key, StandardCharsets.UTF_8))) {
            return false;
        }
        while (true) {
            try {
                return reader.is(record.value(), BlocksPlaced.TYPE) || reader.is(record.value(), BlocksRemoved.TYPE);
            } catch (RegistryUnavailableException e) {
                if (!going.getAsBoolean()) {
                    throw e;
                }
                warning.warn("the registry is waited for: {}", Causes.of(e));
                LockSupport.parkNanos(PAUSE_NS);
            }
        }
    }

    /** The batch of a record that has a number; one that cannot be read has no changes. */
    PlacementBatch batch(ConsumerRecord<byte[], byte[]> record) {
        return reader.read(record.value()) instanceof Reading.Decoded<Fact>(Fact fact) ? PlacementBatch.of(fact, tiers)
                : new PlacementBatch(PlacementBatch.instance(new String(record.key(), StandardCharsets.UTF_8)), "", record.timestamp(), List.of());
    }
}
