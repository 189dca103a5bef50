/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.table;

import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.state.PlacementRow;
import io.tierlog.schemas.state.PlacementState;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.apache.avro.io.BinaryDecoder;
import org.apache.avro.io.BinaryEncoder;
import org.apache.avro.io.DecoderFactory;
import org.apache.avro.io.EncoderFactory;
import org.jspecify.annotations.Nullable;

/**
 * The stored form of a run: up to {@value Run#MOST} placements of one namespace on one tier of one aggregate, in one row.
 *
 * <pre>
 *   format 1 | namespace 16 | tier 1 | blocks 1 | bytes of a key 1 | the keys | the placements
 *   placement: a number with one bit for each field that is not as expected, and these fields, in Avro's binary encoding
 * </pre>
 *
 * <p>Expected is what the placement before it has; of the index and the page one more; of the parent the block before it. Numbers are written as
 * differences from that. Confined to one thread.
 */
final class RunRows {
    /** First byte of a run. Rows of one block each began with 1. */
    static final byte FORMAT = 2;

    private static final int TIER = 1 + Namespaces.DIGEST_BYTES;
    private static final int COUNT = TIER + 1;
    private static final int WIDTH = COUNT + 1;
    private static final int KEYS = WIDTH + 1;

    // The bits of a placement, those that are set most often first, since low numbers are short.
    private static final int TOUCH = 1;
    private static final int USED = 1 << 1;
    private static final int PAGE = 1 << 2;
    private static final int GENERATION = 1 << 3;
    private static final int CRC = 1 << 4;
    private static final int STATE = 1 << 5;
    private static final int CHILDREN = 1 << 6;
    private static final int PARENT = 1 << 7;
    private static final int INDEX = 1 << 8;
    private static final int STORED = 1 << 9;
    private static final int REFUSED = 1 << 10;
    private static final int HOLDS = 1 << 11;
    private static final int INCARNATION = 1 << 12;
    private static final int EPOCH = 1 << 13;
    private static final int GROUP = 1 << 14;
    private static final int OPERATION = 1 << 15;
    private static final int PROMOTED = 1 << 16;
    private static final int CREDIT = 1 << 17;
    private static final int BRANCH = 1 << 18;

    // Codes of a parent that is not the block before: a number from 0 is the place of its key in the run.
    private static final int NO_PARENT = -1;
    private static final int OTHER_PARENT = -2;

    /** States by their numbers. */
    private static final List<PlacementState> STATES = List.of(PlacementState.UNKNOWN, PlacementState.ABSENT, PlacementState.WRITING,
            PlacementState.SERVING, PlacementState.COPYING, PlacementState.LEAVING, PlacementState.COPYING_KEEP);

    private final ByteArrayOutputStream buffer = new ByteArrayOutputStream(2_048);
    private final BinaryEncoder encoder = EncoderFactory.get().directBinaryEncoder(buffer, null);
    private @Nullable BinaryDecoder decoder;

    /** A run whose keys all have one length, 1 to {@value Run#MOST} of them. */
    byte[] encode(Bytes namespace, Tier tier, List<Bytes> keys, List<PlacementRow> rows) {
        buffer.reset();
        buffer.write(FORMAT);
        buffer.writeBytes(namespace.unshared());
        buffer.write(KeyWriter.code(tier));
        buffer.write(keys.size());
        buffer.write(keys.getFirst().size());
        keys.forEach(key -> buffer.writeBytes(key.unshared()));
        Fields expected = new Fields();
        try {
            for (int i = 0; i < keys.size(); i++) {
                expected.step();
                expected.parent = i == 0 ? Bytes.EMPTY : keys.get(i - 1);
                write(keys, rows.get(i), expected);
                expected.set(rows.get(i));
            }
            encoder.flush();
        } catch (IOException e) {
            throw new UncheckedIOException("a buffer on the heap", e);
        }
        return buffer.toByteArray();
    }

