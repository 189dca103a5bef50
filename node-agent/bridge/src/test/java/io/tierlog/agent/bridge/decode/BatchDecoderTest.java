/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.bridge.decode;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import io.tierlog.agent.bridge.Batches;
import io.tierlog.agent.bridge.Fixtures;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.Tier;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** What each dialect's golden payload says, and what becomes of payloads that were cut, changed or written in another way. */
class BatchDecoderTest {
    private static final String A = "deadbeef12345678";
    private static final String ONES = "ffffffffffffffff";
    private static final String LAST = "0000000000000007";
    private static final String SIGNED = "aaaaaaaaaaaaaaaa";

    /** The documented facts of each payload: rank, then for each event its kind, place, group, blocks, parent and index of the first block. */
    private static final Map<String, String> FACTS = new TreeMap<>(Map.ofEntries(
            Map.entry("A_vllm_0_9_stored", "rank - stored GPU/0 " + A + "," + ONES + " after - at 0 of 16"),
            Map.entry("B_vllm_array_stored", "rank 0 stored GPU/0 " + A + "," + ONES + " after - at 0 of 16"),
            Map.entry("C_vllm_map_mixed", "rank 0 stored GPU/0 " + LAST + " after " + ONES + " at -1 of 16; removed GPU/0 " + LAST + "; cleared -"),
            Map.entry("C2_vllm_offload_storage_removed", "rank 0 removed STORAGE REMOTE/0 " + A),
            Map.entry("C3_vllm_swa_fewer_hashes", "rank 0 stored GPU/1 0000000000000009 after - at -1 of 16"),
            Map.entry("D_vllm_map_batch", "rank 2 removed GPU/0 8000000000000001; cleared -"),
            Map.entry("E_sglang_array", "rank 0 stored CPU_PINNED/0 " + SIGNED + "," + LAST + " after " + ONES + " at -1 of 16; removed GPU/0 "
                    + ONES),
            Map.entry("E2_sglang_bigram", "rank 0 stored GPU/0 " + SIGNED + " after - at 0 of 4"),
            Map.entry("F_sglang_map", "rank - stored EXTERNAL/0 " + SIGNED + "," + LAST + " after " + ONES + " at -1 of 16 salt tenant-a by time; "
                    + "removed DISK/0 " + ONES),
            Map.entry("G_mooncake_stored", "rank 0 stored cpu/0 " + A + " after - at -1 of 0 by time, once"),
            Map.entry("H_sglang_reconciliation_digest", "rank 0 epoch 0f8fad5bd9cb469fa16570867728950e"),
            Map.entry("I_tokenspeed_array", "rank 0 stored GPU/0 " + A + "," + ONES + " after - at 0 of 16; removed GPU/0 " + A),
            Map.entry("I2_tokenspeed_map", "rank 1 stored cpu/0 " + A + " after - at 0 of 16"),
            Map.entry("J_llmd_storage_bin_events", "rank - stored SHARED_STORAGE/0 " + A + " after - at -1 of 0; removed SHARED_STORAGE/0 " + A),
            Map.entry("K_lmcache_reemitted", "rank - stored lmcache-l1/0 000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f after "
                    + "6465666768696a6b6c6d6e6f707172737475767778797a7b7c7d7e7f80818283 at -1 of 16; removed lmcache-l2-fs/0 "
                    + "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"),
            Map.entry("L_atom_transferred", "rank 2 stored GPU/0 " + A + " after - at 0 of 16; moved GPU/0 to CPU/0 " + A + "; cleared CPU")));

    @Test
    void everyDialectsPayloadSaysWhatIsDocumented() {
        Map<String, String> said = new TreeMap<>();
        Fixtures.expected().fieldNames().forEachRemaining(name -> said.put(name, text(batch(Fixtures.payload(name)))));
        assertEquals(String.join("\n", lines(FACTS)), String.join("\n", lines(said)));
    }

    /** A prompt of 1,048,576 tokens is one event, also in blocks of 2 tokens; the length of the payload is what bounds it: 16 MiB. */
    @Test
    void anEventNamesAllBlocksOfALongPrompt() {
        int blocks = 1 << 19;
        Decoded.Batch longest = batch(stored(blocks));
        assertEquals(blocks, assertInstanceOf(EngineEvent.Stored.class, longest.events().getFirst()).hashes().size());
        assertInstanceOf(Decoded.Malformed.class, BatchDecoder.decode(stored(2 * blocks)));
    }

