/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core;

import io.tierlog.schemas.Block;
import io.tierlog.schemas.Bytes;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

/** A prompt of a test: its tokens, and the keys of its whole blocks chained over them. */
record Prompt(String namespace, int blockTokens, int tokens, List<Bytes> keys) {
    static Prompt of(int blockTokens, int... tokens) {
        List<Bytes> keys = new ArrayList<>();
        Bytes parent = Bytes.EMPTY;
        for (int from = 0; from + blockTokens <= tokens.length; from += blockTokens) {
            parent = key(parent, Arrays.copyOfRange(tokens, from, from + blockTokens));
            keys.add(parent);
        }
        return new Prompt("m", blockTokens, tokens.length, List.copyOf(keys));
    }

    /** Tokens first .. last. */
    static Prompt range(int blockTokens, int first, int last) {
        return of(blockTokens, IntStream.rangeClosed(first, last).toArray());
    }

    private static Bytes key(Bytes parent, int[] tokens) {
        ByteBuffer text = ByteBuffer.allocate(parent.size() + 4 * tokens.length).put(parent.toArray());
        for (int token : tokens) {
            text.putInt(token);
        }
        return Bytes.copyOf(Arrays.copyOf(sha256(text.array()), 16));
    }

    static byte[] sha256(byte[] text) {
        try {
            return MessageDigest.getInstance("SHA-256").digest(text);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }

    Bytes root() {
        return keys.getFirst();
    }

    Block block(int index) {
        return new Block(index, keys.get(index), index == 0 ? Bytes.EMPTY : keys.get(index - 1));
    }

    List<Block> blocks(int from, int to) {
        return IntStream.range(from, to).mapToObj(this::block).toList();
    }
}
