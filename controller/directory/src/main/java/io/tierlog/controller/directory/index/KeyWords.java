/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.directory.index;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/**
 * A key as words of eight bytes, the last one filled up with zeros: together with the length that is the key, whole. One thread; used again and
 * again.
 */
public final class KeyWords {
    /** Shortest key, in bytes. */
    public static final int LEAST = 8;
    /** Longest key, in bytes. */
    public static final int MOST = 32;

    private static final VarHandle LONG = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

    private int length;
    private long word0;
    private long word1;
    private long word2;
    private long word3;

    /** Whether a key may be that long. */
    public static boolean isLegal(int length) {
        return length >= LEAST && length <= MOST;
    }

    /**
     * Takes a key out of an array.
     *
     * @throws IllegalArgumentException when it is too short or too long to be one
     */
    public KeyWords set(byte[] bytes, int from, int size) {
        if (!isLegal(size)) {
            throw new IllegalArgumentException("a key has " + LEAST + " to " + MOST + " bytes, not " + size);
        }
        length = size;
        word0 = (long) LONG.get(bytes, from);
        word1 = word(bytes, from, size, 1);
        word2 = size > 2 * Long.BYTES ? word(bytes, from, size, 2) : 0;
        word3 = size > 3 * Long.BYTES ? word(bytes, from, size, 3) : 0;
        return this;
    }

    private static long word(byte[] bytes, int from, int size, int number) {
        int begin = number * Long.BYTES;
        if (size >= begin + Long.BYTES) {
            return (long) LONG.get(bytes, from + begin);
        }
        long word = 0;
        for (int i = size - 1; i >= begin; i--) {
            word = (word << Byte.SIZE) | (bytes[from + i] & 0xFF);
        }
        return word;
    }

    /** Its length in bytes. */
    public int length() {
        return length;
    }

    /** A word of it, 0 to 3; zero beyond its end. */
    public long word(int number) {
        return switch (number) {
            case 0 -> word0;
            case 1 -> word1;
            case 2 -> word2;
            case 3 -> word3;
            default -> throw new IllegalArgumentException("a key has four words, not a word " + number);
        };
    }
}
