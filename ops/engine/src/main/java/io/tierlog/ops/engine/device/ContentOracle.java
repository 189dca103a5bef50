/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.engine.device;

import io.tierlog.ops.engine.workload.BlockKey;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/**
 * Says what the bytes of a block must be: a function of namespace and key, so that the content of one block under the name of another shows at its
 * first bytes, and a page shifted within itself shows too.
 *
 * <p>SHA-256 of namespace and key gives two seeds; word {@code w} of the block is a mix of the first with the position, added to the second. Shares
 * no code with what it checks. Immutable; any thread may use it.
 */
public final class ContentOracle {
    /** What {@link #compare} answers when all bytes are right. */
    public static final long EQUAL = -1;

    private static final ValueLayout.OfLong WORD = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final long STEP = 0x9E37_79B9_7F4A_7C15L;

    private final byte[] namespace;

    /** An oracle for the blocks of {@code namespace}. */
    public ContentOracle(String namespace) {
        this.namespace = namespace.getBytes(StandardCharsets.UTF_8);
    }

    private record Seeds(long first, long second) {
        private long word(long position) {
            long z = first + position * STEP;
            z = (z ^ (z >>> 32)) * 0xD6E8_FEB8_6659_FD93L;
            z = (z ^ (z >>> 29)) * 0xBF58_476D_1CE4_E5B9L;
            return (z ^ (z >>> 32)) + second;
        }
    }

    private Seeds seeds(BlockKey key) {
        try {
            MessageDigest digest = MessageDigest.getInstance("SHA-256");
            digest.update(namespace);
            digest.update((byte) 0);
            MemorySegment hash = MemorySegment.ofArray(digest.digest(key.toBytes()));
            return new Seeds(hash.get(WORD, 0), hash.get(WORD, 8));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java platform has SHA-256", e);
        }
    }

    /** Fills {@code page} with the content of block {@code key}. */
    public void fill(BlockKey key, MemorySegment page) {
        Seeds seeds = seeds(key);
        long words = page.byteSize() / Long.BYTES;
        for (long w = 0; w < words; w++) {
            page.set(WORD, w * Long.BYTES, seeds.word(w));
        }
        long tail = seeds.word(words);
        for (long b = words * Long.BYTES; b < page.byteSize(); b++, tail >>>= Byte.SIZE) {
            page.set(ValueLayout.JAVA_BYTE, b, (byte) tail);
        }
    }

    /** Compares every byte of {@code page} with the content of block {@code key}: offset of the first wrong byte, or {@link #EQUAL}. */
    public long compare(BlockKey key, MemorySegment page) {
        Seeds seeds = seeds(key);
        long words = page.byteSize() / Long.BYTES;
        for (long w = 0; w < words; w++) {
            long difference = page.get(WORD, w * Long.BYTES) ^ seeds.word(w);
            if (difference != 0) {
                return w * Long.BYTES + Long.numberOfTrailingZeros(difference) / Byte.SIZE;
            }
        }
        long tail = seeds.word(words);
        for (long b = words * Long.BYTES; b < page.byteSize(); b++, tail >>>= Byte.SIZE) {
            if (page.get(ValueLayout.JAVA_BYTE, b) != (byte) tail) {
                return b;
            }
        }
        return EQUAL;
    }
}