    private void write(List<Bytes> keys, PlacementRow row, Fields expected) throws IOException {
        int bits = expected.differences(row);
        encoder.writeInt(bits);
        number(bits & TOUCH, row.touch(), expected.touch);
        number(bits & USED, row.usedMs(), expected.usedMs);
        number(bits & PAGE, row.page(), expected.page);
        number(bits & GENERATION, row.generation(), expected.generation);
        if ((bits & CRC) != 0) {
            int crc = row.crc32c();
            encoder.writeFixed(new byte[] {(byte) (crc >>> 24), (byte) (crc >>> 16), (byte) (crc >>> 8), (byte) crc});
        }
        if ((bits & STATE) != 0) {
            encoder.writeInt(code(row.state()));
        }
        number(bits & CHILDREN, row.children(), expected.children);
        if ((bits & PARENT) != 0) {
            int place = row.parent().isEmpty() ? NO_PARENT : keys.indexOf(row.parent());
            boolean other = place < 0 && !row.parent().isEmpty();
            encoder.writeInt(other ? OTHER_PARENT : place);
            if (other) {
                encoder.writeBytes(row.parent().unshared());
            }
        }
        number(bits & INDEX, row.index(), expected.index);
        number(bits & HOLDS, row.holds(), expected.holds);
        number(bits & INCARNATION, row.incarnation(), expected.incarnation);
        number(bits & EPOCH, row.epoch(), expected.epoch);
        if ((bits & GROUP) != 0) {
            encoder.writeString(row.group());
        }
        text(bits & OPERATION, row.operation());
        text(bits & PROMOTED, row.promotedUnder());
        number(bits & CREDIT, row.credit(), expected.credit);
    }

    /** Number of a state in runs; never changes. */
    private static int code(PlacementState state) {
        return switch (state) {
            case UNKNOWN -> 0;
            case ABSENT -> 1;
            case WRITING -> 2;
            case SERVING -> 3;
            case COPYING -> 4;
            case LEAVING -> 5;
            case COPYING_KEEP -> 6;
        };
    }

    private void number(int bit, long value, long expected) throws IOException {
        if (bit != 0) {
            encoder.writeLong(value - expected);
        }
    }

    private void text(int bit, @Nullable String value) throws IOException {
        if (bit != 0) {
            encoder.writeBoolean(value != null);
            if (value != null) {
                encoder.writeString(value);
            }
        }
    }

    /** Refuses a row that is not a run. */
    static void require(String aggregate, byte[] value) {
        if (value.length <= KEYS || value[0] != FORMAT) {
            throw new PlacementRuns.OtherForm(aggregate, value.length == 0 ? 0 : value[0]);
        }
    }

    static Bytes namespace(byte[] run) {
        return Bytes.wrapUnshared(Arrays.copyOfRange(run, 1, TIER));
    }

    static Tier tier(byte[] run) {
        return KeyReader.tier(run[TIER]);
    }

    /** Number of placements. */
    static int count(byte[] run) {
        return run[COUNT];
    }

    /** Bytes of each key. */
    static int width(byte[] run) {
        return Byte.toUnsignedInt(run[WIDTH]);
    }

    /** The key of the placement at {@code place}, from 0. */
    static Bytes key(byte[] run, int place) {
        int from = KEYS + place * width(run);
        return Bytes.wrapUnshared(Arrays.copyOfRange(run, from, from + width(run)));
    }

    /** Compares the key at {@code place} with {@code key}, in the order of {@link Bytes}. */
    static int compareKey(byte[] run, int place, byte[] key) {
        int from = KEYS + place * width(run);
        return Arrays.compareUnsigned(run, from, from + width(run), key, 0, key.length);
    }

    /** The placement at {@code place}, from 0: those before it are passed. */
    PlacementRow row(byte[] run, int place) {
        BinaryDecoder in = open(run);
        Fields fields = new Fields();
        for (int i = 0; i <= place; i++) {
            read(in, run, i, fields);
        }
        return fields.row(run);
    }

    /** All placements, in their order, into {@code rows}, from place 0 on. */
    void rows(byte[] run, PlacementRow[] rows) {
        BinaryDecoder in = open(run);
        Fields fields = new Fields();
        for (int i = 0; i < rows.length; i++) {
            read(in, run, i, fields);
            rows[i] = fields.row(run);
        }
    }

    private BinaryDecoder open(byte[] run) {
        int from = KEYS + count(run) * width(run);
        BinaryDecoder opened = DecoderFactory.get().binaryDecoder(run, from, run.length - from, decoder);
        decoder = opened;
        return opened;
    }

