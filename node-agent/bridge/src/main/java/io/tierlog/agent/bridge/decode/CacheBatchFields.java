/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.bridge.decode;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import io.tierlog.schemas.Bytes;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/**
 * The fields of one batch of LMCache's events. A value that cannot be used is remembered as what is wrong, and reading goes on: the sender and the
 * number may still come. Confined to one batch.
 */
final class CacheBatchFields {
    private static final int MOST_ENTRIES = 65_536;
    private static final int LONGEST_TEXT = 512;
    private static final int LONGEST_BACKEND = 64;
    private static final int MOST_GROUPS = 65_536;
    private static final int MOST_INDEX = 1 << 30;
    private static final long MOST_RANK = (1L << 32) - 1;
    /** World size 1, rank 0 of it, local world size 1, local rank 0: the only worker. */
    private static final long ONLY_WORKER = 0x0100_0100;
    private static final int SHORTEST_KEY = 8;
    private static final int LONGEST_KEY = 32;

    private final List<Entry> entries = new ArrayList<>();
    private String instance = "";
    private long incarnation = -1;
    private long seq = -1;
    private long dropped;
    private String type = "";
    private String tier = "";
    private String backend = "";
    private boolean shared;
    private int unknownFields;
    private String wrong = "";

    /**
     * What a batch says of one block.
     *
     * @param tokens in the block, count; 0 when they are not named
     * @param offset of its first token in the prompt; -1 when it is not named
     */
    private record Entry(Bytes hash, EngineEvent.Scope scope, int group, int tokens, long offset, @Nullable Bytes parent) {
        int first() {
            return tokens > 0 && offset >= 0 && offset % tokens == 0 && offset / tokens <= MOST_INDEX ? (int) (offset / tokens) : -1;
        }
    }

    /** Takes the value at which the parser stands. */
    void field(JsonParser in, String name) throws IOException {
        switch (name) {
            case "instance_id" -> instance = text(in, name, LONGEST_TEXT);
            case "incarnation" -> incarnation = number(in, name, 0, Long.MAX_VALUE);
            case "seq" -> seq = number(in, name, 1, Long.MAX_VALUE);
            case "dropped_events" -> dropped = Math.max(0, number(in, name, 0, Long.MAX_VALUE));
            case "event_type" -> type = text(in, name, LONGEST_TEXT);
            case "tier" -> tier = text(in, name, LONGEST_TEXT);
            case "backend" -> backend = text(in, name, LONGEST_BACKEND);
            case "shared" -> shared = flag(in, name);
            case "entries" -> entries(in);
            // Known, and without a use here.
            case "ts", "capacity_bytes", "capacity_revision" -> in.skipChildren();
            default -> unknown(in);
        }
    }

    /**
     * What was read.
     *
     * @throws MalformedPayloadException when nothing tells whose batch it is, and which one
     */
    CacheBatch batch(int from, int to) {
        if (instance.isBlank() || incarnation < 0 || seq < 1) {
            throw new MalformedPayloadException("a batch has instance_id, incarnation (0 or more) and seq (1 or more)"
                    + (wrong.isEmpty() ? "" : "; " + wrong));
        }
        if (type.isEmpty()) {
            wrong("a batch has an event_type");
        }
        Decoded content = wrong.isEmpty() ? content() : new Decoded.Malformed(wrong);
        return new CacheBatch(new CacheBatch.Origin(instance, incarnation, seq, dropped), content, from, to);
    }

    private Decoded content() {
        List<EngineEvent> events = switch (type) {
            case "store" -> stored();
            case "delete" -> byPlace(EngineEvent.Removed::new);
            case "access" -> byPlace(EngineEvent.Accessed::new);
            case "config" -> List.of(new EngineEvent.Capacity(new EngineEvent.Place(medium(), "", 0)));
            default -> List.of();
        };
        boolean known = switch (type) {
            case "store", "delete", "access", "config" -> true;
            default -> false;
        };
        return new Decoded.Batch(events, OptionalInt.empty(), "", true, known ? 0 : 1, unknownFields);
    }

    private List<EngineEvent> stored() {
        boolean pool = shared && tier.equals("l2");
        List<EngineEvent> events = new ArrayList<>(entries.size());
        for (Entry each : entries) {
            // Another instance may report that it has left a pool, and no order holds between two of them.
            EngineEvent.Dialect dialect = new EngineEvent.Dialect(each.scope().model(), pool, true);
            events.add(new EngineEvent.Stored(place(each), List.of(each.hash()), each.parent(), each.first(), true, each.tokens(), "",
                    each.scope().salt(), dialect));
        }
        return events;
    }

    /** Makes an event about blocks of one place. */
    private interface Maker {
        EngineEvent of(EngineEvent.Place place, List<Bytes> hashes);
    }

    private List<EngineEvent> byPlace(Maker maker) {
        List<EngineEvent> events = new ArrayList<>();
        EngineEvent.Place place = null;
        List<Bytes> hashes = new ArrayList<>();
        for (Entry each : entries) {
            EngineEvent.Place next = place(each);
            if (place != null && !next.equals(place)) {
                events.add(maker.of(place, hashes));
                hashes = new ArrayList<>();
            }
            place = next;
            hashes.add(each.hash());
        }
        if (place != null) {
            events.add(maker.of(place, hashes));
        }
        return events;
    }

    private EngineEvent.Place place(Entry entry) {
        return new EngineEvent.Place(medium(), shared ? Media.REMOTE : "", entry.group(), entry.scope());
    }

    private String medium() {
        return switch (tier) {
            case "l1", "l2" -> "lmcache-" + tier + "-" + backend;
            default -> "tier " + tier;
        };
    }

