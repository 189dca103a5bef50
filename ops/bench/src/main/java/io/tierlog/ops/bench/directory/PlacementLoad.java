/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench.directory;

import io.tierlog.controller.core.feed.PlacementFeed.Publication;
import io.tierlog.controller.core.table.Namespaces;
import io.tierlog.events.Codec;
import io.tierlog.events.KafkaAccess;
import io.tierlog.events.Partitions;
import io.tierlog.events.Schemas;
import io.tierlog.events.topic.Topics;
import io.tierlog.ops.bench.report.BenchException;
import io.tierlog.schemas.Block;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.directory.Placement;
import java.nio.ByteBuffer;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.jspecify.annotations.Nullable;

/**
 * Writes the placements of the benchmark's blocks: records such as the controller's, one for each block, on hosts of 16 nodes. Static and without
 * state.
 */
final class PlacementLoad {
    private static final int NODES = 16;
    private static final int PROGRESS_EVERY = 1_000_000;
    private static final int EVENT_BLOCKS = 100;

    private PlacementLoad() {}

    static void write(KafkaAccess access, Topics topics, int partitions, int blocks, Consumer<String> progress) {
        Codec codec = new Codec(Schemas.bundled());
        Bytes digest = Namespaces.digest(Keys.NAMESPACE);
        SplittableRandom random = new SplittableRandom(blocks);
        AtomicReference<@Nullable Exception> failure = new AtomicReference<>();
        Map<String, Object> settings =
                access.client(Map.of("linger.ms", 20, "batch.size", 256 << 10, "compression.type", "lz4", "buffer.memory", 64L << 20));
        try (KafkaProducer<byte[], byte[]> producer = new KafkaProducer<>(settings, new ByteArraySerializer(), new ByteArraySerializer())) {
            Bytes parent = Bytes.EMPTY;
            for (int block = 0; block < blocks; block++) {
                ByteBuffer key = ByteBuffer.allocate(Keys.BYTES);
                Keys.put(key, block);
                Bytes name = Bytes.wrapUnshared(key.array());
                int index = block % Keys.CHAIN;
                String owner = "node/worker-" + (block / Keys.CHAIN) % NODES;
                long event = block / EVENT_BLOCKS;
                Envelope envelope = new Envelope(owner, "controller/3", 1, event + 1, random.nextInt(), 1_760_000_000_000L + event,
                        owner + "@" + event, null, null);
                Placement placement = new Placement(envelope, Keys.NAMESPACE, new Block(index, name, index == 0 ? Bytes.EMPTY : parent), owner,
                        Tier.HOST, 1, block & 0xFFFF, event, random.nextInt());
                parent = name;
                byte[] both = ByteBuffer.allocate(digest.size() + Keys.BYTES).put(digest.unshared()).put(key.array()).array();
                Publication publication = new Publication(digest, name, owner + "/" + Tier.HOST, placement);
                Future<RecordMetadata> _ = producer.send(
                        new ProducerRecord<>(topics.placements(), Partitions.ofKey(both, partitions), publication.key().unshared(),
                                codec.encode(topics.placements(), placement)),
                        (_, failed) -> {
                            if (failed != null) {
                                failure.compareAndSet(null, failed);
                            }
                        });
                if ((block + 1) % PROGRESS_EVERY == 0) {
                    progress.accept("wrote " + (block + 1) + " of " + blocks + " placements");
                }
            }
        }
        Exception failed = failure.get();
        if (failed != null) {
            throw BenchException.failed("cannot write placements: " + failed.getMessage(), "look at the free space of the disk").causedBy(failed);
        }
    }
}
