/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.bridge.publish;

import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.Tier;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.math.BigInteger;
import java.util.List;
import org.msgpack.core.MessageBufferPacker;
import org.msgpack.core.MessagePack;

/**
 * Writes a batch as vLLM does: MessagePack, {@code [time, events, rank]}. Tierlog keeps no token ids, so their list is empty. Without state.
 */
final class BatchWriter {
    /** Fields of a removal as an array: name, hashes, medium. */
    private static final int REMOVED_FIELDS = 3;
    /** Fields of a store as an array, up to the group of layers. */
    private static final int STORED_FIELDS = 10;

    private BatchWriter() {}

    /** The payload of a message. */
    static byte[] payload(PlacementBatch batch, BatchForm form) {
        try (MessageBufferPacker out = MessagePack.newDefaultBufferPacker()) {
            out.packArrayHeader(3);
            out.packDouble(batch.timeMs() / 1_000.0);
            out.packArrayHeader(batch.changes().size());
            for (PlacementBatch.Change change : batch.changes()) {
                if (form.maps()) {
                    map(out, change, form);
                } else {
                    array(out, change, form);
                }
            }
            out.packInt(0);
            return out.toByteArray();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void map(MessageBufferPacker out, PlacementBatch.Change change, BatchForm form) throws IOException {
        boolean storage = change.tier() == Tier.DISK || change.tier() == Tier.STORE;
        out.packMapHeader((change.stored() ? 8 : 3) + (storage ? 1 : 0));
        out.packString("type").packString(name(change));
        out.packString("block_hashes");
        keys(out, change.keys(), form);
        if (change.stored()) {
            out.packString("parent_block_hash");
            key(out, change.parent(), form);
            out.packString("token_ids").packArrayHeader(0);
            out.packString("block_size").packInt(form.blockTokens());
            out.packString("lora_id").packNil();
        }
        out.packString("medium").packString(medium(change.tier()));
        if (change.stored()) {
            out.packString("lora_name").packNil();
        }
        if (storage) {
            out.packString("locality").packString(change.tier() == Tier.DISK ? "LOCAL" : "REMOTE");
        }
    }

    /** Readers of arrays know no locality: DISK is the medium then. */
    private static void array(MessageBufferPacker out, PlacementBatch.Change change, BatchForm form) throws IOException {
        String medium = change.tier() == Tier.DISK ? "DISK" : medium(change.tier());
        out.packArrayHeader(change.stored() ? STORED_FIELDS : REMOVED_FIELDS);
        out.packString(name(change));
        keys(out, change.keys(), form);
        if (change.stored()) {
            key(out, change.parent(), form);
            out.packArrayHeader(0).packInt(form.blockTokens()).packNil();
        }
        out.packString(medium);
        if (change.stored()) {
            // The adapter's name, extra keys, the group of layers.
            out.packNil().packNil().packNil();
        }
    }

    private static String name(PlacementBatch.Change change) {
        return change.stored() ? "BlockStored" : "BlockRemoved";
    }

    private static String medium(Tier tier) {
        return switch (tier) {
            case DEVICE -> "GPU";
            case HOST -> "CPU";
            case DISK, STORE -> "STORAGE";
            case UNKNOWN -> throw new IllegalArgumentException("a tier that is not known cannot be published");
        };
    }

    private static void keys(MessageBufferPacker out, List<Bytes> keys, BatchForm form) throws IOException {
        out.packArrayHeader(keys.size());
        for (Bytes each : keys) {
            key(out, each, form);
        }
    }

    private static void key(MessageBufferPacker out, Bytes key, BatchForm form) throws IOException {
        if (key.isEmpty()) {
            out.packNil();
        } else if (key.size() == Long.BYTES || form.numbers()) {
            long number = key.asByteBuffer().getLong(key.size() - Long.BYTES);
            out.packBigInteger(number < 0 ? new BigInteger(Long.toUnsignedString(number)) : BigInteger.valueOf(number));
        } else {
            out.packBinaryHeader(key.size());
            out.writePayload(key.unshared());
        }
    }
}
