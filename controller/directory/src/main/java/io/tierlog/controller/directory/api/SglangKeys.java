/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.directory.api;

import io.tierlog.controller.http.PackedKeys;
import io.tierlog.schemas.Sha256;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.security.MessageDigest;

/**
 * Keys as SGLang makes them: SHA-256 of the digest of the block before and of the tokens, each as 32 bits with the low byte first; its first 8 bytes.
 * The root has no digest before it. For prompts without adapter or salt, and not for EAGLE, which hashes pairs. Immutable.
 */
public final class SglangKeys implements TokenHasher {
    /** Name of the function, as an operator writes it. */
    static final String NAME = "sglang";

    @Override
    public PackedKeys keys(long[] tokens, int blockTokens) {
        MessageDigest digest = Sha256.digest();
        ByteBuffer keys = ByteBuffer.allocate(tokens.length / blockTokens * Long.BYTES);
        ByteBuffer block = ByteBuffer.allocate(blockTokens * Integer.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        byte[] parent = new byte[0];
        for (int from = 0; from + blockTokens <= tokens.length; from += blockTokens) {
            block.clear();
            for (int i = from; i < from + blockTokens; i++) {
                block.putInt((int) tokens[i]);
            }
            digest.update(parent);
            parent = digest.digest(block.array());
            keys.put(parent, 0, Long.BYTES);
        }
        return new PackedKeys(keys.array(), Long.BYTES);
    }
}
