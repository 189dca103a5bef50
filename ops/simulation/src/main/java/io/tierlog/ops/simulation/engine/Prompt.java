/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.simulation.engine;

import io.tierlog.schemas.Bytes;
import java.util.ArrayList;
import java.util.List;

/**
 * Tokens, and the keys of their whole blocks. Immutable.
 *
 * @param namespace what else must match
 * @param blockTokens tokens of a block, 1 or more
 * @param tokens how many tokens
 * @param keys one for each whole block
 */
public record Prompt(String namespace, int blockTokens, int tokens, List<Bytes> keys) {
    public Prompt {
        keys = List.copyOf(keys);
    }

    /** The prompt of these tokens. */
    public static Prompt of(String namespace, int blockTokens, int[] tokens) {
        List<Bytes> keys = new ArrayList<>();
        Bytes before = Bytes.EMPTY;
        for (int to = blockTokens; to <= tokens.length; to += blockTokens) {
            before = Oracle.key(before, tokens, to - blockTokens, to);
            keys.add(before);
        }
        return new Prompt(namespace, blockTokens, tokens.length, keys);
    }

    /** A root block of its own that is known by a name. */
    public static Prompt named(String namespace, int blockTokens, String name) {
        return new Prompt(namespace, blockTokens, blockTokens, List.of(Oracle.key(name)));
    }

    /** Most blocks that may be reused: the last token is always computed. */
    public int reusable() {
        return (tokens - 1) / blockTokens;
    }

    /** Key of the block before {@code index}; empty before the first. */
    public Bytes parent(int index) {
        return index == 0 ? Bytes.EMPTY : keys.get(index - 1);
    }
}
