/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.streams;

import io.tierlog.controller.core.table.BehindRows;
import io.tierlog.controller.core.table.KeptRows;
import io.tierlog.controller.core.table.OrderedBytes;
import io.tierlog.controller.core.table.Table;
import io.tierlog.events.Codec;
import io.tierlog.events.RecordStamp;
import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.WireRecord;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;

/**
 * Numbers and chains the records of one task, per topic and aggregate. Only for the task's stream thread.
 *
 * <p>The counts are rows of the task's own store, under a first byte that the core's keys never have, so they go with the transaction:
 * what is decided again after an abort gets the same numbers. They are kept between inputs and written by {@link #flush}, before a commit.
 */
final class SequenceStamper {
    /** First byte of the shell's rows. The core's keys begin with a text, in which this byte never occurs. */
    static final byte TAG = (byte) 0xFF;

    /** Most aggregates whose count is kept: an instance writes about its nodes, and now and then about a migration. */
    private static final int KEPT = 4_096;

    /** The first and the last row of a changelog that was written from a snapshot: both have the same value. */
    static final byte[] FIRST = {TAG, 'f'};

    static final byte[] LAST = {TAG, 'l'};

    private static final byte[] END = {TAG, 'e'};

    private final OrderedBytes rows;
    private final KeptRows<Chain, RecordStamp> counts;
    private @Nullable StateEnd written;
    private long event;
    private byte @Nullable [] eventValue;
    private @Nullable String decided;
    private boolean isBehind;

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
        counts = new KeptRows<>(new Counts(rows), KEPT, _ -> 1);
    }

    private record Counts(OrderedBytes rows) implements BehindRows.Store<Chain, RecordStamp> {
        @Override
        public @Nullable RecordStamp read(Chain chain) {
            byte[] row = rows.get(chain.key());
            try {
                return row == null ? null : RecordStamp.fromBytes(row);
            } catch (RuntimeException e) {
                throw new Table.Unreadable("the number of the last record about " + chain.aggregate(), e);
            }
        }

        @Override
        public void write(Chain chain, @Nullable RecordStamp stamp) {
            if (stamp == null) {
                throw new IllegalStateException("a count is never removed");
            }
            rows.put(chain.key(), stamp.toBytes());
        }
    }

    /** {@code value} as the next record of its aggregate. */
    <T extends WireRecord> Stamped<T> stamp(Kind kind, T value, Envelope envelope, BiFunction<T, Envelope, T> withEnvelope) {
        Chain chain = new Chain(kind, envelope.aggregate());
        RecordStamp last = last(chain);
        T stamped = withEnvelope.apply(value, last.onto(envelope));
        byte[] avro = Codec.avro(stamped);
        counts.put(chain, last.after(avro), 0);
        if (kind == Kind.DECISION) {
            decided = envelope.aggregate();
        }
        return new Stamped<>(stamped, avro);
    }

    /** The last record of {@code aggregate} so far. */
    RecordStamp last(Kind kind, String aggregate) {
        return last(new Chain(kind, aggregate));
    }

    private RecordStamp last(Chain chain) {
        RecordStamp kept = counts.get(chain);
        return kept == null ? RecordStamp.NONE : kept;
    }

    /** Sets the last decision about {@code aggregate}, where state is made from a snapshot. */
    void restore(String aggregate, RecordStamp stamp) {
        counts.put(new Chain(Kind.DECISION, aggregate), stamp, 0);
    }

    /** Sets where the state ends, where it is made from a snapshot. */
    void restore(StateEnd end) {
        written = end;
        rows.put(END, end.toBytes());
    }

    /** Where the state ends, as of the last {@link #flush}. */
    StateEnd end() {
        StateEnd end = written;
        if (end == null) {
            byte[] row = rows.get(END);
            end = row == null ? StateEnd.NONE : StateEnd.fromBytes(row);
            written = end;
        }
        return end;
    }

    /** Whether the rows are all of one load: what was there before a snapshot was loaded has only the last of its two marks. */
    boolean isOfOneLoad() {
        return Arrays.equals(rows.get(FIRST), rows.get(LAST));
    }

    /** The event at that offset is decided. Its value is not copied, and its checksum is computed at the next {@link #flush}. */
    void inputDone(long offset, byte @Nullable [] value) {
        event = offset;
        eventValue = value;
        isBehind = true;
        counts.trim();
    }

    /** Writes the counts that changed, and where the state ends. */
    void flush() {
        if (isBehind) {
            restore(end().after(event, eventValue, decided));
            eventValue = null;
            isBehind = false;
        }
        rows.together(counts::flush);
    }
}
