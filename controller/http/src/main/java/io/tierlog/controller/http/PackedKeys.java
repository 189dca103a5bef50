/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.http;

import java.io.ByteArrayOutputStream;
import java.util.HexFormat;
import java.util.Optional;

/**
 * Keys of one length, one behind the other. The array is not to be written to.
 *
 * @param bytes the keys
 * @param width bytes of each
 */
@SuppressWarnings("ArrayRecordComponent") // Lives for one request, is never compared.
public record PackedKeys(byte[] bytes, int width) {
    /** Number of keys. */
    public int count() {
        return bytes.length / width;
    }

    /** Puts keys together. One thread. */
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

        /** Adds a key; answers with what it must be, when it is not, and with no text otherwise. */
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

        /** All keys; empty when there is none, or one was not right. */
        Optional<PackedKeys> build() {
            return whole && width > 0 ? Optional.of(new PackedKeys(bytes.toByteArray(), width)) : Optional.empty();
        }
    }
}
