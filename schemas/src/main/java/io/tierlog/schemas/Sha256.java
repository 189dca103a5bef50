/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.schemas;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/** SHA-256. Static and without state. */
public final class Sha256 {
    private Sha256() {}

    /** A digest without content. */
    public static MessageDigest digest() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java has SHA-256", e);
        }
    }

    /** That of a text in UTF-8: 32 bytes. */
    public static byte[] of(String text) {
        return digest().digest(text.getBytes(StandardCharsets.UTF_8));
    }

    /** That of a text in UTF-8, in hexadecimal digits. */
    public static String hex(String text) {
        return HexFormat.of().formatHex(of(text));
    }

    /** What a digest has taken in, in hexadecimal digits; it is empty then. */
    public static String hex(MessageDigest digest) {
        return HexFormat.of().formatHex(digest.digest());
    }
}
