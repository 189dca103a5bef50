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

/**
 * What is expected was made by Python 3.11, from the digest of the seed on:
 * {@code sha256(cbor2.dumps((parent, tuple(tokens), None), canonical=True))},
 * {@code sha256(pickle.dumps((parent, tuple(tokens), None), protocol=pickle.HIGHEST_PROTOCOL))}, and the same with {@code xxhash.xxh3_128_digest}.
 */
class VllmKeysTest {
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
        assertEquals(List.of(FIRST, SECOND), hex(VllmKeys.parse("sha256_cbor:0").keys(TOKENS, 4)));
        long[] many = LongStream.range(100, 148).toArray();
        assertEquals(
                List.of("b78bd320c2a1d8bfb548a676a069720ed393f315611138bc218b24ddb7fe2d02",
                        "4a918780859e287872cf4a18fd4d0a5bda7727a2e20a41f8d3fc7c482148d65a"),
                hex(VllmKeys.parse("sha256_cbor:a seed of more than twenty-three characters").keys(many, 24)));
    }

    private static void assertKeys(String hash, long[] tokens, int blockTokens, String first, String last) {
        List<String> keys = hex(TokenHasher.parse(hash).keys(tokens, blockTokens));
        assertEquals(List.of(first, last), List.of(keys.getFirst(), keys.getLast()), hash + " " + blockTokens);
        List<String> numbers = hex(TokenHasher.parse(hash.replaceFirst(":", "_64bit:")).keys(tokens, blockTokens));
        assertEquals(keys.stream().map(key -> key.substring(key.length() - 16)).toList(), numbers, hash);
    }

    /** Blocks of 1 and 3 tokens are short tuples, and numbers of 2^31 and more are long ones: pickle writes each in a form of its own. */
    @Test
    void allAlgorithmsOfTheEngine() {
        String seed = "a seed of more than twenty-three characters";
        long[] many = LongStream.range(100, 148).toArray();
        long[] wide = {0x7fff_ffffL, 0x8000_0000L, 0xffff_ffffL, 5};
        long[] whole = LongStream.range(300, 300 + 4_096).toArray();
        assertKeys("sha256:0", TOKENS, 4,
                "545f0ac9f9f843830a203b2f3d14417a6c11babbf9e992b08b9fba32e4295950",
                "98515f9920a39bc70da2814ebcab19779b0d0569f2e5e12a5933cd7620fe16fb");
        assertKeys("sha256:" + seed, many, 24,
                "d45991fff26685aca694e90bcf8a20580459bb706cd60a7edf369ffc173e3c8c",
                "260a2b96baaf128a7e235ed938b1958d11d784bf26767ccd71782ee2753ca266");
        assertKeys("sha256:0", TOKENS, 1,
                "8a8ca157f153d0ded68e06e9dc141ac01badc8be407579fc7088ec5e2e2126f6",
                "494f1d0c9dcac8ff1ec793fd037083c6b5607b46dd18d4ff74a69dae3bb8088a");
        assertKeys("sha256:0", TOKENS, 3,
                "2e03e0d00f7fed935918d32af47b51a670347f11eea57ccd27f0ca03e865de0e",
                "a94bd0d2e7f3849f22e98331b81ff87d9ff88c07de688159a9d083706c034734");
        assertKeys("sha256:0", wide, 4,
                "14cfb3f1ea41bd8a86801a833269af37c2e70b01c0365248df424831f905a8ad",
                "14cfb3f1ea41bd8a86801a833269af37c2e70b01c0365248df424831f905a8ad");
        assertKeys("sha256:0", whole, 4_096,
                "c68d2d021f797695f5222869e073e2ac28ef6b6515a19b8ef46a028a127e2ad4",
                "c68d2d021f797695f5222869e073e2ac28ef6b6515a19b8ef46a028a127e2ad4");
        assertKeys("sha256_cbor:0", TOKENS, 4,
                "ca90027d467f8ae0c02e71aa4eff29f116d1b74ca16446a60ab640f53e976f43",
                "a00e16765098cf2d30bf90a61b546e19e72b1ad35d37a6a03d5c490dfe6ca1a2");
        assertKeys("sha256_cbor:" + seed, many, 24,
                "b78bd320c2a1d8bfb548a676a069720ed393f315611138bc218b24ddb7fe2d02",
                "4a918780859e287872cf4a18fd4d0a5bda7727a2e20a41f8d3fc7c482148d65a");
        assertKeys("sha256_cbor:0", TOKENS, 1,
                "089cbc4133d486069e9c2a18d642db7e46dd33742ba375954e5abb8bf05c6e79",
                "85c70082636847759efee178fe696135ba63007062565f24c45de10e0f9a1ee9");
        assertKeys("sha256_cbor:0", TOKENS, 3,
                "459ea7d673af43d366c2a0611cb77b6956b07bfca04c38dd8377c26ef58a240c",
                "547712967e2474ab6c106c1f8d62ecd69779fe4c0b21b08e268630c459c33993");
        assertKeys("sha256_cbor:0", wide, 4,
                "f4ef333d1a45d3f15cde130983c2fdae4091087892eb995777746085da2fb6fb",
                "f4ef333d1a45d3f15cde130983c2fdae4091087892eb995777746085da2fb6fb");
        assertKeys("sha256_cbor:0", whole, 4_096,
                "df3a0b9c5f451cfe60d13575a05f31fdb5724cce66632602041692fa4488fdad",
                "df3a0b9c5f451cfe60d13575a05f31fdb5724cce66632602041692fa4488fdad");
        assertKeys("xxhash:0", TOKENS, 4,
                "67c3a88dbd0512170d00efde2ce64f6a",
                "582927ace1b93f024572b5dbdd74a1be");
        assertKeys("xxhash:" + seed, many, 24,
                "fa8155e50ef6ee12bded1b659c881ae0",
                "a9401c79ec64129bbe78dbf62e4681b3");
        assertKeys("xxhash:0", TOKENS, 1,
                "362dbd30f1df8ea222027e68bb458f34",
                "40e0d637a1412bc0dc9b78a901405906");
        assertKeys("xxhash:0", TOKENS, 3,
                "2606eef142cadaef038833debacc2b5f",
                "4fb789a0b38be0068cb09ffdffa60f7d");
        assertKeys("xxhash:0", wide, 4,
                "3f689cfb6637fbe47786ad572ab8cb32",
                "3f689cfb6637fbe47786ad572ab8cb32");
        assertKeys("xxhash:0", whole, 4_096,
                "5f31d383e041d0ee41e14d58a6e9a81b",
                "5f31d383e041d0ee41e14d58a6e9a81b");
        assertKeys("xxhash_cbor:0", TOKENS, 4,
                "cd09d8ae700da635d72fa41ccddba746",
                "5165ef09116cabec82bea34a5f2e584d");
        assertKeys("xxhash_cbor:" + seed, many, 24,
                "8e716182da2701aad54a25d0dcabcba3",
                "4e0337bd89035b7c7a71024c9844f1cc");
        assertKeys("xxhash_cbor:0", TOKENS, 1,
                "606a5b0fa80400fd2dc5805b83a0bee3",
                "f5455000888f26daebdd6f185d879157");
        assertKeys("xxhash_cbor:0", TOKENS, 3,
                "2d70caaac9a1bb624bed151a216ef773",
                "1a1061e988c9bc6209f89e7cf927522b");
        assertKeys("xxhash_cbor:0", wide, 4,
                "5f465a6bb57159e20b8963b0ce166a6b",
                "5f465a6bb57159e20b8963b0ce166a6b");
        assertKeys("xxhash_cbor:0", whole, 4_096,
                "75f41410d582079c8fd06a7a9a8cba9e",
                "75f41410d582079c8fd06a7a9a8cba9e");
    }

    @Test
    void numbersAreTheEndOfTheDigestsAndThoseWereChainedWhole() {
        assertEquals(List.of(FIRST.substring(48), SECOND.substring(48)), hex(VllmKeys.parse("sha256_cbor_64bit:0").keys(TOKENS, 4)));
    }

    @Test
    void aPromptShorterThanABlockHasNoKeys() {
        assertEquals(0, VllmKeys.parse("sha256_cbor:0").keys(new long[] {1, 2, 3}, 4).count());
    }

    @Test
    void otherFunctionsAreRefused() {
        for (String text : List.of("sha512:0", "sha256_cbor", "sha256_cbor:", "xxhash_64:0", "")) {
            assertThrows(IllegalArgumentException.class, () -> VllmKeys.parse(text), text);
        }
    }
}