    private static void read(BinaryDecoder in, byte[] run, int place, Fields fields) {
        try {
            fields.step();
            int bits = in.readInt();
            fields.touch += (bits & TOUCH) != 0 ? in.readLong() : 0;
            fields.usedMs += (bits & USED) != 0 ? in.readLong() : 0;
            fields.page += (bits & PAGE) != 0 ? (int) in.readLong() : 0;
            fields.generation += (bits & GENERATION) != 0 ? in.readLong() : 0;
            if ((bits & CRC) != 0) {
                byte[] crc = new byte[Integer.BYTES];
                in.readFixed(crc);
                fields.crc32c = (crc[0] & 0xFF) << 24 | (crc[1] & 0xFF) << 16 | (crc[2] & 0xFF) << 8 | (crc[3] & 0xFF);
            }
            fields.state = (bits & STATE) != 0 ? STATES.get(in.readInt()) : fields.state;
            fields.children += (bits & CHILDREN) != 0 ? (int) in.readLong() : 0;
            fields.parentPlace = (bits & PARENT) != 0 ? in.readInt() : place - 1;
            fields.parent = fields.parentPlace == OTHER_PARENT ? otherParent(in) : Bytes.EMPTY;
            fields.index += (bits & INDEX) != 0 ? (int) in.readLong() : 0;
            fields.stored ^= (bits & STORED) != 0;
            fields.refused ^= (bits & REFUSED) != 0;
            fields.holds += (bits & HOLDS) != 0 ? (int) in.readLong() : 0;
            fields.incarnation += (bits & INCARNATION) != 0 ? in.readLong() : 0;
            fields.epoch += (bits & EPOCH) != 0 ? in.readLong() : 0;
            fields.group = (bits & GROUP) != 0 ? in.readString() : fields.group;
            fields.operation = (bits & OPERATION) != 0 ? text(in) : fields.operation;
            fields.promotedUnder = (bits & PROMOTED) != 0 ? text(in) : fields.promotedUnder;
            fields.credit += (bits & CREDIT) != 0 ? in.readLong() : 0;
            fields.branch ^= (bits & BRANCH) != 0;
        } catch (IOException e) {
            throw new IllegalStateException("A run of " + count(run) + " placements ends early, at " + place, e);
        }
    }

    private static @Nullable String text(BinaryDecoder in) throws IOException {
        return in.readBoolean() ? in.readString() : null;
    }

    private static Bytes otherParent(BinaryDecoder in) throws IOException {
        byte[] key = new byte[(int) in.readLong()];
        in.readFixed(key);
        return Bytes.wrapUnshared(key);
    }

    /** The fields of a placement: as the one before has them, then as expected of the next one. */
    private static final class Fields {
        private PlacementState state = PlacementState.SERVING;
        private long incarnation;
        private long epoch;
        private int page = -1;
        private long generation;
        private int crc32c;
        private int index = -1;
        private Bytes parent = Bytes.EMPTY;
        private int parentPlace = NO_PARENT;
        private long touch;
        private int children = 1;
        private int holds;
        private boolean stored;
        private boolean refused;
        private String group = "";
        private long usedMs;
        private @Nullable String operation;
        private @Nullable String promotedUnder;
        private long credit;
        private boolean branch;

        /** What is expected of the next one, its parent apart. */
        void step() {
            index++;
            page += page < 0 ? 0 : 1;
        }

        int differences(PlacementRow row) {
            return bit(TOUCH, row.touch() != touch)
                    | bit(USED, row.usedMs() != usedMs)
                    | bit(PAGE, row.page() != page)
                    | bit(GENERATION, row.generation() != generation)
                    | bit(CRC, row.crc32c() != crc32c)
                    | bit(STATE, row.state() != state)
                    | bit(CHILDREN, row.children() != children)
                    | bit(PARENT, !row.parent().equals(parent))
                    | bit(INDEX, row.index() != index)
                    | bit(STORED, row.stored() != stored)
                    | bit(REFUSED, row.refused() != refused)
                    | bit(HOLDS, row.holds() != holds)
                    | bit(INCARNATION, row.incarnation() != incarnation)
                    | bit(EPOCH, row.epoch() != epoch)
                    | bit(GROUP, !row.group().equals(group))
                    | bit(OPERATION, !Objects.equals(row.operation(), operation))
                    | bit(PROMOTED, !Objects.equals(row.promotedUnder(), promotedUnder))
                    | bit(CREDIT, row.credit() != credit)
                    | bit(BRANCH, row.branch() != branch);
        }

        private static int bit(int bit, boolean set) {
            return set ? bit : 0;
        }

        void set(PlacementRow row) {
            state = row.state();
            incarnation = row.incarnation();
            epoch = row.epoch();
            page = row.page();
            generation = row.generation();
            crc32c = row.crc32c();
            index = row.index();
            touch = row.touch();
            children = row.children();
            holds = row.holds();
            stored = row.stored();
            refused = row.refused();
            group = row.group();
            usedMs = row.usedMs();
            operation = row.operation();
            promotedUnder = row.promotedUnder();
            credit = row.credit();
            branch = row.branch();
        }

        /** The placement; the bytes of its parent's key are cut out only here, for a row that is wanted. */
        PlacementRow row(byte[] run) {
            Bytes its = parentPlace < 0 ? parent : key(run, parentPlace);
            return new PlacementRow(state, incarnation, epoch, page, generation, crc32c, index, its, touch, children, holds, stored, refused, group,
                    usedMs, operation, promotedUnder, credit, branch);
        }
    }
}
