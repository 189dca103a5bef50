/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.directory.api;

import com.dynatrace.hash4j.hashing.HashValue128;
import com.dynatrace.hash4j.hashing.Hashing;
import io.tierlog.controller.http.PackedKeys;
import io.tierlog.schemas.Sha256;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Keys as vLLM makes them: the digest of (parent, tokens, None), written as canonical CBOR or as Python pickles it. The parent of the first block is
 * the digest of the seed as text, the seed being what PYTHONHASHSEED was for the engine. Plain text prompts alone: with an adapter, a salt or
 * pictures the third element is something else. Immutable.
 *
 * <p>Trade-off: the function is the engine's. When the engine changes it, no block matches, and no wrong block matches.
 */
public final class VllmKeys implements TokenHasher {
    /** Length of the part that is left where an engine numbers its blocks with 64 bits, in bytes: its end. */
    private static final int NUMBERS = 8;

    private static final Pattern TEXT = Pattern.compile("(sha256|xxhash)(_cbor)?(_64bit)?:(.{1,256})");

    private final Digest digest;
    private final TupleForm form;
    private final byte[] root;
    private final boolean numbers;

    /** A function of bytes. */
    private enum Digest {
        SHA256,
        /** XXH3 with 128 bits, most significant byte first. */
        XXH3;

        byte[] of(byte[] bytes) {
            if (this == SHA256) {
                return Sha256.digest().digest(bytes);
            }
            HashValue128 hash = Hashing.xxh3_128().hashBytesTo128Bits(bytes);
            return ByteBuffer.allocate(2 * Long.BYTES).putLong(hash.getMostSignificantBits()).putLong(hash.getLeastSignificantBits()).array();
        }
    }

    private VllmKeys(Digest digest, TupleForm form, String seed, boolean numbers) {
        this.digest = digest;
        this.form = form;
        this.numbers = numbers;
        root = digest.of(form.text(seed));
    }

    /**
     * Reads ALGORITHM:SEED, the algorithm being one of vLLM's {@code --prefix-caching-hash-algo}: sha256, sha256_cbor, xxhash, xxhash_cbor. Each with
     * {@code _64bit} for keys of 8 bytes, as vLLM's events name blocks by default.
     *
     * @throws IllegalArgumentException when it is none of them
     */
    public static VllmKeys parse(String text) {
        Matcher matcher = TEXT.matcher(text);
        if (!matcher.matches()) {
            throw new IllegalArgumentException("'" + text + "' is not a hash: give sha256:SEED, sha256_cbor:SEED, xxhash:SEED or xxhash_cbor:SEED,"
                    + " each with _64bit before the colon for keys of 64 bits, or sglang");
        }
        return new VllmKeys(matcher.group(1).equals("sha256") ? Digest.SHA256 : Digest.XXH3,
                matcher.group(2) == null ? TupleForm.PICKLE : TupleForm.CBOR, matcher.group(4), matcher.group(3) != null);
    }

    @Override
    public PackedKeys keys(long[] tokens, int blockTokens) {
        ByteArrayOutputStream keys = new ByteArrayOutputStream();
        byte[] parent = root;
        for (int from = 0; from + blockTokens <= tokens.length; from += blockTokens) {
            parent = digest.of(form.tuple(parent, tokens, from, from + blockTokens));
            keys.writeBytes(numbers ? Arrays.copyOfRange(parent, parent.length - NUMBERS, parent.length) : parent);
        }
        return new PackedKeys(keys.toByteArray(), numbers ? NUMBERS : root.length);
    }
}
