/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench.directory;

import java.nio.ByteBuffer;
import java.util.SplittableRandom;

/**
 * The keys of the benchmark: block n is block n mod 1,024 of prompt n / 1,024. The directory holds none from {@code blocks} on. Static
 * and without state.
 */
final class Keys {
    /** Blocks of a prompt. */
    static final int CHAIN = 1_024;
    static final int BYTES = 16;
    static final String NAMESPACE = "bench/model rev/1";

    private Keys() {}

    /**
     * Keys of one call.
     *
     * @param packed one after the other
     * @param expected how many are held; of a lookup, the length of the prefix
     */
    @SuppressWarnings("ArrayRecordComponent") // Made once, never compared.
    record Batch(byte[] packed, int expected) {
        int count() {
            return packed.length / BYTES;
        }
    }

    static void put(ByteBuffer into, long block) {
        into.putLong(mix(block ^ 0x5D1F_77C3_0AB1_94E7L)).putLong(mix(block * 3 + 1));
    }

    private static long mix(long value) {
        long z = (value ^ (value >>> 33)) * 0xFF51_AFD7_ED55_8CCDL;
        z = (z ^ (z >>> 33)) * 0xC4CE_B9FE_1A85_EC53L;
        return z ^ (z >>> 33);
    }

    /** Any keys, of which {@code percent} are held. */
    static Batch any(SplittableRandom random, int blocks, int count, int percent) {
        ByteBuffer packed = ByteBuffer.allocate(count * BYTES);
        int expected = 0;
        for (int i = 0; i < count; i++) {
            boolean held = random.nextInt(100) < percent;
            put(packed, random.nextInt(blocks) + (held ? 0L : blocks));
            expected += held ? 1 : 0;
        }
        return new Batch(packed.array(), expected);
    }

    /** The beginning of a prompt, of which the first {@code percent} are held. */
    static Batch chain(SplittableRandom random, int blocks, int count, int percent) {
        ByteBuffer packed = ByteBuffer.allocate(count * BYTES);
        long first = (long) random.nextInt(blocks / CHAIN) * CHAIN;
        // One key alone is held as often as the share says.
        int expected = count == 1 ? (random.nextInt(100) < percent ? 1 : 0) : count * percent / 100;
        for (int i = 0; i < count; i++) {
            put(packed, first + i + (i < expected ? 0L : blocks));
        }
        return new Batch(packed.array(), expected);
    }
}
