/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.demo.events;

import io.tierlog.ops.engine.workload.BlockKey;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.math.BigInteger;
import java.util.List;
import java.util.Optional;
import org.msgpack.core.MessageBufferPacker;
import org.msgpack.core.MessagePack;

/** How an engine writes its batches: its dialect of the events, and what a block is called in it. */
enum EventForm {
    /** Maps, whole digests as bytes, a replay with topics. */
    VLLM("vllm", BlockKey.BYTES, true, true),
    /** Arrays of 6, signed numbers of 64 bits; started without a replay. */
    SGLANG("sglang", Long.BYTES, false, false),
    /** Arrays of 4, numbers of 64 bits, a replay without topics. */
    TOKENSPEED("tokenspeed", Long.BYTES, true, false);

    private static final String MEDIUM = "GPU";

    private final String label;
    private final int keyBytes;
    private final boolean replays;
    private final boolean topicInReplay;

    EventForm(String label, int keyBytes, boolean replays, boolean topicInReplay) {
        this.label = label;
        this.keyBytes = keyBytes;
        this.replays = replays;
        this.topicInReplay = topicInReplay;
    }

    /** Name of the engine's family, which is the instance's name too. */
    String label() {
        return label;
    }

    /** Length of its keys in the directory: {@link BlockKey#BYTES}, or 8 for numbers. */
    int keyBytes() {
        return keyBytes;
    }

    /** Whether it answers replays. */
    boolean replays() {
        return replays;
    }

    /** Whether an answer to a replay has a frame with the topic. */
    boolean topicInReplay() {
        return topicInReplay;
    }

    /**
     * A batch of what a request has changed.
     *
     * @param stored a run of blocks; empty for none
     * @param parent the block before the run; empty at the root
     */
    byte[] batch(double seconds, List<BlockKey> stored, Optional<BlockKey> parent, List<BlockKey> removed, int blockTokens) {
        try (MessageBufferPacker out = MessagePack.newDefaultBufferPacker()) {
            out.packArrayHeader(3).packDouble(seconds).packArrayHeader((stored.isEmpty() ? 0 : 1) + (removed.isEmpty() ? 0 : 1));
            if (!stored.isEmpty()) {
                stored(out, stored, parent, blockTokens);
            }
            if (!removed.isEmpty()) {
                removed(out, removed);
            }
            out.packInt(0);
            return out.toByteArray();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void stored(MessageBufferPacker out, List<BlockKey> stored, Optional<BlockKey> parent, int blockTokens) throws IOException {
        if (this == VLLM) {
            out.packMapHeader(8).packString("type").packString("BlockStored").packString("block_hashes");
            keys(out, stored);
            out.packString("parent_block_hash");
            parent(out, parent);
            out.packString("token_ids");
            tokens(out, stored, blockTokens);
            out.packString("block_size").packInt(blockTokens).packString("lora_id").packNil();
            out.packString("medium").packString(MEDIUM).packString("lora_name").packNil();
            return;
        }
        out.packArrayHeader(this == SGLANG ? 7 : 5).packString("BlockStored");
        keys(out, stored);
        parent(out, parent);
        tokens(out, stored, blockTokens);
        out.packInt(blockTokens);
        if (this == SGLANG) {
            out.packNil().packString(MEDIUM);
        }
    }

    private void removed(MessageBufferPacker out, List<BlockKey> removed) throws IOException {
        if (this == VLLM) {
            out.packMapHeader(3).packString("type").packString("BlockRemoved").packString("block_hashes");
            keys(out, removed);
            out.packString("medium").packString(MEDIUM);
            return;
        }
        out.packArrayHeader(this == SGLANG ? 3 : 2).packString("BlockRemoved");
        keys(out, removed);
        if (this == SGLANG) {
            out.packString(MEDIUM);
        }
    }

    private void keys(MessageBufferPacker out, List<BlockKey> keys) throws IOException {
        out.packArrayHeader(keys.size());
        for (BlockKey key : keys) {
            key(out, key);
        }
    }

    private void parent(MessageBufferPacker out, Optional<BlockKey> parent) throws IOException {
        if (parent.isEmpty()) {
            out.packNil();
        } else {
            key(out, parent.get());
        }
    }

    private void key(MessageBufferPacker out, BlockKey key) throws IOException {
        switch (this) {
            case VLLM -> out.packBinaryHeader(BlockKey.BYTES).writePayload(key.toBytes());
            case SGLANG -> out.packLong(key.high());
            case TOKENSPEED -> out.packBigInteger(new BigInteger(Long.toUnsignedString(key.high())));
        }
    }

    /** The model has no tokens; what stands for them follows from the key. */
    private static void tokens(MessageBufferPacker out, List<BlockKey> stored, int blockTokens) throws IOException {
        out.packArrayHeader(stored.size() * blockTokens);
        for (BlockKey key : stored) {
            for (int i = 0; i < blockTokens; i++) {
                out.packInt((int) (key.low() >>> (i % 32) & 0xffff));
            }
        }
    }
}
