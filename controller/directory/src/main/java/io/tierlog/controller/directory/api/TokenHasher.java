/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.directory.api;

import io.tierlog.controller.http.PackedKeys;

/** How an engine's keys follow from tokens. Safe for use by several threads. */
@FunctionalInterface
public interface TokenHasher {
    /**
     * Keys of the whole blocks of a prompt.
     *
     * @param tokens the prompt
     * @param blockTokens tokens of a block, 1 or more
     */
    PackedKeys keys(long[] tokens, int blockTokens);

    /**
     * Reads {@code sglang}, or one of {@link VllmKeys#parse}.
     *
     * @throws IllegalArgumentException when it is none of them
     */
    static TokenHasher parse(String text) {
        return text.equals(SglangKeys.NAME) ? new SglangKeys() : VllmKeys.parse(text);
    }
}
