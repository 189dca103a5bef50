/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.events.wire;

import io.tierlog.events.wire.WireFormatException.Reason;
import java.nio.ByteBuffer;

/**
 * The Confluent wire format: one byte 0, the schema id in four bytes big-endian, then the Avro binary.
 *
 * <p>Static and without state, safe for use by several threads. The source of the format is Confluent's documentation of its Schema
 * Registry, "Wire format". Trade-off: five bytes a record, and a record says nothing without the registry that gave the id.
 */
public final class WireFormat {
    /** The first byte of every framed record. */
    public static final byte MAGIC = 0;

    /** Bytes before the Avro binary. */
    public static final int HEADER_BYTES = 1 + Integer.BYTES;

    private WireFormat() {}

    /**
     * Writes the header into the first {@link #HEADER_BYTES} bytes of {@code target}, for writers that reserved them.
     *
     * @throws IllegalArgumentException when {@code schemaId} is negative or {@code target} is shorter than a header
     */
    public static void putHeader(byte[] target, int schemaId) {
        if (schemaId < 0) {
            throw new IllegalArgumentException("schema id " + schemaId + " is negative");
        }
        if (target.length < HEADER_BYTES) {
            throw new IllegalArgumentException("a header needs " + HEADER_BYTES + " bytes, there are " + target.length);
        }
        ByteBuffer.wrap(target).put(MAGIC).putInt(schemaId);
    }

    /** A new frame around {@code avro}, which is copied. */
    public static byte[] frame(int schemaId, byte[] avro) {
        byte[] framed = new byte[HEADER_BYTES + avro.length];
        putHeader(framed, schemaId);
        System.arraycopy(avro, 0, framed, HEADER_BYTES, avro.length);
        return framed;
    }

    /**
     * The schema id of a framed record, 0 or more.
     *
     * @throws WireFormatException when the bytes are no frame
     */
    public static int schemaId(byte[] framed) {
        if (framed.length < HEADER_BYTES) {
            throw new WireFormatException(
                    Reason.TOO_SHORT, "the record has " + framed.length + " bytes, a frame has at least " + HEADER_BYTES);
        }
        if (framed[0] != MAGIC) {
            throw new WireFormatException(
                    Reason.WRONG_MAGIC, "the record starts with byte " + Byte.toUnsignedInt(framed[0]) + ", a frame with " + MAGIC);
        }
        int id = ByteBuffer.wrap(framed, 1, Integer.BYTES).getInt();
        if (id < 0) {
            throw new WireFormatException(Reason.NEGATIVE_ID, "the record names schema id " + id + ", which is negative");
        }
        return id;
    }

    /**
     * The Avro binary of a framed record: a read-only view, not a copy.
     *
     * @throws WireFormatException when the bytes are no frame
     */
    public static ByteBuffer avro(byte[] framed) {
        schemaId(framed);
        return ByteBuffer.wrap(framed, HEADER_BYTES, framed.length - HEADER_BYTES).slice().asReadOnlyBuffer();
    }
}
