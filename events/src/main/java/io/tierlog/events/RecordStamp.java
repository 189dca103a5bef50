/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.events;

import io.tierlog.events.wire.WireFormat;
import io.tierlog.schemas.Envelope;
import java.nio.ByteBuffer;
import java.util.zip.CRC32C;

/**
 * Where a sender stands in its count of records to one aggregate and topic: the number of the last one and its checksum. Each record
 * carries the next number and the checksum of the one before, so that a gap, a repeat or a changed record shows. Immutable.
 *
 * @param sequence number of the last record, 0 before the first
 * @param crc32c CRC32C of the last record's Avro binary, without the frame, so that it does not depend on schema ids; 0 before the first
 */
public record RecordStamp(long sequence, int crc32c) {
    /** Before the first record. */
    public static final RecordStamp NONE = new RecordStamp(0, 0);

    /** Length of {@link #toBytes}. */
    public static final int BYTES = Long.BYTES + Integer.BYTES;

    /** {@code envelope} as the record that follows this one carries it. */
    public Envelope onto(Envelope envelope) {
        return new Envelope(
                envelope.aggregate(),
                envelope.sender(),
                envelope.incarnation(),
                sequence + 1,
                crc32c,
                envelope.timeMs(),
                envelope.cause(),
                envelope.traceContext(),
                envelope.taken(),
                envelope.repeats());
    }

    /** Where the sender stands after the record with this Avro binary, which carries {@link #onto} in its envelope. */
    public RecordStamp after(byte[] avro) {
        return new RecordStamp(sequence + 1, crc32c(avro));
    }

    /** True when {@code envelope} is the next one of the count. */
    public boolean precedes(Envelope envelope) {
        return envelope.sequence() == sequence + 1 && envelope.previousCrc32c() == crc32c;
    }

    /** The checksum that the next record's envelope carries of this Avro binary. */
    public static int crc32c(byte[] avro) {
        return crc32c(avro, 0, avro.length);
    }

    /** The same of the {@code length} bytes from {@code from} on. */
    public static int crc32c(byte[] bytes, int from, int length) {
        CRC32C crc = new CRC32C();
        crc.update(bytes, from, length);
        return (int) crc.getValue();
    }

    /** The same of the Avro binary in a record's value, which has at least its frame. */
    public static int crc32cOfFramed(byte[] framed) {
        return crc32c(framed, WireFormat.HEADER_BYTES, framed.length - WireFormat.HEADER_BYTES);
    }

    /** Twelve bytes for a table. */
    public byte[] toBytes() {
        return ByteBuffer.allocate(BYTES).putLong(sequence).putInt(crc32c).array();
    }

    /** Reads {@link #toBytes}. */
    public static RecordStamp fromBytes(byte[] bytes) {
        if (bytes.length != BYTES) {
            throw new IllegalArgumentException("a record stamp has " + BYTES + " bytes, not " + bytes.length);
        }
        ByteBuffer in = ByteBuffer.wrap(bytes);
        return new RecordStamp(in.getLong(), in.getInt());
    }
}
