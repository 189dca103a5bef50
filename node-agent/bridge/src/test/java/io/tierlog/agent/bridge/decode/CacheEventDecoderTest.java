/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.bridge.decode;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.agent.bridge.FakeCache;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.Tier;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What batches of LMCache say. */
class CacheEventDecoderTest {
    private static final String KEY = "71f3a2b4c5d6e7f8";
    private static final String HEAD = "'instance_id': 'i', 'incarnation': 7, 'seq': 3";

    private static byte[] json(String text) {
        return text.replace('\'', '"').getBytes(StandardCharsets.UTF_8);
    }

    private static List<CacheBatch> batches(String text) {
        return assertInstanceOf(CacheRequest.Batches.class, CacheEventDecoder.decode(json(text))).batches();
    }

    private static Decoded content(String fields) {
        return batches("{'batches': [{" + HEAD + ", " + fields + "}]}").getFirst().content();
    }

    private static List<EngineEvent> events(String fields) {
        return assertInstanceOf(Decoded.Batch.class, content(fields)).events();
    }

    private static String entry(String key, String more) {
        return "{'key': {'chunk_hash_hex': '" + KEY + "', 'model_name': 'llama', " + key + "}" + more + "}";
    }

    @Test
    void aStoreSaysWhereABlockIsAndInWhosePrompt() {
        List<EngineEvent> events = events("'event_type': 'store', 'tier': 'l1', 'backend': 'dram', 'shared': false, 'ts': 1.5, 'entries': ["
                + entry("'kv_rank': 33620225, 'object_group_id': 2, 'cache_salt': 'alice'",
                        ", 'size_bytes': 9, 'token_ids': [5, 6, 7, 8], 'token_offset': 12, 'parent_hash_hex': '" + KEY + "'") + "]");
        EngineEvent.Scope scope = new EngineEvent.Scope("llama", "33620225", "alice");
        EngineEvent.Place place = new EngineEvent.Place("lmcache-l1-dram", "", 2, scope);
        // The fourth chunk of 4 tokens has index 3.
        assertEquals(List.of(new EngineEvent.Stored(place, List.of(Bytes.ofHex(KEY)), Bytes.ofHex(KEY), 3, true, 4, "", "alice",
                new EngineEvent.Dialect("llama", false, true))), events);
    }

    @Test
    void deletesAndAccessesOfOnePlaceAreOneEvent() {
        String two = entry("'kv_rank': 0", "") + ", " + entry("'kv_rank': 16777472", "") + ", " + entry("'kv_rank': 1", "");
        for (String type : List.of("delete", "access")) {
            List<EngineEvent> events = events("'event_type': '" + type + "', 'tier': 'l2', 'backend': 'fs', 'entries': [" + two + "]");
            // 16777472 is the only worker of one: its part is the block.
            assertEquals(2, events.size(), events.toString());
        }
    }

    @ParameterizedTest
    @CsvSource({"l1,dram,false,HOST", "l1,devdax,true,HOST", "l2,fs,false,DISK", "l2,s3,true,STORE", "l3,tape,false,UNKNOWN",
            "l1-dram,x,false,UNKNOWN"})
    void aTierIsTheOneThatTheBatchNames(String tier, String backend, boolean shared, Tier expected) {
        EngineEvent event = events("'event_type': 'delete', 'tier': '" + tier + "', 'backend': '" + backend + "', 'shared': " + shared
                + ", 'entries': [" + entry("'kv_rank': 0", "") + "]").getFirst();
        assertEquals(expected, Media.tier(assertInstanceOf(EngineEvent.Removed.class, event).place(), false));
    }

    @Test
    void unknownTypesAndFieldsAreCountedAndLeftOut() {
        Decoded.Batch batch = assertInstanceOf(Decoded.Batch.class, content("'event_type': 'pin', 'tier': 'l1', 'color': {'a': [1]}, 'entries': ["
                + entry("'kv_rank': 0, 'shape': 1", ", 'weight': null") + "]"));
        assertEquals(List.of(), batch.events());
        assertEquals(1, batch.unknownEvents());
        assertEquals(3, batch.unknownFields());
    }

    @Test
    void aRecordMayBeOneBatchAlone() {
        CacheBatch batch = batches("{" + HEAD + ", 'dropped_events': 4, 'event_type': 'config', 'tier': 'l2', 'backend': 'fs'}").getFirst();
        assertEquals(new CacheBatch.Origin("i", 7, 3, 4), batch.origin());
        assertInstanceOf(EngineEvent.Capacity.class, assertInstanceOf(Decoded.Batch.class, batch.content()).events().getFirst());
    }

