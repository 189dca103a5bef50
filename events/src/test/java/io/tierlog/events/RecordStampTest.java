/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.events;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.event.Tick;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

/** Numbers and checksums of a sender's records, and where records go. */
class RecordStampTest {
    private static final Envelope BLANK = new Envelope("clock/3", "clock/3", 7, 0, 0, 9, "cause", "trace", null);

    @Test
    void aGapARepeatAndAChangeShow() {
        Tick first = new Tick(RecordStamp.NONE.onto(BLANK), 1_000);
        RecordStamp afterFirst = RecordStamp.NONE.after(Codec.avro(first));
        Tick second = new Tick(afterFirst.onto(BLANK), 2_000);
        RecordStamp afterSecond = afterFirst.after(Codec.avro(second));
        Tick third = new Tick(afterSecond.onto(BLANK), 3_000);

        assertEquals(1, first.envelope().sequence());
        assertEquals(0, first.envelope().previousCrc32c());
        assertTrue(RecordStamp.NONE.precedes(first.envelope()));
        assertTrue(afterFirst.precedes(second.envelope()));
        assertFalse(afterFirst.precedes(third.envelope()), "a gap");
        assertFalse(afterSecond.precedes(second.envelope()), "a repeat");
        RecordStamp afterForged = RecordStamp.NONE.after(Codec.avro(new Tick(first.envelope(), 1_001)));
        assertFalse(afterForged.precedes(second.envelope()), "the first was changed");
    }

    @Test
    void theRestOfTheEnvelopeStays() {
        assertEquals(new Envelope("clock/3", "clock/3", 7, 6, 77, 9, "cause", "trace", null), new RecordStamp(5, 77).onto(BLANK));
    }

    @Test
    void theChecksumIsCrc32c() {
        // The check value of CRC-32C (Castagnoli), as in RFC 3720 appendix B.4's polynomial: CRC of "123456789".
        assertEquals(0xE3069283, RecordStamp.crc32c("123456789".getBytes(StandardCharsets.US_ASCII)));
    }

    @Test
    void itsBytesComeBack() {
        RecordStamp stamp = new RecordStamp(Long.MAX_VALUE, -5);
        assertEquals(stamp, RecordStamp.fromBytes(stamp.toBytes()));
        assertThrows(IllegalArgumentException.class, () -> RecordStamp.fromBytes(new byte[11]));
    }

    @Test
    void partitionsAreKafkasOwnExceptForClocks() {
        // Kafka's default: (murmur2 & 0x7fffffff) % partitions; murmur2("21") = -973932308 as in Kafka's own UtilsTest.
        assertEquals((-973932308 & 0x7fffffff) % 5, Partitions.of("21", 5));
        assertEquals(4, Partitions.of("clock/4", 5));
        assertThrows(IllegalArgumentException.class, () -> Partitions.of("clock/5", 5));
        assertThrows(IllegalArgumentException.class, () -> Partitions.of("clock/04", 5));
        assertThrows(IllegalArgumentException.class, () -> Partitions.of("clock/", 5));
        assertThrows(IllegalArgumentException.class, () -> Partitions.of("clock/-1", 5));
        assertThrows(IllegalArgumentException.class, () -> Partitions.of("clock/99999999999", 5));
    }
}
