/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.bridge.decode;

import io.tierlog.schemas.Bytes;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import org.msgpack.value.ValueType;

/**
 * The fields of one event, from an array by their positions or from a map by their names. Missing trailing elements are nil. Confined to one event.
 */
final class EventFields {
    /** Blocks of a prompt of 1,048,576 tokens, one each. */
    static final int MOST_HASHES = 1 << 20;
    private static final int MOST_GROUPS = 65_536;
    private static final int MOST_INDEX = 1 << 30;
    private static final Bytes ZERO = PayloadReader.key(0);

    private String type = "";
    private @Nullable List<Bytes> hashes;
    private @Nullable List<Bytes> sequenceHashes;
    private @Nullable Bytes parent;
    private int tokens;
    private int blockTokens;
    private int base = -1;
    private String medium = "";
    private String target = "";
    private String locality = "";
    private String adapter = "";
    private String salt = "";
    private String model = "";
    private int group;
    private int unknown;

    private EventFields() {}

    static EventFields read(PayloadReader reader) throws IOException {
        EventFields fields = new EventFields();
        switch (reader.next().getValueType()) {
            case ARRAY -> fields.array(reader);
            case MAP -> fields.map(reader);
            default -> throw new MalformedPayloadException("an event is an array or a map");
        }
        return fields;
    }

    /** Hashes of blocks that it has. */
    int blocks() {
        return (hashes == null ? 0 : hashes.size()) + (sequenceHashes == null ? 0 : sequenceHashes.size());
    }

    boolean hasSequenceHashes() {
        return sequenceHashes != null;
    }

    int unknownFields() {
        return unknown;
    }

    boolean isKnown() {
        return switch (type) {
            case "BlockStored", "BlockRemoved", "BlockTransferred", "AllBlocksCleared" -> true;
            default -> false;
        };
    }

    private void array(PayloadReader reader) throws IOException {
        int length = reader.array();
        if (length == 0) {
            throw new MalformedPayloadException("an event begins with its type");
        }
        type = reader.text();
        for (int i = 1; i < length; i++) {
            switch (type) {
                case "BlockStored" -> stored(reader, i);
                case "BlockRemoved" -> removed(reader, i);
                case "BlockTransferred" -> transferred(reader, i);
                case "AllBlocksCleared" -> cleared(reader, i);
                default -> reader.skip();
            }
        }
    }

    private void stored(PayloadReader reader, int position) throws IOException {
        switch (position) {
            case 1 -> hashes = hashes(reader);
            case 2 -> parent = reader.nil() ? null : reader.hash();
            case 3 -> tokens = tokens(reader);
            case 4 -> blockTokens = blockTokens(reader);
            case 6 -> medium = reader.textOrNothing();
            case 7 -> adapter = reader.textOrNothing();
            case 9, 10 -> groupIfNumber(reader, position);
            // The old number of the adapter, keys of the engine's own, the kind of attention.
            case 5, 8, 11, 12 -> reader.skip();
            default -> unknown(reader);
        }
    }

    /** Where one publisher has another list before it, the number comes one later. */
    private void groupIfNumber(PayloadReader reader, int position) throws IOException {
        if (reader.next().getValueType() == ValueType.INTEGER && (position == 9 || group == 0)) {
            group = group(reader);
        } else {
            reader.skip();
        }
    }

    private void removed(PayloadReader reader, int position) throws IOException {
        switch (position) {
            case 1 -> hashes = hashes(reader);
            case 2 -> medium = reader.textOrNothing();
            case 3 -> group = group(reader);
            default -> unknown(reader);
        }
    }

    private void transferred(PayloadReader reader, int position) throws IOException {
        switch (position) {
            case 1 -> hashes = hashes(reader);
            case 2 -> medium = reader.textOrNothing();
            case 3 -> target = reader.textOrNothing();
            case 4 -> group = group(reader);
            default -> unknown(reader);
        }
    }

    private void cleared(PayloadReader reader, int position) throws IOException {
        if (position == 1) {
            medium = reader.textOrNothing();
        } else {
            unknown(reader);
        }
    }