    private static byte[] stored(int blocks) {
        return Batches.batch(Batches.Form.ARRAYS, 0, 0, Batches.stored("GPU", null, LongStream.rangeClosed(1, blocks).toArray()));
    }

    /** A number below 128 is a hash of one byte: 16 MiB of them would take a gigabyte on the heap. */
    @Test
    void aBatchHasNoMoreBlocksThanTheLongestPrompt() {
        assertInstanceOf(Decoded.Batch.class, BatchDecoder.decode(removedTwice(1 << 19)));
        Decoded.Malformed more = assertInstanceOf(Decoded.Malformed.class, BatchDecoder.decode(removedTwice((1 << 19) + 1)));
        assertEquals("a batch of more than 1048576 blocks", more.reason());
    }

    private static byte[] removedTwice(int blocks) {
        byte[] type = "BlockRemoved".getBytes(StandardCharsets.US_ASCII);
        ByteBuffer event = ByteBuffer.allocate(2 + type.length + 5 + blocks);
        event.put((byte) 0x92).put((byte) (0xa0 + type.length)).put(type).put((byte) 0xdd).putInt(blocks);
        Arrays.fill(event.array(), event.position(), event.capacity(), (byte) 1);
        byte[] batch = {(byte) 0x92, 0, (byte) 0x92};
        return ByteBuffer.allocate(batch.length + 2 * event.capacity()).put(batch).put(event.array()).put(event.array()).array();
    }

    @Test
    void aPayloadThatIsCutAnywhereIsMalformed() {
        Fixtures.expected().fieldNames().forEachRemaining(name -> {
            byte[] payload = Fixtures.payload(name);
            for (int length = 0; length < payload.length; length++) {
                assertInstanceOf(Decoded.Malformed.class, BatchDecoder.decode(Arrays.copyOf(payload, length)), name + " of " + length + " bytes");
            }
        });
    }

    @Test
    void theOrderOfKeysNewKeysAndWideHeadersChangeNothing() throws Exception {
        JsonNode expected = Fixtures.expected();
        for (Map.Entry<String, JsonNode> each : expected.properties()) {
            JsonNode decoded = each.getValue().get("decoded");
            Decoded.Batch wide = batch(WideEncoder.encode(decoded));
            assertEquals(text(batch(Fixtures.payload(each.getKey()))), text(wide), each.getKey());
            assertEquals(maps(decoded), wide.unknownFields(), each.getKey());
        }
    }

    private static int maps(JsonNode node) {
        int here = node.isObject() && !node.has("$bin") ? 1 : 0;
        for (JsonNode each : node) {
            here += maps(each);
        }
        return here;
    }

    @Test
    void mutatedPayloadsAreBatchesOrMalformedAndNothingElse() {
        List<byte[]> payloads = new ArrayList<>();
        Fixtures.expected().fieldNames().forEachRemaining(name -> payloads.add(Fixtures.payload(name)));
        Random random = new Random(25);
        int malformed = 0;
        for (int i = 0; i < 10_000; i++) {
            byte[] payload = mutated(payloads.get(i % payloads.size()), random);
            switch (BatchDecoder.decode(payload)) {
                case Decoded.Malformed _ -> malformed++;
                case Decoded.Batch batch -> batch.events().forEach(BatchDecoderTest::assertPlaceable);
            }
        }
        assertTrue(malformed > 1_000, "only " + malformed + " of 10000 are malformed");
    }

    private static byte[] mutated(byte[] payload, Random random) {
        byte[] changed = payload.clone();
        int changes = 1 + random.nextInt(4);
        for (int i = 0; i < changes; i++) {
            int at = random.nextInt(changed.length);
            switch (random.nextInt(3)) {
                case 0 -> changed[at] = (byte) random.nextInt(256);
                case 1 -> changed[at] ^= (byte) (1 << random.nextInt(8));
                // A header that promises some two billion elements.
                default -> changed[at] = (byte) (0xdc + random.nextInt(4));
            }
        }
        return changed;
    }

