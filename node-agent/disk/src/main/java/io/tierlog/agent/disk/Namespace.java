/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.disk;

import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.Sha256;
import java.nio.charset.StandardCharsets;

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
        return Bytes.wrapUnshared(Sha256.digest().digest(utf8));
    }
}
