/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.bridge.publish;

import io.tierlog.events.Codec;
import io.tierlog.events.KafkaAccess;
import io.tierlog.events.Partitions;
import io.tierlog.events.Schemas;
import io.tierlog.events.TopicAdmin;
import io.tierlog.events.topic.Topics;
import io.tierlog.schemas.Block;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.PagedBlock;
import io.tierlog.schemas.RemovalReason;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.decision.BlocksPlaced;
import io.tierlog.schemas.decision.BlocksRemoved;
import io.tierlog.schemas.decision.Fact;
import io.tierlog.schemas.decision.NodeSeen;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** A log whose decisions a test writes, in transactions of which some are aborted, with the truth about the tiers below the device. */
final class PlacedFacts implements AutoCloseable {
    static final String NAMESPACE = "llama";
    private static final List<String> OWNERS = List.of("node/a", "node/b", "node/c", "store/0", "node/ext-pod-dp0");
    private static final int HELD = 60;

    final Topics topics;
    private final int partitions;
    private final Random random;
    private final Codec codec = new Codec(Schemas.bundled());
    private final KafkaProducer<byte[], byte[]> producer;
    private final Map<String, LinkedHashMap<Long, Block>> held = new LinkedHashMap<>();
    private final Set<Long> ever = new LinkedHashSet<>();
    private long sequence;

    PlacedFacts(KafkaAccess access, String prefix, int partitions, long seed) {
        this.topics = new Topics(prefix);
        this.partitions = partitions;
        random = new Random(seed);
        try (TopicAdmin admin = new TopicAdmin(access)) {
            admin.create(topics, partitions, 1);
        }
        producer = new KafkaProducer<>(access.client(Map.of("transactional.id", prefix)), new ByteArraySerializer(), new ByteArraySerializer());
        producer.initTransactions();
    }

    /** Writes some transactions of some facts each. */
    void write(int transactions) {
        for (int i = 0; i < transactions; i++) {
            producer.beginTransaction();
            if (random.nextInt(8) == 0) {
                send(new BlocksPlaced(envelope("node/a"), Tier.HOST, NAMESPACE, List.of(paged(new Block(0, key(-1L - i), Bytes.EMPTY))), null,
                        Tier.UNKNOWN, 0));
                producer.abortTransaction();
                continue;
            }
            for (int j = random.nextInt(6); j >= 0; j--) {
                fact();
            }
            producer.commitTransaction();
        }
    }

    private void fact() {
        String owner = OWNERS.get(random.nextInt(OWNERS.size()));
        Tier tier = owner.startsWith("store/") ? Tier.STORE : List.of(Tier.DEVICE, Tier.HOST, Tier.DISK).get(random.nextInt(3));
        LinkedHashMap<Long, Block> blocks = held.computeIfAbsent(owner + " " + tier, _ -> new LinkedHashMap<>());
        if (random.nextInt(10) == 0) {
            send(new NodeSeen(envelope("node/a"), List.of()));
        } else if (blocks.size() < HELD && random.nextInt(3) > 0) {
            List<PagedBlock> placed = new ArrayList<>();
            Block last = new Block(-1, Bytes.EMPTY, Bytes.EMPTY);
            for (int i = random.nextInt(5); i >= 0; i--) {
                long number = random.nextInt(2_000) * 0x9e3779b97f4a7c15L;
                Block block = new Block(last.index() + 1, key(number), last.key());
                if (blocks.putIfAbsent(number, block) == null) {
                    ever.add(number);
                    placed.add(paged(block));
                    last = block;
                }
            }
            if (!placed.isEmpty()) {
                List<PagedBlock> order = random.nextBoolean() ? placed : placed.reversed();
                send(new BlocksPlaced(envelope(owner), tier, NAMESPACE, order, null, Tier.UNKNOWN, 0));
            }
        } else if (!blocks.isEmpty()) {
            List<Long> gone = blocks.keySet().stream().limit(1 + random.nextInt(4)).toList();
            List<Block> removed = gone.stream().map(blocks::get).toList();
            gone.forEach(blocks::remove);
            send(new BlocksRemoved(envelope(owner), tier, NAMESPACE, RemovalReason.PRESSURE, removed, 0));
        }
    }

    /** One more block on the host of node a. */
    void place(long number) {
        Block block = new Block(0, key(number), Bytes.EMPTY);
        held.computeIfAbsent("node/a HOST", _ -> new LinkedHashMap<>()).put(number, block);
        ever.add(number);
        producer.beginTransaction();
        send(new BlocksPlaced(envelope("node/a"), Tier.HOST, NAMESPACE, List.of(paged(block)), null, Tier.UNKNOWN, 0));
        producer.commitTransaction();
    }

    private Envelope envelope(String owner) {
        return new Envelope(owner, "controller/0", 1, ++sequence, 0, 1_000 * sequence, null, null, null, null);
    }

    private static Bytes key(long number) {
        return Bytes.ofHex("%016x".formatted(number));
    }

    private static PagedBlock paged(Block block) {
        return new PagedBlock(block, 0, 1, 0);
    }

    private void send(Fact fact) {
        String owner = fact.envelope().aggregate();
        var _ = producer.send(new ProducerRecord<>(topics.decisions(), Partitions.of(owner, partitions), Partitions.key(owner),
                codec.encode(topics.decisions(), fact)));
    }

    /** Every block that was ever placed. */
    Set<Long> ever() {
        return ever;
    }

    /** What subscribers shall know: key, node and tier of each placement below the device. */
    Set<String> truth() {
        Set<String> truth = new TreeSet<>();
        held.forEach((where, blocks) -> {
            String owner = where.substring(0, where.indexOf(' '));
            String tier = where.substring(where.indexOf(' ') + 1);
            if (!tier.equals(Tier.DEVICE.name()) && !PlacementBatch.isForeign(owner)) {
                String node = PlacementBatch.instance(owner).replace(':', '-');
                blocks.keySet().forEach(number -> truth.add("%016x ext-%s-dp0 %s".formatted(number, node, tier)));
            }
        });
        return truth;
    }

    @Override
    public void close() {
        producer.close();
    }
}