    @ParameterizedTest
    @ValueSource(strings = {
        "'event_type': 'store', 'tier': 'l1', 'entries': {}",
        "'event_type': 'store', 'tier': 'l1', 'entries': [1]",
        "'event_type': 'store', 'tier': 'l1', 'entries': [{}]",
        "'event_type': 'store', 'tier': 'l1', 'entries': [{'key': 1}]",
        "'event_type': 'store', 'tier': 'l1', 'entries': [{'key': {'chunk_hash_hex': '71f3', 'model_name': 'm', 'kv_rank': 0}}]",
        "'event_type': 'store', 'tier': 'l1', 'entries': [{'key': {'chunk_hash_hex': '71f3a2b4c5d6e7fx', 'model_name': 'm', 'kv_rank': 0}}]",
        "'event_type': 'store', 'tier': 'l1', 'entries': [{'key': {'chunk_hash_hex': '71f3a2b4c5d6e7f8', 'kv_rank': 0}}]",
        "'event_type': 'store', 'tier': 'l1', 'entries': [{'key': {'chunk_hash_hex': '71f3a2b4c5d6e7f8', 'model_name': 'm', 'kv_rank': -1}}]",
        "'event_type': 'store', 'tier': 'l1', 'shared': 'no'",
        "'event_type': 3",
        "'tier': 'l1'"
    })
    void aBatchWhoseEventsCannotBeReadKeepsItsNumber(String fields) {
        CacheBatch batch = batches("{'batches': [{" + fields + ", " + HEAD + "}]}").getFirst();
        assertEquals(new CacheBatch.Origin("i", 7, 3, 0), batch.origin());
        assertInstanceOf(Decoded.Malformed.class, batch.content());
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "[]", "7", "{'batches': 1}", "{'batches': [1]}", "{'batches': [{}]}", "{'batches': []} x", "{}",
        "{'batches': [{'instance_id': ' ', 'incarnation': 1, 'seq': 1}]}", "{'batches': [{'instance_id': 'i', 'incarnation': 1, 'seq': 0}]}",
        "{'batches': [{'instance_id': 'i', 'incarnation': -1, 'seq': 1}]}", "{'batches': [{'instance_id': 'i', 'incarnation': 1, 'seq': 1.5}]}",
        "{'batches': [{'instance_id': 'i', 'incarnation': 1, 'seq': 99999999999999999999}]}", "{'batches': [], 'batches': []}"})
    void whatNamesNoSenderAndNumberIsNoBatch(String text) {
        assertInstanceOf(CacheRequest.Malformed.class, CacheEventDecoder.decode(json(text)));
    }

    @Test
    void aPayloadThatIsCutOffIsMalformedAndNothingElse() {
        FakeCache cache = new FakeCache("i", 1);
        byte[] whole = FakeCache.payload(IntStream.range(0, 5).mapToObj(_ -> cache.next()).toList());
        assertInstanceOf(CacheRequest.Batches.class, CacheEventDecoder.decode(whole));
        for (int length = 0; length < whole.length; length++) {
            assertInstanceOf(CacheRequest.Malformed.class, CacheEventDecoder.decode(Arrays.copyOf(whole, length)));
        }
    }

    @Test
    void boundsAreKept() {
        String deep = "{'batches': [{" + HEAD + ", 'event_type': 'x', 'a': " + "[".repeat(100) + "]".repeat(100) + "}]}";
        assertInstanceOf(CacheRequest.Malformed.class, CacheEventDecoder.decode(json(deep)));
        String many = "{'batches': [" + ("{" + HEAD + ", 'event_type': 'x'},").repeat(4_097).replaceFirst(",$", "") + "]}";
        assertInstanceOf(CacheRequest.Malformed.class, CacheEventDecoder.decode(json(many)));
        assertInstanceOf(CacheRequest.Malformed.class, CacheEventDecoder.decode(new byte[CacheEventDecoder.LARGEST_PAYLOAD + 1]));
        String entries = "{'batches': [{" + HEAD + ", 'event_type': 'store', 'tier': 'l1', 'entries': ["
                + (entry("'kv_rank': 0", "") + ",").repeat(65_537).replaceFirst(",$", "") + "]}]}";
        assertInstanceOf(Decoded.Malformed.class, batches(entries).getFirst().content());
    }

    @Test
    void aBatchKnowsItsBytes() {
        String text = "{'batches': [ {" + HEAD + ", 'event_type': 'x'} , {" + HEAD + ", 'event_type': 'y', 'k': 'ü'} ]}";
        byte[] payload = json(text);
        CacheBatch last = batches(text).getLast();
        String part = new String(Arrays.copyOfRange(payload, last.from(), last.to()), StandardCharsets.UTF_8);
        assertTrue(part.startsWith("{") && part.endsWith("\"ü\"}"), part);
    }
}
