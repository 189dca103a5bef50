/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.simulation.engine;

import io.tierlog.schemas.Bytes;
import java.nio.charset.StandardCharsets;

/**
 * What every block must contain, as a function of its namespace and key alone, and how keys follow from tokens. Immutable.
 *
 * <p>A block is made of parts of {@value #PART_BYTES} bytes, rank after rank, layer after layer: the smallest thing that a device copies.
 */
public final class Oracle {
    /** Size of one layer of one rank of a block, in bytes. */
    public static final int PART_BYTES = 16;

    /** Layers of the model. */
    public static final int LAYERS = 4;

    private static final int KEY_BYTES = 16;
    private static final long STEP = 0x9E37_79B9_7F4A_7C15L;

    private final long salt;
    private final int ranks;

    /** An oracle for blocks of {@code ranks} shards, 1 or more; another {@code seed} is another content of all blocks. */
    public Oracle(long seed, int ranks) {
        this.salt = mix(seed);
        this.ranks = ranks;
    }

    /** Shards of a block. */
    public int ranks() {
        return ranks;
    }

    /** Parts of a block. */
    public int parts() {
        return ranks * LAYERS;
    }

    /** Size of a block in bytes. */
    public int blockBytes() {
        return parts() * PART_BYTES;
    }

    /** Writes the content of the block into {@code page}. */
    public void fill(String namespace, Bytes key, byte[] page) {
        long state = seed(namespace, key);
        for (int i = 0; i < page.length; i += Long.BYTES) {
            state += STEP;
            put(page, i, mix(state));
        }
    }

    /** True when {@code page} holds the content of the block, byte for byte. */
    public boolean isRight(String namespace, Bytes key, byte[] page) {
        long state = seed(namespace, key);
        for (int i = 0; i < page.length; i += Long.BYTES) {
            state += STEP;
            if (get(page, i) != mix(state)) {
                return false;
            }
        }
        return page.length == blockBytes();
    }

    private long seed(String namespace, Bytes key) {
        byte[] bytes = key.unshared();
        return mix(namespace.hashCode() * STEP ^ salt ^ get(bytes, 0)) ^ mix(get(bytes, Long.BYTES));
    }

    /** The key of a block: it depends on the key before it, or on {@link Bytes#EMPTY} at the beginning, and on the tokens of the block. */
    public static Bytes key(Bytes before, int[] tokens, int from, int to) {
        long one = before.isEmpty() ? 1 : get(before.unshared(), 0);
        long two = before.isEmpty() ? 2 : get(before.unshared(), Long.BYTES);
        for (int i = from; i < to; i++) {
            one = mix(one + STEP + tokens[i]);
            two = mix(two ^ one);
        }
        return bytes(one, two);
    }

    /** The key of a root block that is known by a name. */
    public static Bytes key(String name) {
        long one = 3;
        for (byte b : name.getBytes(StandardCharsets.UTF_8)) {
            one = mix(one + STEP + b);
        }
        return bytes(one, mix(one));
    }

    private static Bytes bytes(long one, long two) {
        byte[] key = new byte[KEY_BYTES];
        put(key, 0, one);
        put(key, Long.BYTES, two);
        return Bytes.wrapUnshared(key);
    }

    private static long mix(long value) {
        long z = (value ^ (value >>> 30)) * 0xBF58_476D_1CE4_E5B9L;
        z = (z ^ (z >>> 27)) * 0x94D0_49BB_1331_11EBL;
        return z ^ (z >>> 31);
    }

    private static long get(byte[] from, int at) {
        long value = 0;
        for (int i = 0; i < Long.BYTES; i++) {
            value |= (from[at + i] & 0xFFL) << (Byte.SIZE * i);
        }
        return value;
    }

    private static void put(byte[] to, int at, long value) {
        for (int i = 0; i < Long.BYTES; i++) {
            to[at + i] = (byte) (value >>> (Byte.SIZE * i));
        }
    }
}
