/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.directory.api;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.tierlog.controller.http.PackedKeys;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** What is expected was made by Python: {@code sha256(cbor2.dumps((parent, tuple(tokens), None), canonical=True))}, from that of the seed on. */
class ChainedCborTest {
    private static final String FIRST = "ca90027d467f8ae0c02e71aa4eff29f116d1b74ca16446a60ab640f53e976f43";
    private static final String SECOND = "a00e16765098cf2d30bf90a61b546e19e72b1ad35d37a6a03d5c490dfe6ca1a2";
    /** Each length that a number can have; the last is not a whole block of 4. */
    private static final long[] TOKENS = {0, 23, 24, 255, 256, 65_535, 65_536, 151_935, 7};

    private static List<String> hex(PackedKeys keys) {
        List<String> hex = new ArrayList<>();
        for (int i = 0; i < keys.count(); i++) {
            hex.add(HexFormat.of().formatHex(keys.bytes(), i * keys.width(), (i + 1) * keys.width()));
        }
        return hex;
    }

    @Test
    void keysAreThoseOfTheEngine() {
        assertEquals(List.of(FIRST, SECOND), hex(ChainedCbor.parse("sha256_cbor:0").keys(TOKENS, 4)));
        long[] many = LongStream.range(100, 148).toArray();
        assertEquals(
                List.of("b78bd320c2a1d8bfb548a676a069720ed393f315611138bc218b24ddb7fe2d02",
                        "4a918780859e287872cf4a18fd4d0a5bda7727a2e20a41f8d3fc7c482148d65a"),
                hex(ChainedCbor.parse("sha256_cbor:a seed of more than twenty-three characters").keys(many, 24)));
    }

    @Test
    void numbersAreTheEndOfTheDigestsAndThoseWereChainedWhole() {
        assertEquals(List.of(FIRST.substring(48), SECOND.substring(48)), hex(ChainedCbor.parse("sha256_cbor_64bit:0").keys(TOKENS, 4)));
    }

    @Test
    void aPromptShorterThanABlockHasNoKeys() {
        assertEquals(0, ChainedCbor.parse("sha256_cbor:0").keys(new long[] {1, 2, 3}, 4).count());
    }

    @Test
    void otherFunctionsAreRefused() {
        for (String text : List.of("sha256:0", "sha256_cbor", "sha256_cbor:", "xxhash_cbor:0")) {
            assertThrows(IllegalArgumentException.class, () -> ChainedCbor.parse(text), text);
        }
        assertThrows(IllegalArgumentException.class, () -> new ChainedCbor("0", 16));
    }
}
