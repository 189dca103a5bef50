/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.schemas;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.HexFormat;

/**
 * An immutable string of bytes: every Avro {@code bytes} value of the log, block keys first of all.
 *
 * <p>Equality is by content and the order is unsigned and lexicographic, the order of RocksDB. The hash is computed once. Safe for use by
 * several threads. Trade-off: one copy on the way in and one on the way out, except through {@link #wrapUnshared} and {@link #unshared}.
 */
public final class Bytes implements Comparable<Bytes> {
    /** No bytes at all, for example the parent of the first block of a prompt. */
    public static final Bytes EMPTY = new Bytes(new byte[0]);

    private final byte[] value;
    private int hash;

    private Bytes(byte[] value) {
        this.value = value;
    }

    /** A copy of {@code value}. */
    public static Bytes copyOf(byte[] value) {
        return value.length == 0 ? EMPTY : new Bytes(value.clone());
    }

    /** {@code value} itself; the caller promises never to write to it again. */
    public static Bytes wrapUnshared(byte[] value) {
        return value.length == 0 ? EMPTY : new Bytes(value);
    }

    /**
     * Parses lower- or upper-case hexadecimal digits.
     *
     * @throws IllegalArgumentException when {@code hex} is not an even number of hexadecimal digits
     */
    public static Bytes ofHex(String hex) {
        return wrapUnshared(HexFormat.of().parseHex(hex));
    }

    /** Number of bytes. */
    public int size() {
        return value.length;
    }

    /** True when there are no bytes. */
    public boolean isEmpty() {
        return value.length == 0;
    }

    /** The byte at {@code index}, 0 to size() - 1. */
    public byte at(int index) {
        return value[index];
    }

    /** A copy of the bytes. */
    public byte[] toArray() {
        return value.clone();
    }

    /** The bytes themselves, for readers that promise not to write to them. */
    public byte[] unshared() {
        return value;
    }

    /** A read-only view of the bytes. */
    public ByteBuffer asByteBuffer() {
        return ByteBuffer.wrap(value).asReadOnlyBuffer();
    }

    /** Lower-case hexadecimal digits. */
    public String hex() {
        return HexFormat.of().formatHex(value);
    }

    @Override
    public int compareTo(Bytes other) {
        return Arrays.compareUnsigned(value, other.value);
    }

    @Override
    public boolean equals(Object other) {
        return this == other || (other instanceof Bytes that && Arrays.equals(value, that.value));
    }

    @Override
    public int hashCode() {
        int h = hash;
        if (h == 0) {
            h = Arrays.hashCode(value);
            hash = h;
        }
        return h;
    }

    @Override
    public String toString() {
        return hex();
    }
}
