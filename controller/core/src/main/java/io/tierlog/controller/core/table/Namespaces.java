/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.table;

import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.Sha256;
import java.util.Arrays;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Short names of namespaces for keys: the first 16 bytes of the SHA-256 of the text.
 *
 * <p>Safe for use by several threads. The digests of the last {@value #KEPT} texts at most are remembered, which changes no answer.
 */
public final class Namespaces {
    /** Length of a digest. */
    public static final int DIGEST_BYTES = 16;

    /** The lowest digest there can be, for the bounds of ranges. */
    public static final Bytes NONE = Bytes.wrapUnshared(new byte[DIGEST_BYTES]);

    private static final int KEPT = 4_096;
    private static final ConcurrentHashMap<String, Bytes> DIGESTS = new ConcurrentHashMap<>();

    private Namespaces() {}

    /** The digest of {@code namespace}. */
    public static Bytes digest(String namespace) {
        Bytes known = DIGESTS.get(namespace);
        if (known != null) {
            return known;
        }
        Bytes digest = compute(namespace);
        if (DIGESTS.size() >= KEPT) {
            // More namespaces than a fleet has in use: forgetting them costs time only.
            DIGESTS.clear();
        }
        DIGESTS.put(namespace, digest);
        return digest;
    }

    private static Bytes compute(String namespace) {
        return Bytes.wrapUnshared(Arrays.copyOf(Sha256.of(namespace), DIGEST_BYTES));
    }
}
