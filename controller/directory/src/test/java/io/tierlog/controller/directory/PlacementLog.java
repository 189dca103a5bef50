/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.directory;

import io.tierlog.controller.core.feed.PlacementFeed.Publication;
import io.tierlog.controller.core.table.Namespaces;
import io.tierlog.events.Codec;
import io.tierlog.events.KafkaAccess;
import io.tierlog.events.Partitions;
import io.tierlog.events.Schemas;
import io.tierlog.events.TopicAdmin;
import io.tierlog.events.topic.Topics;
import io.tierlog.ops.kafka.EmbeddedKafka;
import io.tierlog.schemas.Block;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.directory.NodeEpoch;
import io.tierlog.schemas.directory.Placement;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.jspecify.annotations.Nullable;

/**
 * A log whose placements a test writes as the controller does: in transactions, keyed and partitioned as {@code PlacementFeed} and its sender
 * do.
 */
public final class PlacementLog implements AutoCloseable {
    private static final AtomicInteger NUMBER = new AtomicInteger();

    public final Topics topics;
    public final KafkaAccess access;
    public final int partitions;
    private final Codec codec = new Codec(Schemas.bundled());
    private final KafkaProducer<byte[], byte[]> producer;

    public PlacementLog(EmbeddedKafka broker, int partitions) {
        topics = new Topics("directory" + NUMBER.incrementAndGet());
        access = KafkaAccess.of(broker.bootstrapServers());
        this.partitions = partitions;
        try (TopicAdmin admin = new TopicAdmin(access)) {
            admin.create(topics, partitions, 1);
        }
        producer = new KafkaProducer<>(access.client(Map.of("transactional.id", topics.prefix(), "linger.ms", 5)),
                new ByteArraySerializer(), new ByteArraySerializer());
        producer.initTransactions();
    }

    /** A key of 16 bytes. */
    public static Bytes key(int number) {
        return Bytes.ofHex("%032x".formatted(number * 7_919L));
    }

    /** Begins what readers shall see together, or not at all. */
    public PlacementLog begin() {
        producer.beginTransaction();
        return this;
    }

    public void commit() {
        producer.commitTransaction();
    }

    public void abort() {
        producer.abortTransaction();
    }

    /** A copy serves, or is gone when {@code incarnation} is 0 on a node. */
    public PlacementLog put(String namespace, int number, String owner, Tier tier, long incarnation) {
        Bytes key = key(number);
        Envelope envelope = new Envelope(owner, "controller/0", incarnation, 1, 0, 1_000, null, null, null);
        boolean serves = incarnation > 0 || owner.startsWith("store/");
        Placement placement = serves
                ? new Placement(envelope, namespace, new Block(number, key, Bytes.EMPTY), owner, tier, incarnation, 4, 5, 6)
                : null;
        return send(new Publication(Namespaces.digest(namespace), key, owner + "/" + tier, placement));
    }

    /** A copy serves on the host of {@code owner}, says a record with that sender and number. */
    public PlacementLog forged(String namespace, int number, String owner, String sender, long sequence) {
        Envelope envelope = new Envelope(owner, sender, 1, sequence, 0, 1_000, null, null, null);
        return send(new Publication(Namespaces.digest(namespace), key(number), owner + "/" + Tier.HOST,
                new Placement(envelope, namespace, new Block(number, key(number), Bytes.EMPTY), owner, Tier.HOST, 1, 4, 5, 6)));
    }

    /** An incarnation of a node begins, with that peer address; every partition gets the record. */
    public PlacementLog nodeStarted(String node, long incarnation, String peerAddress) {
        Envelope envelope = new Envelope("node/" + node, "controller/0", incarnation, 1, 0, 1_000, null, null, null);
        byte[] value = codec.encode(topics.placements(), new NodeEpoch(envelope, node, incarnation, true, peerAddress, 0, List.of()));
        for (int partition = 0; partition < partitions; partition++) {
            Future<RecordMetadata> _ = producer.send(new ProducerRecord<>(
                    topics.placements(), partition, ("node/" + node).getBytes(StandardCharsets.UTF_8), value));
        }
        return this;
    }

    /** The value of a record about a copy on the host of a. */
    public byte[] encoded(String namespace, int number) {
        Envelope envelope = new Envelope("node/a", "controller/0", 1, 1, 0, 1_000, null, null, null);
        return codec.encode(topics.placements(),
                new Placement(envelope, namespace, new Block(number, key(number), Bytes.EMPTY), "node/a", Tier.HOST, 1, 4, 5, 6));
    }

    private PlacementLog send(Publication publication) {
        Placement placement = publication.placement();
        return raw(publication, placement == null ? null : codec.encode(topics.placements(), placement));
    }

    /** A record whose value is just bytes. */
    public PlacementLog raw(Publication about, byte @Nullable [] value) {
        byte[] both = new byte[about.namespace().size() + about.block().size()];
        System.arraycopy(about.namespace().unshared(), 0, both, 0, about.namespace().size());
        System.arraycopy(about.block().unshared(), 0, both, about.namespace().size(), about.block().size());
        Future<RecordMetadata> _ = producer.send(
                new ProducerRecord<>(topics.placements(), Partitions.ofKey(both, partitions), about.key().unshared(), value));
        return this;
    }

    public static void await(String what, BooleanSupplier condition) {
        long deadline = System.nanoTime() + Duration.ofSeconds(60).toNanos();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() > deadline) {
                throw new AssertionError("did not come about within 60 s: " + what);
            }
            LockSupport.parkNanos(10_000_000);
        }
    }

    @Override
    public void close() {
        producer.close(Duration.ofSeconds(2));
    }
}
