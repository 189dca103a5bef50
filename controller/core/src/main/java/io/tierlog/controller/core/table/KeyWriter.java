/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.table;

import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.Tier;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Writes keys so that their bytes, unsigned, have the order of the keys.
 *
 * <p>A text is its UTF-8, in which 0 becomes 1,1 and 1 becomes 1,2, closed by 0. A number is big-endian with the sign turned. Bytes are
 * written as they are: of a fixed length, or last. Confined to one thread.
 */
public final class KeyWriter {
    private byte[] buffer = new byte[256];
    private int size;

    public KeyWriter() {}

    /** Starts a new key. */
    KeyWriter reset() {
        size = 0;
        return this;
    }

    /** The key written so far. */
    byte[] toBytes() {
        return Arrays.copyOf(buffer, size);
    }

    void text(String text) {
        int length = text.length();
        ensure(length * 3 + 1);
        for (int i = 0; i < length; i++) {
            char c = text.charAt(i);
            if (c >= 0x80) {
                slowText(text, i);
                return;
            }
            if (c <= 1) {
                ensure((length - i) * 3 + 3);
                buffer[size++] = 1;
                buffer[size++] = (byte) (c + 1);
            } else {
                buffer[size++] = (byte) c;
            }
        }
        buffer[size++] = 0;
    }

    private void slowText(String text, int from) {
        byte[] utf8 = text.substring(from).getBytes(StandardCharsets.UTF_8);
        ensure(utf8.length * 2 + 1);
        for (byte b : utf8) {
            if (b == 0 || b == 1) {
                buffer[size++] = 1;
                buffer[size++] = (byte) (b + 1);
            } else {
                buffer[size++] = b;
            }
        }
        buffer[size++] = 0;
    }

    void int8(int value) {
        ensure(1);
        buffer[size++] = (byte) value;
    }

    void tier(Tier tier) {
        int8(code(tier));
    }

    /** Number of a tier in keys; never changes. */
    static int code(Tier tier) {
        return switch (tier) {
            case UNKNOWN -> 0;
            case DEVICE -> 1;
            case HOST -> 2;
            case DISK -> 3;
            case STORE -> 4;
        };
    }

    void int32(int value) {
        ensure(Integer.BYTES);
        int turned = value ^ Integer.MIN_VALUE;
        for (int shift = 24; shift >= 0; shift -= 8) {
            buffer[size++] = (byte) (turned >>> shift);
        }
    }

    void int64(long value) {
        ensure(Long.BYTES);
        long turned = value ^ Long.MIN_VALUE;
        for (int shift = 56; shift >= 0; shift -= 8) {
            buffer[size++] = (byte) (turned >>> shift);
        }
    }

    void bytes(Bytes value) {
        byte[] array = value.unshared();
        ensure(array.length);
        System.arraycopy(array, 0, buffer, size, array.length);
        size += array.length;
    }

    private void ensure(int more) {
        if (size + more > buffer.length) {
            buffer = Arrays.copyOf(buffer, Math.max(buffer.length * 2, size + more));
        }
    }

    /** Compares texts as their UTF-8 bytes would compare: by code point, which is not quite what {@link String#compareTo} does. */
    static int compareTexts(String a, String b) {
        if (a.equals(b)) {
            return 0; // as aggregates mostly are, and found much faster than character by character
        }
        int end = Math.min(a.length(), b.length());
        for (int i = 0; i < end; i++) {
            char x = a.charAt(i);
            char y = b.charAt(i);
            if (x != y) {
                boolean xPair = Character.isSurrogate(x);
                boolean yPair = Character.isSurrogate(y);
                return xPair == yPair ? x - y : xPair ? 1 : -1;
            }
        }
        return a.length() - b.length();
    }
}
