/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.http;

import java.io.ByteArrayOutputStream;
import java.util.HexFormat;
import java.util.Optional;

/**
 * Keys of one length, one behind the other. Do not write to the array.
 *
 * @param bytes the keys
 * @param width bytes of each
 */
@SuppressWarnings("ArrayRecordComponent") // For one request, never compared.
public record PackedKeys(byte[] bytes, int width) {
    /** Number of keys. */
    public int count() {
        return bytes.length / width;
    }

    /** Collects keys. One thread. */
    static final class Builder {
        private final int least;
        private final int longest;
        private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        private int width;
        private boolean whole = true;

        Builder(int least, int longest) {
            this.least = least;
            this.longest = longest;
        }

        /** Adds a key; returns the rule that the key breaks, or empty text. */
        String add(String hex) {
            String problem = problem(hex);
            if (problem.isEmpty()) {
                width = hex.length() / 2;
                bytes.writeBytes(HexFormat.of().parseHex(hex));
            } else {
                whole = false;
            }
            return problem;
        }

        private String problem(String hex) {
            int size = hex.length() / 2;
            boolean digits = hex.length() % 2 == 0 && hex.chars().allMatch(HexFormat::isHexDigit);
            if (!digits || size < least || size > longest) {
                return least + " to " + longest + " bytes in hexadecimal digits";
            }
            return width == 0 || width == size ? "" : "as long as the others of the list, which have " + width + " bytes";
        }

        /** All keys; empty without a key, or when one broke a rule. */
        Optional<PackedKeys> build() {
            return whole && width > 0 ? Optional.of(new PackedKeys(bytes.toByteArray(), width)) : Optional.empty();
        }
    }
}