    private void entries(JsonParser in) throws IOException {
        entries.clear();
        if (isAbsent(in)) {
            return;
        }
        if (in.currentToken() != JsonToken.START_ARRAY) {
            wrong("'entries' is no list");
            in.skipChildren();
            return;
        }
        int count = 0;
        while (in.nextToken() != JsonToken.END_ARRAY) {
            count++;
            if (in.currentToken() == JsonToken.START_OBJECT && count <= MOST_ENTRIES) {
                entry(in);
            } else {
                wrong(count > MOST_ENTRIES ? "more than " + MOST_ENTRIES + " entries" : "an entry is an object");
                in.skipChildren();
            }
        }
    }

    /** An entry while it is read. */
    private static final class EntryFields {
        private @Nullable Bytes hash;
        private String model = "";
        private long kvRank = -1;
        private long group;
        private String salt = "";
        private int tokens;
        private long offset = -1;
        private @Nullable Bytes parent;
    }

    private void entry(JsonParser in) throws IOException {
        EntryFields fields = new EntryFields();
        for (String name = in.nextFieldName(); name != null; name = in.nextFieldName()) {
            in.nextToken();
            switch (name) {
                case "key" -> key(in, fields);
                case "token_ids" -> fields.tokens = tokens(in);
                case "token_offset" -> fields.offset = isAbsent(in) ? -1 : number(in, name, -1, Long.MAX_VALUE);
                case "parent_hash_hex" -> fields.parent = hash(in, name);
                case "size_bytes", "content_hash_hex" -> in.skipChildren();
                default -> unknown(in);
            }
        }
        if (fields.hash == null || fields.model.isEmpty() || fields.kvRank < 0) {
            wrong("an entry has a key with chunk_hash_hex, model_name and kv_rank");
        } else {
            String rank = fields.kvRank == 0 || fields.kvRank == ONLY_WORKER ? "" : String.valueOf(fields.kvRank);
            entries.add(new Entry(fields.hash, new EngineEvent.Scope(fields.model, rank, fields.salt), (int) fields.group, fields.tokens,
                    fields.offset, fields.parent));
        }
    }

    private void key(JsonParser in, EntryFields fields) throws IOException {
        if (in.currentToken() != JsonToken.START_OBJECT) {
            wrong("'key' is no object");
            in.skipChildren();
            return;
        }
        for (String name = in.nextFieldName(); name != null; name = in.nextFieldName()) {
            in.nextToken();
            switch (name) {
                case "chunk_hash_hex" -> fields.hash = hash(in, name);
                case "model_name" -> fields.model = text(in, name, LONGEST_TEXT);
                case "kv_rank" -> fields.kvRank = number(in, name, 0, MOST_RANK);
                case "object_group_id" -> fields.group = isAbsent(in) ? 0 : number(in, name, 0, MOST_GROUPS);
                case "cache_salt" -> fields.salt = text(in, name, LONGEST_TEXT);
                default -> unknown(in);
            }
        }
    }

    private void unknown(JsonParser in) throws IOException {
        unknownFields++;
        in.skipChildren();
    }

    private void wrong(String what) {
        wrong = wrong.isEmpty() ? what : wrong;
    }

    private static boolean isAbsent(JsonParser in) {
        return in.currentToken() == JsonToken.VALUE_NULL;
    }

    private String text(JsonParser in, String name, int most) throws IOException {
        if (isAbsent(in)) {
            return "";
        }
        if (in.currentToken() == JsonToken.VALUE_STRING && in.getTextLength() <= most) {
            return in.getText();
        }
        wrong("'" + name + "' is a text of at most " + most + " characters");
        in.skipChildren();
        return "";
    }

    /** A whole number; -1 when it is none. */
    private long number(JsonParser in, String name, long least, long most) throws IOException {
        if (in.currentToken() == JsonToken.VALUE_NUMBER_INT && in.getNumberType() != JsonParser.NumberType.BIG_INTEGER) {
            long number = in.getLongValue();
            if (number >= least && number <= most) {
                return number;
            }
        }
        wrong("'" + name + "' is a whole number from " + least + " to " + most);
        in.skipChildren();
        return -1;
    }

    private boolean flag(JsonParser in, String name) throws IOException {
        if (!in.currentToken().isBoolean() && !isAbsent(in)) {
            wrong("'" + name + "' is true or false");
            in.skipChildren();
        }
        return in.currentToken() == JsonToken.VALUE_TRUE;
    }

    /** Ids of tokens are the prompt in clear text: only their number is taken. */
    private int tokens(JsonParser in) throws IOException {
        if (isAbsent(in)) {
            return 0;
        }
        if (in.currentToken() != JsonToken.START_ARRAY) {
            wrong("'token_ids' is no list");
            in.skipChildren();
            return 0;
        }
        int count = 0;
        while (in.nextToken() != JsonToken.END_ARRAY) {
            count++;
            in.skipChildren();
        }
        return count;
    }

    /** A hash; null for none. */
    private @Nullable Bytes hash(JsonParser in, String name) throws IOException {
        String digits = text(in, name, LONGEST_TEXT);
        if (digits.isEmpty()) {
            return null;
        }
        boolean fits = digits.length() % 2 == 0 && digits.length() >= 2 * SHORTEST_KEY && digits.length() <= 2 * LONGEST_KEY;
        if (!fits || !digits.chars().allMatch(each -> Character.digit(each, 16) >= 0 && each < 128)) {
            wrong("'" + name + "' is " + SHORTEST_KEY + " to " + LONGEST_KEY + " bytes in hexadecimal digits");
            return null;
        }
        return Bytes.ofHex(digits);
    }
}
