/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.table;

import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.Tier;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;

/** Reads what {@link KeyWriter} wrote. Confined to one thread. */
public final class KeyReader {
    /** Tiers by their numbers in keys. */
    private static final List<Tier> TIERS = List.of(Tier.UNKNOWN, Tier.DEVICE, Tier.HOST, Tier.DISK, Tier.STORE);

    private final byte[] key;
    private int at;

    KeyReader(byte[] key) {
        this.key = key;
    }

    String text() {
        int end = at;
        boolean escaped = false;
        while (key[end] != 0) {
            escaped |= key[end] == 1;
            end += key[end] == 1 ? 2 : 1;
        }
        String text = escaped ? unescaped(end) : new String(key, at, end - at, StandardCharsets.UTF_8);
        at = end + 1;
        return text;
    }

    private String unescaped(int end) {
        byte[] utf8 = new byte[end - at];
        int size = 0;
        for (int i = at; i < end; i++) {
            utf8[size++] = key[i] == 1 ? (byte) (key[++i] - 1) : key[i];
        }
        return new String(utf8, 0, size, StandardCharsets.UTF_8);
    }

    int int8() {
        return key[at++];
    }

    Tier tier() {
        return tier(int8());
    }

    /** The tier with that number in keys. */
    static Tier tier(int code) {
        return TIERS.get(code);
    }

    int int32() {
        int value = 0;
        for (int i = 0; i < Integer.BYTES; i++) {
            value = (value << 8) | (key[at++] & 0xFF);
        }
        return value ^ Integer.MIN_VALUE;
    }

    long int64() {
        long value = 0;
        for (int i = 0; i < Long.BYTES; i++) {
            value = (value << 8) | (key[at++] & 0xFF);
        }
        return value ^ Long.MIN_VALUE;
    }

    Bytes bytes(int length) {
        Bytes bytes = Bytes.wrapUnshared(Arrays.copyOfRange(key, at, at + length));
        at += length;
        return bytes;
    }

    Bytes rest() {
        return bytes(key.length - at);
    }
}
