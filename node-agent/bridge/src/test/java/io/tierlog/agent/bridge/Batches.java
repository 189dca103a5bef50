/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.bridge;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.math.BigInteger;
import org.jspecify.annotations.Nullable;
import org.msgpack.core.MessageBufferPacker;
import org.msgpack.core.MessagePack;

/** Writes batches of events as engines do: in the arrays of vLLM and SGLang, or in vLLM's maps. */
public final class Batches {
    /** How events are written. */
    public enum Form {
        ARRAYS,
        MAPS
    }

    /** One event. */
    public interface Event {
        void write(MessageBufferPacker out, Form form) throws IOException;
    }

    /** The id of the first token of a store. Large, and found nowhere by chance; the others follow it. */
    public static final int FIRST_TOKEN = 0x5b3c_96e1;

    private Batches() {}

    /** A batch; a rank below 0 is nil. */
    public static byte[] batch(Form form, double time, int rank, Event... events) {
        try (MessageBufferPacker out = MessagePack.newDefaultBufferPacker()) {
            out.packArrayHeader(3);
            out.packDouble(time);
            out.packArrayHeader(events.length);
            for (Event event : events) {
                event.write(out, form);
            }
            if (rank < 0) {
                out.packNil();
            } else {
                out.packInt(rank);
            }
            return out.toByteArray();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Blocks of 4 tokens that follow a parent; null for none. */
    public static Event stored(String medium, @Nullable Long parent, long... hashes) {
        return stored(medium, 0, null, parent, hashes);
    }

    public static Event stored(String medium, int group, @Nullable String adapter, @Nullable Long parent, long... hashes) {
        return (out, form) -> {
            if (form == Form.MAPS) {
                out.packMapHeader(9);
                text(out, "type", "BlockStored");
            } else {
                out.packArrayHeader(10);
                out.packString("BlockStored");
            }
            hashes(out, form, hashes);
            name(out, form, "parent_block_hash");
            number(out, parent);
            name(out, form, "token_ids");
            out.packArrayHeader(hashes.length * 4);
            for (int i = 0; i < hashes.length * 4; i++) {
                out.packInt(FIRST_TOKEN + i);
            }
            name(out, form, "block_size");
            out.packInt(4);
            name(out, form, "lora_id");
            out.packNil();
            name(out, form, "medium");
            out.packString(medium);
            name(out, form, "lora_name");
            if (adapter == null) {
                out.packNil();
            } else {
                out.packString(adapter);
            }
            if (form == Form.ARRAYS) {
                out.packNil();
            }
            name(out, form, "group_idx");
            out.packInt(group);
        };
    }

    public static Event removed(String medium, long... hashes) {
        return (out, form) -> {
            if (form == Form.MAPS) {
                out.packMapHeader(3);
                text(out, "type", "BlockRemoved");
            } else {
                out.packArrayHeader(3);
                out.packString("BlockRemoved");
            }
            hashes(out, form, hashes);
            name(out, form, "medium");
            out.packString(medium);
        };
    }

    public static Event cleared() {
        return (out, form) -> {
            if (form == Form.MAPS) {
                out.packMapHeader(1);
                text(out, "type", "AllBlocksCleared");
            } else {
                out.packArrayHeader(1);
                out.packString("AllBlocksCleared");
            }
        };
    }

    private static void hashes(MessageBufferPacker out, Form form, long... hashes) throws IOException {
        name(out, form, "block_hashes");
        out.packArrayHeader(hashes.length);
        for (long hash : hashes) {
            number(out, hash);
        }
    }

    private static void number(MessageBufferPacker out, @Nullable Long number) throws IOException {
        if (number == null) {
            out.packNil();
        } else if (number < 0) {
            out.packBigInteger(new BigInteger(Long.toUnsignedString(number)));
        } else {
            out.packLong(number);
        }
    }

    private static void name(MessageBufferPacker out, Form form, String name) throws IOException {
        if (form == Form.MAPS) {
            out.packString(name);
        }
    }

    private static void text(MessageBufferPacker out, String name, String value) throws IOException {
        out.packString(name);
        out.packString(value);
    }
}
