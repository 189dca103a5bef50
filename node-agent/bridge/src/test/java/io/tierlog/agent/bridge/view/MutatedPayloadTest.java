/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.bridge.view;

import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import io.tierlog.agent.bridge.FakeCache;
import io.tierlog.agent.bridge.Fixtures;
import io.tierlog.agent.bridge.decode.CacheBatch;
import io.tierlog.agent.bridge.decode.CacheEventDecoder;
import io.tierlog.agent.bridge.decode.CacheRequest;
import io.tierlog.schemas.Tier;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** What a publisher holds true after a payload that was changed on its way. */
class MutatedPayloadTest {
    @Test
    void aBlockIsOnlyThereUnderAKeyAndOnATierThatThePayloadHas() {
        List<byte[]> payloads = new ArrayList<>();
        Fixtures.expected().fieldNames().forEachRemaining(name -> payloads.add(Fixtures.payload(name)));
        Random random = new Random(26);
        int placed = 0;
        for (int i = 0; i < 10_000; i++) {
            byte[] payload = payloads.get(i % payloads.size()).clone();
            for (int changes = 1 + random.nextInt(4); changes > 0; changes--) {
                payload[random.nextInt(payload.length)] = (byte) random.nextInt(256);
            }
            FakeRing r = new FakeRing(FakeRing.RULES, 10);
            r.publish(0, payload, true);
            String whole = HexFormat.of().formatHex(payload);
            for (String block : r.present) {
                placed++;
                assertTrue(has(whole, block.substring(0, block.indexOf(' '))), () -> block + " is not in " + whole);
                assertTrue(names(payload, block), () -> "no medium of " + block + " is in " + whole);
            }
        }
        assertTrue(placed > 1_000, "only " + placed + " blocks were placed");
    }

    /** Of LMCache's batches, what is there is what another reader of the same payload finds stored, or nothing where it finds no JSON. */
    @Test
    void aChunkOfACacheIsOnlyThereWhereThePayloadStoresIt() {
        FakeCache cache = new FakeCache("lm", 3);
        List<byte[]> payloads = IntStream.range(0, 300)
                .mapToObj(_ -> FakeCache.payload(List.of(cache.next(), cache.next(), cache.next()))).toList();
        Random random = new Random(26);
        int placed = 0;
        int unread = 0;
        for (int i = 0; i < 10_000; i++) {
            byte[] payload = payloads.get(i % payloads.size()).clone();
            for (int changes = 1 + random.nextInt(4); changes > 0; changes--) {
                // Mostly what JSON is made of.
                int other = random.nextInt(4) == 0 ? random.nextInt(256) : payload[random.nextInt(payload.length)];
                payload[random.nextInt(payload.length)] = (byte) other;
            }
            FakeRing r = new FakeRing(new Publisher.Rules(false, 5_000, 2_000, 3, 600_000, 1_000, 1 << 20, 8), 10, true, "");
            switch (CacheEventDecoder.decode(payload)) {
                case CacheRequest.Malformed _ -> unread++;
                case CacheRequest.Batches(List<CacheBatch> batches) -> batches.forEach(batch -> r.publisher.numbered(r.nowMs,
                        new Publisher.Incarnation(batch.origin().incarnation(), batch.origin().dropped()),
                        new Frame(batch.origin().seq(), "", 0, 0, batch.content())));
            }
            Set<String> stored = r.present.isEmpty() ? Set.of() : stored(payload);
            for (String block : r.present) {
                placed++;
                assertTrue(stored.contains(block), () -> block + " is not in " + new String(payload, StandardCharsets.UTF_8));
            }
        }
        assertTrue(placed > 1_000, "only " + placed + " chunks were placed");
        assertTrue(unread > 1_000, "only " + unread + " payloads could not be read");
    }

    /** All that the batches of a payload store, whatever they delete: key, tier, namespace. */
    private static Set<String> stored(byte[] payload) {
        Set<String> stored = new TreeSet<>();
        try {
            for (JsonNode batch : new ObjectMapper().readTree(payload).path("batches")) {
                String tier = batch.path("tier").asText().equals("l1") ? "HOST" : batch.path("shared").asBoolean() ? "STORE" : "DISK";
                boolean store = batch.path("event_type").asText().equals("store");
                for (JsonNode entry : store ? batch.path("entries") : JsonNodeFactory.instance.arrayNode()) {
                    JsonNode key = entry.path("key");
                    long group = key.path("object_group_id").asLong();
                    String salt = key.path("cache_salt").asText("");
                    long rank = key.path("kv_rank").asLong();
                    stored.add(key.path("chunk_hash_hex").asText().toLowerCase(Locale.ROOT) + " " + tier + " " + key.path("model_name").asText()
                            + (group == 0 ? "" : ";g=" + group) + (salt.isEmpty() ? "" : ";salt=" + salt)
                            + (rank == 0 || rank == 16_777_472 ? "" : ";kv_rank=" + rank));
                }
            }
        } catch (IOException e) {
            return Set.of();
        }
        return stored;
    }

    /** Whether the payload has a medium of the block's tier; a device needs none. */
    private static boolean names(byte[] payload, String block) {
        String text = new String(payload, StandardCharsets.ISO_8859_1).toUpperCase(Locale.ROOT);
        return switch (Tier.valueOf(block.split(" ", 3)[1])) {
            case DEVICE -> true;
            case HOST -> text.contains("CPU") || text.contains("L1");
            case DISK -> text.contains("DISK") || text.contains("FS") || text.contains("STORAGE") || text.contains("L2");
            case STORE -> Stream.of("STORAGE", "EXTERNAL", "REMOTE", "OBJ", "OBJECT_STORE").anyMatch(text::contains);
            case UNKNOWN -> false;
        };
    }

    /** Numbers come in as few bytes as they need: leading ones that only repeat the sign may be left out. */
    private static boolean has(String payload, String key) {
        String least = key;
        while (least.length() > 2 && (least.startsWith("00") || least.startsWith("ff"))) {
            least = least.substring(2);
        }
        return payload.contains(least);
    }
}
