/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.bridge.decode;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import org.msgpack.core.MessageFormat;
import org.msgpack.core.MessagePackException;
import org.msgpack.value.ValueType;

/**
 * Decodes payloads of all dialects. Only the content shows what a batch is, at every level and for every event: a publisher may change its
 * dialect with an upgrade, and several publishers may share a topic. Without state; safe for use by several threads.
 */
public final class BatchDecoder {
    private static final int LARGEST_PAYLOAD = 16 << 20;
    private static final int MOST_EVENTS = 65_536;
    private static final int MOST_RANKS = 65_536;
    private static final int EPOCH_CHARACTERS = 128;

    private BatchDecoder() {}

    /** Decodes one payload; never throws. */
    public static Decoded decode(byte[] payload) {
        if (payload.length > LARGEST_PAYLOAD) {
            return new Decoded.Malformed("a payload of " + payload.length + " bytes: at most " + LARGEST_PAYLOAD);
        }
        try (PayloadReader reader = new PayloadReader(payload)) {
            Reading reading = new Reading();
            switch (reader.next().getValueType()) {
                case ARRAY -> reading.array(reader);
                case MAP -> reading.map(reader);
                default -> throw new MalformedPayloadException("a batch is an array or a map");
            }
            if (!reader.atEnd()) {
                throw new MalformedPayloadException("bytes follow the batch");
            }
            return reading.batch();
        } catch (MalformedPayloadException e) {
            return new Decoded.Malformed(String.valueOf(e.getMessage()));
        } catch (IOException | MessagePackException | ArithmeticException e) {
            return new Decoded.Malformed("not msgpack, or cut off: " + e.getClass().getSimpleName());
        }
    }

    /** A batch while it is read. */
    private static final class Reading {
        private final List<EngineEvent> events = new ArrayList<>();
        private boolean sawEvents;
        private int blocks;
        private OptionalInt rank = OptionalInt.empty();
        private String epoch = "";
        private boolean countsFromOne;
        private int unknownEvents;
        private int unknownFields;

        private Decoded.Batch batch() {
            if (!sawEvents) {
                throw new MalformedPayloadException("a batch has a list of events");
            }
            return new Decoded.Batch(events, rank, epoch, countsFromOne, unknownEvents, unknownFields);
        }

        /** The elements are: time, events, rank, epoch, and a record that is not for us. */
        private void array(PayloadReader reader) throws IOException {
            int length = reader.array();
            for (int i = 0; i < length; i++) {
                switch (i) {
                    case 0 -> time(reader);
                    case 1 -> events(reader);
                    case 2 -> rank(reader);
                    case 3 -> epoch(reader);
                    case 4 -> reader.skip();
                    default -> unknownField(reader);
                }
            }
        }

        private void map(PayloadReader reader) throws IOException {
            int length = reader.map();
            for (int i = 0; i < length; i++) {
                switch (reader.text()) {
                    case "ts" -> time(reader);
                    case "events" -> events(reader);
                    case "data_parallel_rank", "dp_rank" -> rank(reader);
                    case "epoch" -> epoch(reader);
                    default -> unknownField(reader);
                }
            }
        }

        private void unknownField(PayloadReader reader) throws IOException {
            unknownFields++;
            reader.skip();
        }

        /** An engine's clock orders nothing here. */
        private static void time(PayloadReader reader) throws IOException {
            if (!reader.next().getValueType().isNumberType() && reader.next() != MessageFormat.NIL) {
                throw new MalformedPayloadException("the time of a batch is a number");
            }
            reader.skip();
        }

        private void rank(PayloadReader reader) throws IOException {
            if (reader.nil()) {
                return;
            }
            long number = reader.integer();
            if (number < 0 || number >= MOST_RANKS) {
                throw new MalformedPayloadException("a rank of " + number);
            }
            rank = OptionalInt.of((int) number);
        }

        private void epoch(PayloadReader reader) throws IOException {
            ValueType type = reader.next().getValueType();
            if (type == ValueType.STRING) {
                epoch = reader.text(EPOCH_CHARACTERS);
            } else if (type == ValueType.INTEGER) {
                epoch = String.valueOf(reader.integer());
            } else {
                reader.skip();
            }
        }

        private void events(PayloadReader reader) throws IOException {
            sawEvents = true;
            int length = reader.array();
            if (length > MOST_EVENTS) {
                throw new MalformedPayloadException("a batch of " + length + " events: at most " + MOST_EVENTS);
            }
            for (int i = 0; i < length; i++) {
                if (reader.next().getValueType() == ValueType.BINARY) {
                    try (PayloadReader wrapped = new PayloadReader(reader.binary())) {
                        event(wrapped, true);
                        if (!wrapped.atEnd()) {
                            throw new MalformedPayloadException("bytes follow an event");
                        }
                    }
                } else {
                    event(reader, false);
                }
            }
        }

        private void event(PayloadReader reader, boolean wrapped) throws IOException {
            EventFields fields = EventFields.read(reader);
            blocks += fields.blocks();
            // A hash of one byte takes fifty on the heap.
            if (blocks > EventFields.MOST_HASHES) {
                throw new MalformedPayloadException("a batch of more than " + EventFields.MOST_HASHES + " blocks");
            }
            unknownFields += fields.unknownFields();
            // Storage publishers of llm-d, and Mooncake's master.
            countsFromOne |= wrapped || fields.hasSequenceHashes();
            if (fields.isKnown()) {
                events.addAll(fields.events(wrapped));
            } else {
                unknownEvents++;
            }
        }
    }
}
