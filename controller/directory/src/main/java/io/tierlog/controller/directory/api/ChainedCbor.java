/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.directory.api;

import io.tierlog.controller.http.PackedKeys;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Keys as vLLM makes them with {@code --prefix-caching-hash-algo sha256_cbor}: SHA-256 of canonical CBOR (RFC 8949, 4.2) of [parent, [tokens], null].
 * The parent of the first block is the SHA-256 of the seed as CBOR text, the seed being what PYTHONHASHSEED was for the engine. Plain text prompts
 * alone: with an adapter, a salt or pictures the third element is something else. Immutable.
 *
 * <p>Trade-off: the function is the engine's. When the engine changes it, no block matches, and no wrong block matches.
 */
public final class ChainedCbor implements TokenHasher {
    /** Length of the whole digest in bytes. */
    public static final int WHOLE = 32;
    /** Length of the part that is left where an engine numbers its blocks with 64 bits, in bytes: its end. */
    public static final int NUMBERS = 8;

    private static final Pattern TEXT = Pattern.compile("sha256_cbor(_64bit)?:(.{1,256})");
    private static final int BYTES_HEAD = 0x40;
    private static final int TEXT_HEAD = 0x60;
    private static final int ARRAY_HEAD = 0x80;
    private static final int NULL = 0xf6;
    /** Numbers up to here stand in the head itself. */
    private static final int IN_HEAD = 23;

    private final byte[] root;
    private final int width;

    /**
     * A function.
     *
     * @param seed of the first parent
     * @param width {@link #WHOLE} or {@link #NUMBERS}
     */
    public ChainedCbor(String seed, int width) {
        if (width != WHOLE && width != NUMBERS) {
            throw new IllegalArgumentException("a key has " + WHOLE + " or " + NUMBERS + " bytes, not " + width);
        }
        byte[] text = seed.getBytes(StandardCharsets.UTF_8);
        ByteArrayOutputStream cbor = new ByteArrayOutputStream();
        head(cbor, TEXT_HEAD, text.length);
        cbor.writeBytes(text);
        root = sha256().digest(cbor.toByteArray());
        this.width = width;
    }

    /**
     * Reads {@code sha256_cbor:SEED}, or {@code sha256_cbor_64bit:SEED} for keys of 8 bytes.
     *
     * @throws IllegalArgumentException when it is neither
     */
    public static ChainedCbor parse(String text) {
        Matcher matcher = TEXT.matcher(text);
        if (!matcher.matches()) {
            throw new IllegalArgumentException("'" + text + "' is not a hash: give sha256_cbor:SEED, sha256_cbor_64bit:SEED or sglang");
        }
        return new ChainedCbor(matcher.group(2), matcher.group(1) == null ? WHOLE : NUMBERS);
    }

    @Override
    public PackedKeys keys(long[] tokens, int blockTokens) {
        MessageDigest digest = sha256();
        ByteArrayOutputStream keys = new ByteArrayOutputStream();
        byte[] parent = root;
        for (int from = 0; from + blockTokens <= tokens.length; from += blockTokens) {
            ByteArrayOutputStream cbor = new ByteArrayOutputStream(WHOLE + 16 + blockTokens * 5);
            head(cbor, ARRAY_HEAD, 3);
            head(cbor, BYTES_HEAD, parent.length);
            cbor.writeBytes(parent);
            head(cbor, ARRAY_HEAD, blockTokens);
            for (int i = from; i < from + blockTokens; i++) {
                head(cbor, 0, tokens[i]);
            }
            cbor.write(NULL);
            parent = digest.digest(cbor.toByteArray());
            keys.writeBytes(width == WHOLE ? parent : Arrays.copyOfRange(parent, WHOLE - width, WHOLE));
        }
        return new PackedKeys(keys.toByteArray(), width);
    }

    /** A head of CBOR with a number of 0 or more, as short as it can be. */
    private static void head(ByteArrayOutputStream cbor, int kind, long number) {
        if (number <= IN_HEAD) {
            cbor.write(kind | (int) number);
            return;
        }
        int bytes = number < 1 << 8 ? 1 : number < 1 << 16 ? 2 : number < 1L << 32 ? 4 : 8;
        // 24 to 27 stand for a number of 1, 2, 4 or 8 bytes.
        cbor.write(kind | (24 + Integer.numberOfTrailingZeros(bytes)));
        for (int shift = (bytes - 1) * 8; shift >= 0; shift -= 8) {
            cbor.write((int) (number >>> shift));
        }
    }

    static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("This Java has no SHA-256, which every Java must have", e);
        }
    }
}
