/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core.operation;

import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.Sha256;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;

/** Which aggregate of the store a prefix belongs to: all blocks of one root are in one shard. */
public final class StoreShard {
    private StoreShard() {}

    /** The first four bytes of SHA-256 over namespace text and root key, unsigned, modulo {@code shards}. */
    public static int of(String namespace, Bytes root, int shards) {
        MessageDigest sha = Sha256.digest();
        sha.update(namespace.getBytes(StandardCharsets.UTF_8));
        sha.update(root.unshared());
        return Integer.remainderUnsigned(ByteBuffer.wrap(sha.digest()).getInt(), shards);
    }
}
