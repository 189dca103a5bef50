/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.tierlog.agent.app.store.DirectoryStore;
import io.tierlog.agent.app.store.ObjectName;
import io.tierlog.agent.app.store.SharedStore.Presence;
import io.tierlog.controller.core.feed.PlacementFeed;
import io.tierlog.controller.core.table.Namespaces;
import io.tierlog.events.topic.Topics;
import io.tierlog.ops.kafka.EmbeddedKafka;
import io.tierlog.ops.kafka.EmbeddedKafkaConfig;
import io.tierlog.schemas.BlockStatus;
import io.tierlog.schemas.Bytes;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import java.util.zip.CRC32C;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A store with three blocks and a log that has the first on record. The first two were put two days ago, the third a moment ago: only the second is
 * collected.
 */
@Tag("slow")
class StoreCommandTest {
    private static final String NAMESPACE = "model";

    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it.
    private Path dir;

    private static ObjectName name(int block) {
        return new ObjectName(ObjectName.digest(NAMESPACE), key(block));
    }

    private static Bytes key(int block) {
        return Bytes.ofHex("aabbccddeeff000" + block);
    }

    private static void put(DirectoryStore store, int block) {
        byte[] bytes = new byte[512];
        CRC32C crc = new CRC32C();
        crc.update(bytes);
        assertEquals(BlockStatus.ARRIVED, store.write(name(block), ByteBuffer.wrap(bytes), (int) crc.getValue()).status());
    }

    private void age(int block) throws IOException {
        try (Stream<Path> files = Files.walk(dir.resolve("store").resolve("objects"))) {
            Path file = files.filter(one -> one.endsWith(key(block).hex())).findFirst().orElseThrow();
            Files.setLastModifiedTime(file, FileTime.from(Instant.now().minus(Duration.ofDays(2))));
        }
    }

    private static void record(String bootstrapServers, int block) throws Exception {
        byte[] key = new PlacementFeed.Publication(Namespaces.digest(NAMESPACE), key(block), "store/3/STORE", null).key().toArray();
        try (KafkaProducer<byte[], byte[]> producer = new KafkaProducer<>(
                Map.of("bootstrap.servers", bootstrapServers), new ByteArraySerializer(), new ByteArraySerializer())) {
            producer.send(new ProducerRecord<>(Topics.DEFAULT.placements(), key, new byte[] {1})).get();
        }
    }

    private JsonNode gc(String bootstrapServers, String... more) throws IOException {
        String[] words = {"store", "gc", "--bootstrap-servers", bootstrapServers, "--store", dir.resolve("store").toString(), "--format", "json"};
        MainRun.Output output = MainRun.of(dir, Stream.concat(Stream.of(words), Stream.of(more)).toArray(String[]::new));
        assertEquals(0, output.code(), output.text());
        return new ObjectMapper().readTree(output.text());
    }

    @Test
    void onlyWhatIsOldAndNotOnRecordIsDeleted() throws Exception {
        try (EmbeddedKafka broker = EmbeddedKafka.start(EmbeddedKafkaConfig.of(dir.resolve("broker")).withPort(0));
                DirectoryStore store = DirectoryStore.open(dir.resolve("store"), DirectoryStore.Options.DEFAULTS)) {
            String at = broker.bootstrapServers();
            MainRun.Output made = MainRun.of(dir, "topics", "create", "--bootstrap-servers", at, "--partitions", "2");
            assertEquals(0, made.code(), made.text());
            for (int block = 1; block <= 3; block++) {
                put(store, block);
            }
            age(1);
            age(2);
            record(at, 1);
            JsonNode seen = gc(at);
            assertEquals(List.of(2, 1, 640, 0), numbers(seen, "old", "unknown", "unknown_bytes", "deleted"), "128 bytes of header, 512 of block");
            assertEquals(Presence.PRESENT, store.probe(name(2)), "without --delete");
            assertEquals(List.of(1, 640), numbers(gc(at, "--delete"), "deleted", "deleted_bytes"));
            assertEquals(List.of(Presence.PRESENT, Presence.ABSENT, Presence.PRESENT),
                    List.of(store.probe(name(1)), store.probe(name(2)), store.probe(name(3))));
            assertEquals(List.of(1, 0), numbers(gc(at, "--delete"), "old", "unknown"));
        }
    }

    private static List<Integer> numbers(JsonNode json, String... fields) {
        return Stream.of(fields).map(field -> json.get(field).asInt()).toList();
    }

    @Test
    void whatIsNoStoreIsRefusedAndStaysAsItIs() {
        MainRun.Output output = MainRun.of(dir, "store", "gc", "--bootstrap-servers", "127.0.0.1:1", "--store", dir.resolve("none").toString());
        assertEquals(2, output.code(), output.text());
        assertTrue(output.text().contains("is not a store in a directory"), output.text());
        assertFalse(Files.exists(dir.resolve("none")));
        MainRun.Output remote = MainRun.of(dir, "store", "gc", "--bootstrap-servers", "127.0.0.1:1", "--store", "s3://bucket/kv?region=r");
        assertEquals(2, remote.code(), remote.text());
    }
}
