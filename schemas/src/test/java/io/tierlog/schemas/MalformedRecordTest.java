/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.schemas;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.schemas.sample.EveryType;
import io.tierlog.schemas.sample.InnerSample;
import io.tierlog.schemas.sample.SampleBlock;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.apache.avro.Schema;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Bytes that are no record: always the same exception, never a value, never memory by the length they claim. */
class MalformedRecordTest {
    /** A writer that differs in a default only, so that the same bytes go through Avro's resolver. */
    private static final Schema RESOLVED = new Schema.Parser().parse(EveryType.SCHEMA.toString().replace("\"default\":0", "\"default\":1"));

    @Test
    void everyPrefixOfARecordIsRefused() {
        byte[] bytes = EveryType.TYPE.encode(WireTypeTest.full());
        assertEquals(WireTypeTest.full(), EveryType.TYPE.decode(bytes, RESOLVED));
        for (Schema writer : List.of(EveryType.SCHEMA, RESOLVED)) {
            for (int length = 0; length < bytes.length; length++) {
                byte[] cut = Arrays.copyOf(bytes, length);
                assertThrows(MalformedRecordException.class, () -> EveryType.TYPE.decode(cut, writer), () -> cut.length + " bytes");
            }
        }
    }

    @Test
    void bytesAfterTheRecordAreRefused() {
        byte[] bytes = EveryType.TYPE.encode(WireTypeTest.full());
        byte[] longer = Arrays.copyOf(bytes, bytes.length + 1);
        for (Schema writer : List.of(EveryType.SCHEMA, RESOLVED)) {
            MalformedRecordException e = assertThrows(MalformedRecordException.class, () -> EveryType.TYPE.decode(longer, writer));
            assertEquals("io.tierlog.schemas.sample.EveryType: 1 bytes follow the record", e.getMessage());
        }
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource(textBlock = """
            key of 2 GiB,                00 feffffff0f 00
            key of -1 bytes,             00 01 00
            key of 4 EiB,                00 feffffffffffffffff01
            number of more than 32 bits, feffffffff01 00 00
            number of 11 bytes,          8080808080808080808001 00 00
            number of more than 64 bits, 80808080808080808002 00 00
            number without end,          80
            """)
    void blocks(String what, String hex) {
        byte[] bytes = Bytes.ofHex(hex.replace(" ", "")).toArray();
        MalformedRecordException e = assertThrows(MalformedRecordException.class, () -> SampleBlock.TYPE.decode(bytes), what);
        assertEquals("io.tierlog.schemas.sample.SampleBlock", e.typeName());
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource(textBlock = """
            2^31 blocks,                     8080808010 00
            2^62 blocks,                     808080808080808080 01
            -2^63 blocks with a size,        ffffffffffffffffff01 00
            -1 blocks of more than is there, 01 7e 00
            one block and no end,            02 000000
            """)
    void lists(String what, String hex) {
        byte[] bytes = Bytes.ofHex(hex.replace(" ", "")).toArray();
        assertThrows(MalformedRecordException.class, () -> InnerSample.TYPE.decode(bytes), what);
    }

    @Test
    void listsInPartsWithSizesAreRead() {
        // two parts: -1 item of 3 bytes, then 1 item without a size
        InnerSample value = InnerSample.TYPE.decode(Bytes.ofHex("0106" + "020000" + "02" + "040000" + "00").toArray());
        assertEquals(List.of(1, 2), value.blocks().stream().map(SampleBlock::index).toList());
    }

    @Test
    void textThatIsNotUtf8IsRefused() {
        byte[] good = Envelope.TYPE.encode(new Envelope("\uFFFD", "s", 1, 1, 0, 0, null, null, null));
        assertEquals("\uFFFD", Envelope.TYPE.decode(good).aggregate());
        for (String bad : List.of("ffffff", "c328e2", "eda080")) {
            byte[] bytes = good.clone();
            System.arraycopy(Bytes.ofHex(bad).toArray(), 0, bytes, 1, 3);
            assertThrows(MalformedRecordException.class, () -> Envelope.TYPE.decode(bytes), bad);
        }
    }

    @Test
    void noiseGivesARecordThatIsWrittenBackAsItWasReadOrTheOneException() {
        SplittableRandom random = new SplittableRandom(42);
        byte[] bytes = EveryType.TYPE.encode(WireTypeTest.full());
        int refused = 0;
        for (int round = 0; round < 20_000; round++) {
            byte[] noisy = bytes.clone();
            for (int hits = random.nextInt(1, 4); hits > 0; hits--) {
                noisy[random.nextInt(noisy.length)] = (byte) random.nextInt();
            }
            Schema writer = random.nextBoolean() ? EveryType.SCHEMA : RESOLVED;
            try {
                EveryType read = EveryType.TYPE.decode(noisy, writer);
                byte[] again = EveryType.TYPE.encode(read);
                assertArrayEquals(again, EveryType.TYPE.encode(EveryType.TYPE.decode(again)));
            } catch (MalformedRecordException e) {
                refused++;
            }
        }
        assertTrue(refused > 1_000 && refused < 20_000, "refused " + refused);
    }
}
