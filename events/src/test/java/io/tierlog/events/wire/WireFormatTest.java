/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.events.wire;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.events.wire.WireFormatException.Reason;
import java.nio.ByteBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class WireFormatTest {
    @Test
    void aFrameIsMagicIdAndAvro() {
        byte[] framed = WireFormat.frame(0x01020304, new byte[] {7, 8});

        assertArrayEquals(new byte[] {0, 1, 2, 3, 4, 7, 8}, framed);
        assertEquals(0x01020304, WireFormat.schemaId(framed));
        assertEquals(ByteBuffer.wrap(new byte[] {7, 8}), WireFormat.avro(framed));
    }

    @ParameterizedTest
    @CsvSource({"0", "1", "255", "1073741824", "2147483647"})
    void everyIdComesBack(int id) {
        assertEquals(id, WireFormat.schemaId(WireFormat.frame(id, new byte[0])));
        assertEquals(0, WireFormat.avro(WireFormat.frame(id, new byte[0])).remaining());
    }

    @Test
    void theAvroPartStartsAtItsOwnZeroAndCannotBeWritten() {
        ByteBuffer avro = WireFormat.avro(WireFormat.frame(1, new byte[] {9}));

        assertEquals(0, avro.position());
        assertEquals(9, avro.get(0));
        assertTrue(avro.isReadOnly());
    }

    @Test
    void theHeaderGoesWhereTheWriterReservedIt() {
        byte[] reserved = {-1, -1, -1, -1, -1, 42};

        WireFormat.putHeader(reserved, 258);

        assertArrayEquals(new byte[] {0, 0, 0, 1, 2, 42}, reserved);
        assertThrows(IllegalArgumentException.class, () -> WireFormat.putHeader(new byte[4], 1));
        assertThrows(IllegalArgumentException.class, () -> WireFormat.putHeader(new byte[5], -1));
    }

    @Test
    void bytesThatAreNotAFrameHaveAReason() {
        assertEquals(Reason.TOO_SHORT, reason(new byte[0]));
        assertEquals(Reason.TOO_SHORT, reason(new byte[] {0, 0, 0, 1}));
        assertEquals(Reason.WRONG_MAGIC, reason("{\"a\":1}".getBytes(java.nio.charset.StandardCharsets.UTF_8)));
        assertEquals(Reason.NEGATIVE_ID, reason(new byte[] {0, -1, -1, -1, -1}));
    }

    private static Reason reason(byte[] bytes) {
        assertThrows(WireFormatException.class, () -> WireFormat.avro(bytes));
        return assertThrows(WireFormatException.class, () -> WireFormat.schemaId(bytes)).reason();
    }
}
