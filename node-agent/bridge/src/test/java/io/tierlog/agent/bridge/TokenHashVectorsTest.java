/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.bridge;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import io.tierlog.controller.directory.api.TokenHasher;
import io.tierlog.controller.http.PackedKeys;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.msgpack.core.MessagePack;
import org.msgpack.value.ArrayValue;
import org.msgpack.value.Value;
import org.msgpack.value.ValueFactory;

/** Keys that a directory makes from tokens are those that real publishers gave the same tokens, in captures of both. */
class TokenHashVectorsTest {
    private static final int BLOCK = 16;

    /** The stores of a capture: parent, hashes and tokens of each; null for no parent. */
    private record Stored(@Nullable Long parent, List<Long> hashes, List<Long> tokens) {}

    private static List<Stored> stores(String capture) throws Exception {
        List<Stored> stores = new ArrayList<>();
        for (JsonNode frame : Fixtures.frames(capture)) {
            byte[] payload = HexFormat.of().parseHex(frame.get("payload").asText());
            for (Value event : MessagePack.newDefaultUnpacker(payload).unpackValue().asArrayValue().get(1).asArrayValue()) {
                Value name = field(event, "type", 0);
                if (name.asStringValue().asString().equals("BlockStored")) {
                    Value parent = field(event, "parent_block_hash", 2);
                    stores.add(new Stored(parent.isNilValue() ? null : number(parent), numbers(field(event, "block_hashes", 1)),
                            numbers(field(event, "token_ids", 3))));
                }
            }
        }
        return stores;
    }

    private static Value field(Value event, String name, int position) {
        return event.isArrayValue() ? event.asArrayValue().get(position) : event.asMapValue().map().get(ValueFactory.newString(name));
    }

    private static long number(Value value) {
        return value.asIntegerValue().toBigInteger().longValue();
    }

    private static List<Long> numbers(Value list) {
        ArrayValue array = list.asArrayValue();
        return array.list().stream().map(TokenHashVectorsTest::number).toList();
    }

    /** Follows the chains of a capture from their roots; returns how many blocks it has compared. */
    private static int compared(String capture, TokenHasher hasher) throws Exception {
        Map<Long, List<Long>> prompts = new HashMap<>();
        int compared = 0;
        for (Stored stored : stores(capture)) {
            List<Long> before = stored.parent() == null ? List.of() : prompts.get(stored.parent());
            if (before == null || stored.tokens().size() != stored.hashes().size() * BLOCK) {
                continue;
            }
            List<Long> prompt = new ArrayList<>(before);
            for (int i = 0; i < stored.hashes().size(); i++) {
                prompt.addAll(stored.tokens().subList(i * BLOCK, (i + 1) * BLOCK));
                prompts.put(stored.hashes().get(i), List.copyOf(prompt));
                PackedKeys keys = hasher.keys(prompt.stream().mapToLong(Long::longValue).toArray(), BLOCK);
                assertEquals(stored.hashes().get(i), ByteBuffer.wrap(keys.bytes()).getLong((keys.count() - 1) * Long.BYTES));
                compared++;
            }
        }
        return compared;
    }

    @Test
    void sglang() throws Exception {
        assertTrue(compared("live-sglang-E", TokenHasher.parse("sglang")) >= 400);
    }

    @Test
    void vllm() throws Exception {
        assertTrue(compared("live-vllm-C3", TokenHasher.parse("sha256_cbor_64bit:0")) >= 100);
    }
}
