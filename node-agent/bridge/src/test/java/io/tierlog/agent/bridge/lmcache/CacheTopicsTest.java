/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.bridge.lmcache;

import static io.tierlog.agent.bridge.DirectoryAnswers.eventually;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.agent.bridge.FakeCache;
import io.tierlog.agent.bridge.log.EventWriter;
import io.tierlog.agent.bridge.view.BridgeCounter;
import io.tierlog.agent.bridge.view.BridgeCounts;
import io.tierlog.events.Codec;
import io.tierlog.events.KafkaAccess;
import io.tierlog.events.Schemas;
import io.tierlog.events.topic.Topics;
import io.tierlog.ops.kafka.EmbeddedKafka;
import io.tierlog.ops.kafka.EmbeddedKafkaConfig;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewPartitions;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** How topics are read that are not there yet, that grow, and that lose records before they are read. */
@Tag("slow")
class CacheTopicsTest {
    private static final String TOPIC = "cache-events";

    private final FakeCache cache = new FakeCache("i", 4);
    private final BridgeCounts counts = new BridgeCounts();
    private final CacheQueue queue = new CacheQueue(1, 1 << 20);
    private final List<CacheArrival> arrived = new ArrayList<>();

    private void send(KafkaProducer<byte[], byte[]> producer, int partition) throws Exception {
        byte[] value = FakeCache.payload(List.of(cache.next()));
        producer.send(new ProducerRecord<>(TOPIC, partition, "i".getBytes(StandardCharsets.UTF_8), value)).get();
    }

    private Optional<CacheArrival> next() {
        Optional<CacheArrival> next = queue.poll();
        next.ifPresent(arrived::add);
        return next;
    }

    private void until(CacheArrival expected) {
        eventually(() -> {
            next();
            return arrived.contains(expected) ? "" : expected + " is not in " + arrived;
        });
    }

    private List<CacheArrival.Batch> batches() {
        return arrived.stream().filter(CacheArrival.Batch.class::isInstance).map(CacheArrival.Batch.class::cast).toList();
    }

    @Test
    void aTopicIsReadFromItsStartAndWhatIsDeletedBeforeIsOnRecord(@TempDir Path directory) throws Exception {
        try (EmbeddedKafka broker = EmbeddedKafka.start(EmbeddedKafkaConfig.of(directory))) {
            // One record in each answer, so that only the next one or two are fetched ahead.
            KafkaAccess access = new KafkaAccess(broker.bootstrapServers(), Map.of("max.partition.fetch.bytes", "1"), Duration.ofSeconds(15));
            EventWriter writer = new EventWriter(
                    new EventWriter.Log(KafkaAccess.of("127.0.0.1:9"), Topics.DEFAULT, 1, new Codec(Schemas.bundled()), "p"), failure -> {});
            try (writer;
                    CacheTopics topics = new CacheTopics(new CacheFeeds(List.of(TOPIC), access, Optional.empty()),
                            new CacheParts(queue, writer, counts));
                    Admin admin = Admin.create(access.client(Map.of()));
                    KafkaProducer<byte[], byte[]> producer =
                            new KafkaProducer<>(access.client(Map.of()), new ByteArraySerializer(), new ByteArraySerializer())) {
                eventually(() -> counts.of(BridgeCounter.SOURCE_FAILURES) > 0 ? "" : "the topic was not looked for");
                assertFalse(topics.isReading());
                admin.createTopics(List.of(new NewTopic(TOPIC, 1, (short) 1))).all().get();
                for (int i = 0; i < 10; i++) {
                    send(producer, 0);
                }
                eventually(() -> next().isPresent() ? "" : "nothing comes");
                assertEquals(1, batches().getFirst().batch().origin().seq());
                assertTrue(batches().getFirst().whole());
                // Nothing is taken now, so that all but the next few records are still unread.
                admin.deleteRecords(Map.of(new TopicPartition(TOPIC, 0), RecordsToDelete.beforeOffset(-1))).all().get();
                until(new CacheArrival.Deleted(TOPIC + "-0"));
                assertTrue(batches().size() < 10, "records are lost");
                until(new CacheArrival.CaughtUp());
                send(producer, 0);
                eventually(() -> next().isPresent() ? "" : "nothing comes");
                assertEquals(11, batches().getLast().batch().origin().seq());
                assertFalse(batches().getLast().whole());
                admin.createPartitions(Map.of(TOPIC, NewPartitions.increaseTo(2))).all().get();
                send(producer, 1);
                eventually(() -> {
                    next();
                    return batches().getLast().way().equals(TOPIC + "-1") ? "" : "the new partition is not read";
                });
                assertTrue(batches().getLast().whole());
                assertTrue(topics.isReading());
            }
        }
    }
}
