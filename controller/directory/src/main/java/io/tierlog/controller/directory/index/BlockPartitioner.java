/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.directory.index;

import io.tierlog.schemas.Bytes;

/**
 * Which partition a block's placements are in: murmur2 of digest and key, as Kafka's own partitioner has it, without putting the two together for
 * every key. The digest's part depends on the length of the key only, and is done once for a batch. Immutable.
 */
public final class BlockPartitioner {
    private static final int MULTIPLIER = 0x5bd1e995;
    private static final int SHIFT = 24;
    private static final int SEED = 0x9747b28c;

    private final int begun;
    private final int width;
    private final int partitions;

    /**
     * For keys of one width in one namespace.
     *
     * @param namespace its digest, a multiple of four bytes long
     * @param width bytes of each key
     * @param partitions of the topic
     */
    public BlockPartitioner(Bytes namespace, int width, int partitions) {
        int state = SEED ^ (namespace.size() + width);
        byte[] digest = namespace.unshared();
        for (int at = 0; at < digest.length; at += Integer.BYTES) {
            state = step(state, word(digest, at));
        }
        begun = state;
        this.width = width;
        this.partitions = partitions;
    }

    /** The partition of the key that begins at {@code from}, 0 to partitions - 1. */
    public int of(byte[] keys, int from) {
        int state = begun;
        int at = 0;
        for (; at + Integer.BYTES <= width; at += Integer.BYTES) {
            state = step(state, word(keys, from + at));
        }
        if (at < width) {
            int rest = 0;
            for (int i = width - 1; i >= at; i--) {
                rest = (rest << Byte.SIZE) | (keys[from + i] & 0xFF);
            }
            state = (state ^ rest) * MULTIPLIER;
        }
        state = (state ^ (state >>> 13)) * MULTIPLIER;
        state ^= state >>> 15;
        return (state & Integer.MAX_VALUE) % partitions;
    }

    private static int step(int state, int word) {
        int mixed = word * MULTIPLIER;
        mixed = (mixed ^ (mixed >>> SHIFT)) * MULTIPLIER;
        return (state * MULTIPLIER) ^ mixed;
    }

    private static int word(byte[] bytes, int at) {
        return (bytes[at] & 0xFF) | ((bytes[at + 1] & 0xFF) << 8) | ((bytes[at + 2] & 0xFF) << 16) | ((bytes[at + 3] & 0xFF) << 24);
    }
}