    private static void assertPlaceable(EngineEvent event) {
        List<Bytes> hashes = switch (event) {
            case EngineEvent.Stored stored -> stored.hashes();
            case EngineEvent.Removed removed -> removed.hashes();
            case EngineEvent.Transferred moved -> moved.hashes();
            case EngineEvent.Accessed used -> used.hashes();
            case EngineEvent.Capacity _, EngineEvent.Cleared _ -> List.of();
        };
        hashes.forEach(hash -> assertTrue(hash.size() >= 8 && hash.size() <= 32, () -> "a key of " + hash.size() + " bytes"));
    }

    @Test
    void mediaAreTiersAndAnUnknownOneIsNone() {
        record Case(String medium, String locality, boolean shared, Tier tier) {}
        List<Case> cases = List.of(
                new Case("GPU", "", false, Tier.DEVICE),
                new Case("gpu", "", false, Tier.DEVICE),
                new Case("CPU", "", false, Tier.HOST),
                new Case("CPU_PINNED", "", false, Tier.HOST),
                new Case("lmcache-l1", "", false, Tier.HOST),
                new Case("DISK", "", false, Tier.DISK),
                new Case("FS", "", false, Tier.DISK),
                new Case("STORAGE", "LOCAL", false, Tier.DISK),
                new Case("STORAGE", "REMOTE", false, Tier.STORE),
                new Case("STORAGE", "", false, Tier.STORE),
                new Case("EXTERNAL", "", false, Tier.STORE),
                new Case("OBJECT_STORE", "", false, Tier.STORE),
                new Case("lmcache-l2-fs", "", false, Tier.DISK),
                new Case("lmcache-l2-fs", "", true, Tier.STORE),
                new Case("TAPE", "", false, Tier.UNKNOWN));
        for (Case each : cases) {
            assertEquals(each.tier(), Media.tier(new EngineEvent.Place(each.medium(), each.locality(), 0), each.shared()), each.toString());
        }
    }

    private static Decoded.Batch batch(byte[] payload) {
        return assertInstanceOf(Decoded.Batch.class, BatchDecoder.decode(payload));
    }

    private static List<String> lines(Map<String, String> facts) {
        return facts.entrySet().stream().map(each -> each.getKey() + ": " + each.getValue()).toList();
    }

    private static String text(Decoded.Batch batch) {
        String rank = "rank " + (batch.rank().isPresent() ? batch.rank().getAsInt() : "-");
        String epoch = batch.epoch().isEmpty() ? "" : " epoch " + batch.epoch();
        String events = String.join("; ", batch.events().stream().map(BatchDecoderTest::text).toList());
        return rank + epoch + (events.isEmpty() ? "" : " " + events);
    }

    private static String text(EngineEvent event) {
        return switch (event) {
            case EngineEvent.Stored e -> "stored " + text(e.place()) + " " + text(e.hashes()) + " after "
                    + (e.parent() == null ? "-" : hex(e.parent())) + " at " + e.first() + " of " + e.blockTokens()
                    + (e.salt().isEmpty() ? "" : " salt " + e.salt()) + (e.dialect().expires() ? " by time" : "")
                    + (e.dialect().objects() ? ", once" : "");
            case EngineEvent.Removed e -> "removed " + text(e.place()) + " " + text(e.hashes());
            case EngineEvent.Transferred e -> "moved " + text(e.from()) + " to " + text(e.to()) + " " + text(e.hashes());
            case EngineEvent.Accessed e -> "used " + text(e.place()) + " " + text(e.hashes());
            case EngineEvent.Capacity e -> "capacity " + text(e.place());
            case EngineEvent.Cleared e -> "cleared " + (e.medium().isEmpty() ? "-" : e.medium());
        };
    }

    private static String text(EngineEvent.Place place) {
        return place.medium() + (place.locality().isEmpty() ? "" : " " + place.locality()) + "/" + place.group();
    }

    private static String text(List<Bytes> hashes) {
        return String.join(",", hashes.stream().map(BatchDecoderTest::hex).toList());
    }

    private static String hex(Bytes bytes) {
        return HexFormat.of().formatHex(bytes.unshared());
    }
}
