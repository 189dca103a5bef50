/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.schemas;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.StandardCharsets;
import org.apache.avro.io.Decoder;
import org.apache.avro.util.Utf8;

/**
 * Reads Avro's binary encoding from a slice of an array.
 *
 * <p>Unlike Avro's own decoder it trusts no length: text, bytes and the number of elements are held against the bytes that are left
 * before anything is allocated, and what has two encodings is read in its one proper form only (booleans, widths of numbers, UTF-8).
 * Every element of an array must take at least one byte, which the generator sees to. Confined to one thread.
 */
final class SliceDecoder extends Decoder {
    private static final byte[] NOTHING = new byte[0];

    private byte[] data = NOTHING;
    private int at;
    private int end;

    /** Starts over on {@code length} bytes of {@code source} from {@code offset}. */
    void reset(byte[] source, int offset, int length) {
        data = source;
        at = offset;
        end = offset + length;
    }

    /** Lets go of the array. */
    void clear() {
        reset(NOTHING, 0, 0);
    }

    /** Bytes not read yet. */
    int remaining() {
        return end - at;
    }

    @Override
    public void readNull() {}

    @Override
    public boolean readBoolean() throws IOException {
        byte value = next();
        if (value != 0 && value != 1) {
            throw malformed("a boolean of " + value);
        }
        return value == 1;
    }

    @Override
    public int readInt() throws IOException {
        long value = readLong();
        if (value != (int) value) {
            throw malformed("an int of " + value);
        }
        return (int) value;
    }

    @Override
    public long readLong() throws IOException {
        long raw = 0;
        for (int shift = 0; shift < Long.SIZE; shift += 7) {
            byte b = next();
            raw |= (b & 0x7FL) << shift;
            if (b >= 0) {
                if (shift == 63 && b > 1) {
                    throw malformed("a number of more than 64 bits");
                }
                return (raw >>> 1) ^ -(raw & 1);
            }
        }
        throw malformed("a number of more than 10 bytes");
    }

    @Override
    public float readFloat() throws IOException {
        return Float.intBitsToFloat((int) littleEndian(Float.BYTES));
    }

    @Override
    public double readDouble() throws IOException {
        return Double.longBitsToDouble(littleEndian(Double.BYTES));
    }

    @Override
    public Utf8 readString(Utf8 old) throws IOException {
        return new Utf8(readString());
    }

    @Override
    public String readString() throws IOException {
        int length = length();
        String text = new String(data, at, length, StandardCharsets.UTF_8);
        if (text.indexOf('\uFFFD') >= 0) {
            // Either the text has this character, or the bytes are no UTF-8 and it stands for them.
            CharBuffer strict = StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(data, at, length));
            text = strict.toString();
        }
        at += length;
        return text;
    }

    @Override
    public void skipString() throws IOException {
        skipFixed(length());
    }

    @Override
    public ByteBuffer readBytes(ByteBuffer old) throws IOException {
        byte[] value = new byte[length()];
        System.arraycopy(data, at, value, 0, value.length);
        at += value.length;
        return ByteBuffer.wrap(value);
    }

    @Override
    public void skipBytes() throws IOException {
        skipFixed(length());
    }

    @Override
    public void readFixed(byte[] bytes, int start, int length) throws IOException {
        int from = at;
        skipFixed(length);
        System.arraycopy(data, from, bytes, start, length);
    }

    @Override
    public void skipFixed(int length) throws IOException {
        if (length > remaining()) {
            throw ended();
        }
        at += length;
    }

    @Override
    public int readEnum() throws IOException {
        return readInt();
    }

    @Override
    public long readArrayStart() throws IOException {
        return items();
    }

    @Override
    public long arrayNext() throws IOException {
        return items();
    }

    @Override
    public long skipArray() throws IOException {
        return skipBlocks();
    }

    @Override
    public long readMapStart() throws IOException {
        return items();
    }

    @Override
    public long mapNext() throws IOException {
        return items();
    }

    @Override
    public long skipMap() throws IOException {
        return skipBlocks();
    }

    @Override
    public int readIndex() throws IOException {
        return readInt();
    }

    /** Items of the next part of an array or map; a negative number is followed by its size in bytes, which reading does not need. */
    private long items() throws IOException {
        long count = readLong();
        if (count < 0) {
            if (count == Long.MIN_VALUE) {
                throw malformed("a part of " + count + " items");
            }
            count = -count;
            length();
        }
        if (count > remaining()) {
            throw malformed(count + " items where " + remaining() + " bytes are left");
        }
        return count;
    }

    /** Skips the parts that tell their size; answers the number of items of one that does not, 0 at the end. */
    private long skipBlocks() throws IOException {
        long count = readLong();
        while (count < 0) {
            skipFixed(length());
            count = readLong();
        }
        if (count > remaining()) {
            throw malformed(count + " items where " + remaining() + " bytes are left");
        }
        return count;
    }

    private int length() throws IOException {
        long length = readLong();
        if (length < 0 || length > remaining()) {
            throw malformed("a length of " + length + " where " + remaining() + " bytes are left");
        }
        return (int) length;
    }

    private long littleEndian(int bytes) throws IOException {
        if (bytes > remaining()) {
            throw ended();
        }
        long value = 0;
        for (int i = 0; i < bytes; i++) {
            value |= (data[at++] & 0xFFL) << (i * Byte.SIZE);
        }
        return value;
    }

    private byte next() throws IOException {
        if (at >= end) {
            throw ended();
        }
        return data[at++];
    }

    private static EOFException ended() {
        return new EOFException("ends in the middle of a value");
    }

    private IOException malformed(String what) {
        return new IOException("holds " + what + ", " + remaining() + " bytes before the end");
    }
}
