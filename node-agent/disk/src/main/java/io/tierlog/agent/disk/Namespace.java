/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.disk;

import io.tierlog.schemas.Bytes;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/**
 * A namespace and the SHA-256 of its text, under which it stands in names. Immutable.
 *
 * @param text what must match for KV to be reusable
 * @param digest 32 bytes
 */
public record Namespace(String text, Bytes digest) {
    static final int DIGEST_BYTES = 32;

    /** The namespace of that text. */
    public static Namespace of(String text) {
        return new Namespace(text, digest(text.getBytes(StandardCharsets.UTF_8)));
    }

    static Bytes digest(byte[] utf8) {
        try {
            return Bytes.wrapUnshared(MessageDigest.getInstance("SHA-256").digest(utf8));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java platform has SHA-256", e);
        }
    }
}