    private void map(PayloadReader reader) throws IOException {
        int length = reader.map();
        String kind = "";
        for (int i = 0; i < length; i++) {
            switch (reader.text()) {
                case "type" -> type = reader.text();
                case "event_type" -> kind = reader.textOrNothing();
                case "block_hashes" -> hashes = hashes(reader);
                case "seq_hashes" -> sequenceHashes = hashes(reader);
                case "parent_block_hash" -> parent = reader.nil() ? parent : reader.hash();
                case "parent_hash" -> otherParent(reader);
                case "token_ids" -> tokens = tokens(reader);
                case "block_size" -> blockTokens = blockTokens(reader);
                case "base_block_idx" -> base = base(reader);
                case "medium", "from_medium" -> medium = reader.textOrNothing();
                case "to_medium" -> target = reader.textOrNothing();
                case "locality" -> locality = reader.textOrNothing();
                case "lora_name" -> adapter = reader.textOrNothing();
                case "cache_salt", "additional_salt" -> salt(reader);
                case "group_idx" -> group = group(reader);
                case "model_name" -> model = reader.textOrNothing();
                // Known, and without a use here.
                case "lora_id", "extra_keys", "kv_cache_spec_kind", "kv_cache_spec_sliding_window", "ownership", "session_id", "backend_id",
                        "dp_rank", "tenant_id", "event_id", "timestamp", "group_id", "object_key", "block_mm_infos" -> reader.skip();
                default -> unknown(reader);
            }
        }
        if (type.isEmpty()) {
            type = switch (kind.toLowerCase(Locale.ROOT)) {
                case "stored" -> "BlockStored";
                case "removed" -> "BlockRemoved";
                case "cleared" -> "AllBlocksCleared";
                default -> "";
            };
        }
    }

    private void otherParent(PayloadReader reader) throws IOException {
        if (reader.next().getValueType() == ValueType.INTEGER) {
            Bytes named = reader.hash();
            parent = parent == null ? named : parent;
        } else {
            reader.skip();
        }
    }

    private void salt(PayloadReader reader) throws IOException {
        String named = reader.textOrNothing();
        salt = named.isEmpty() ? salt : named;
    }

    private void unknown(PayloadReader reader) throws IOException {
        unknown++;
        reader.skip();
    }

    private static @Nullable List<Bytes> hashes(PayloadReader reader) throws IOException {
        if (reader.nil()) {
            return null;
        }
        int length = reader.array();
        if (length > MOST_HASHES) {
            throw new MalformedPayloadException("an event of " + length + " blocks: at most " + MOST_HASHES);
        }
        List<Bytes> hashes = new ArrayList<>(length);
        for (int i = 0; i < length; i++) {
            hashes.add(reader.hash());
        }
        return hashes;
    }

    /** Ids of tokens are the prompt in clear text: only their number is taken. */
    private static int tokens(PayloadReader reader) throws IOException {
        if (reader.nil()) {
            return 0;
        }
        int length = reader.array();
        for (int i = 0; i < length; i++) {
            reader.skip();
        }
        return length;
    }

    private static int bounded(PayloadReader reader, String what, int most) throws IOException {
        long number = reader.integer();
        if (number < 0 || number > most) {
            throw new MalformedPayloadException(what + " of " + number);
        }
        return (int) number;
    }

    private static int blockTokens(PayloadReader reader) throws IOException {
        return reader.nil() ? 0 : bounded(reader, "a block", MOST_INDEX);
    }

    private static int base(PayloadReader reader) throws IOException {
        return reader.nil() ? -1 : bounded(reader, "an index", MOST_INDEX);
    }

    private static int group(PayloadReader reader) throws IOException {
        return reader.nil() ? 0 : bounded(reader, "a group", MOST_GROUPS);
    }

    private List<Bytes> named() {
        List<Bytes> named = hashes == null ? sequenceHashes : hashes;
        if (named == null) {
            throw new MalformedPayloadException("a " + type + " names its blocks");
        }
        return named;
    }

    /**
     * What the event says.
     *
     * @param wrapped whether it came as a blob of its own: then a parent of 0 is none
     */
    List<EngineEvent> events(boolean wrapped) {
        EngineEvent.Place place = new EngineEvent.Place(medium.isEmpty() ? "GPU" : medium, locality, group);
        return switch (type) {
            case "BlockStored" -> List.of(stored(place, wrapped));
            case "BlockRemoved" -> List.of(new EngineEvent.Removed(place, named()));
            case "BlockTransferred" ->
                List.of(new EngineEvent.Transferred(place, new EngineEvent.Place(target.isEmpty() ? "GPU" : target, "", group), named()));
            default -> List.of(new EngineEvent.Cleared(medium));
        };
    }

    private EngineEvent.Stored stored(EngineEvent.Place place, boolean wrapped) {
        List<Bytes> named = named();
        boolean root = parent == null || (wrapped && parent.equals(ZERO));
        // An event of a lower tier may name neither parent nor tokens: then the block need not be the first.
        boolean placeholder = tokens == 0;
        // A sliding window leaves blocks out, whose tokens are there.
        boolean chained = blockTokens == 0 || tokens <= (long) named.size() * blockTokens;
        // Mooncake's master names 0 for every block whose parent it does not know.
        int first = base > 0 ? base : root && !placeholder && chained ? 0 : -1;
        // Its master tells neither evictions nor promotions; SGLang tells no removals from its storage.
        boolean expires = hasSequenceHashes() || place.medium().equalsIgnoreCase("EXTERNAL");
        EngineEvent.Dialect dialect = new EngineEvent.Dialect(model, expires, hasSequenceHashes());
        return new EngineEvent.Stored(place, named, root ? null : parent, first, chained, blockTokens, adapter, salt, dialect);
    }
}
