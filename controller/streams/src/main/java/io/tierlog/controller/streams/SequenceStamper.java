/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.streams;

import io.tierlog.controller.core.table.OrderedBytes;
import io.tierlog.events.Codec;
import io.tierlog.events.RecordStamp;
import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.WireRecord;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.BiFunction;

/**
 * Numbers and chains the records of one task, per topic and aggregate. Only for the task's stream thread.
 *
 * <p>The counts are rows of the task's own store, under a first byte that the core's keys never have, so they go with the transaction:
 * what is decided again after an abort gets the same numbers. They are written once per input, by {@link #save}, however many records it
 * brought.
 */
final class SequenceStamper {
    /** First byte of the shell's rows. The core's keys begin with a text, in which this byte never occurs. */
    static final byte TAG = (byte) 0xFF;

    private final OrderedBytes rows;
    private final Map<Chain, RecordStamp> open = new LinkedHashMap<>();

    /** What is counted apart. */
    enum Kind {
        DECISION('d'),
        COMMAND('c');

        private final char letter;

        Kind(char letter) {
            this.letter = letter;
        }
    }

    private record Chain(Kind kind, String aggregate) {
        byte[] key() {
            byte[] name = aggregate.getBytes(StandardCharsets.UTF_8);
            byte[] key = new byte[2 + name.length];
            key[0] = TAG;
            key[1] = (byte) kind.letter;
            System.arraycopy(name, 0, key, 2, name.length);
            return key;
        }
    }

    /** A numbered record and its Avro binary. */
    @SuppressWarnings("ArrayRecordComponent") // For one call, never compared.
    record Stamped<T extends WireRecord>(T value, byte[] avro) {}

    SequenceStamper(OrderedBytes rows) {
        this.rows = rows;
    }

    /** {@code value} as the next record of its aggregate. */
    <T extends WireRecord> Stamped<T> stamp(Kind kind, T value, Envelope envelope, BiFunction<T, Envelope, T> withEnvelope) {
        Chain chain = new Chain(kind, envelope.aggregate());
        RecordStamp last = open.get(chain);
        if (last == null) {
            last = last(kind, chain.aggregate());
        }
        T stamped = withEnvelope.apply(value, last.onto(envelope));
        byte[] avro = Codec.avro(stamped);
        open.put(chain, last.after(avro));
        return new Stamped<>(stamped, avro);
    }

    /** The last record of {@code aggregate} so far. */
    RecordStamp last(Kind kind, String aggregate) {
        byte[] row = rows.get(new Chain(kind, aggregate).key());
        return row == null ? RecordStamp.NONE : RecordStamp.fromBytes(row);
    }

    /** Writes the counts of this input. */
    void save() {
        open.forEach((chain, stamp) -> rows.put(chain.key(), stamp.toBytes()));
        open.clear();
    }
}
