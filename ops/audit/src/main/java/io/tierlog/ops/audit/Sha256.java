/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.audit;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/** The checksum that snapshots use. Static and without state. */
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

    /** What a digest has taken in, in hexadecimal digits; it is empty then. */
    public static String hex(MessageDigest digest) {
        return HexFormat.of().formatHex(digest.digest());
    }

    /** Checksum of a text, in hexadecimal digits. */
    public static String of(String text) {
        MessageDigest digest = digest();
        digest.update(text.getBytes(StandardCharsets.UTF_8));
        return hex(digest);
    }
}
