/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.store;

import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.Sha256;

/**
 * Names an object of the store.
 *
 * @param namespace SHA-256 of the namespace's text
 * @param key of the block, 8 to 32 bytes
 */
public record ObjectName(Bytes namespace, Bytes key) {
    static final int DIGEST_BYTES = 32;
    static final int LEAST_KEY_BYTES = 8;
    static final int MOST_KEY_BYTES = 32;

    public ObjectName {
        if (namespace.size() != DIGEST_BYTES || key.size() < LEAST_KEY_BYTES || key.size() > MOST_KEY_BYTES) {
            throw new IllegalArgumentException("an object name of " + namespace.size() + " and " + key.size() + " bytes");
        }
    }

    /** The digest under which a namespace stands in names. */
    public static Bytes digest(String namespace) {
        return Bytes.wrapUnshared(Sha256.of(namespace));
    }
}
