/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.schemas;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.tierlog.schemas.sample.Colour;
import io.tierlog.schemas.sample.EveryType;
import io.tierlog.schemas.sample.InnerSample;
import io.tierlog.schemas.sample.SampleBlock;
import io.tierlog.schemas.sample.SampleFamily;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericDatumReader;
import org.apache.avro.generic.GenericDatumWriter;
import org.apache.avro.generic.GenericRecord;
import org.apache.avro.generic.GenericRecordBuilder;
import org.apache.avro.io.BinaryEncoder;
import org.apache.avro.io.DecoderFactory;
import org.apache.avro.io.EncoderFactory;
import org.junit.jupiter.api.Test;

/** Generated records against Avro's own generic reader and writer. */
class WireTypeTest {
    private static final SampleBlock BLOCK = new SampleBlock(-3, Bytes.ofHex("0102"), Bytes.EMPTY);

    static EveryType full() {
        return new EveryType("ä\uFFFD", Bytes.ofHex("ff00"), Integer.MIN_VALUE, Long.MAX_VALUE, 1.5f, Math.PI, true, Colour.GREEN, BLOCK,
                List.of(BLOCK, new SampleBlock(1, Bytes.EMPTY, Bytes.ofHex("aa"))), List.of("", "x"), List.of(-1L, 1L << 40),
                List.of(Colour.RED), List.of(Bytes.ofHex("07")), Map.of("b", 2L, "a", 1L), Map.of("k", BLOCK), "t", Bytes.ofHex("09"), 0L,
                false, Colour.RED, BLOCK, List.of("y"), Map.of("z", Bytes.EMPTY), 7);
    }

    static EveryType bare() {
        return new EveryType("", Bytes.EMPTY, 0, 0, 0, 0, false, Colour.UNKNOWN, BLOCK, List.of(), List.of(), List.of(), List.of(),
                List.of(), Map.of(), Map.of(), null, null, null, null, null, null, null, null, 0);
    }

    @Test
    void whatIsWrittenIsRead() {
        for (EveryType value : List.of(full(), bare())) {
            assertEquals(value, EveryType.TYPE.decode(EveryType.TYPE.encode(value)));
        }
    }

    @Test
    void avroItselfReadsAndWritesTheSameBytes() throws IOException {
        for (EveryType value : List.of(full(), bare())) {
            byte[] ours = EveryType.TYPE.encode(value);
            GenericRecord theirs = new GenericDatumReader<GenericRecord>(EveryType.SCHEMA)
                    .read(null, DecoderFactory.get().binaryDecoder(ours, null));
            assertEquals(value.text(), theirs.get("text").toString());
            assertEquals(value, EveryType.TYPE.decode(generic(theirs)));
            // Avro's maps keep no order, so bytes are compared where no map has two entries.
            if (value.counts().size() < 2) {
                assertArrayEquals(ours, generic(theirs));
            }
        }
    }

    @Test
    void equalMapsGiveEqualBytes() {
        Map<String, Long> counts = new HashMap<>();
        for (int i = 0; i < 100; i++) {
            counts.put("key" + (i * 7919) % 100, 1L);
        }
        EveryType value = withCounts(counts);
        assertEquals(new ArrayList<>(counts.keySet()).stream().sorted().toList(), List.copyOf(value.counts().keySet()));
    }

    private static EveryType withCounts(Map<String, Long> counts) {
        EveryType f = full();
        return new EveryType(f.text(), f.raw(), f.number(), f.big(), f.ratio(), f.precise(), f.flag(), f.colour(), f.block(), f.blocks(),
                f.texts(), f.numbers(), f.colours(), f.raws(), counts, f.named(), f.maybeText(), f.maybeRaw(), f.maybeBig(), f.maybeFlag(),
                f.maybeColour(), f.maybeBlock(), f.maybeTexts(), f.maybeNamed(), f.default$());
    }

    @Test
    void listsAndMapsAreImmutableCopies() {
        List<SampleBlock> blocks = new ArrayList<>(List.of(BLOCK));
        InnerSample value = new InnerSample(blocks);
        blocks.clear();
        assertEquals(List.of(BLOCK), value.blocks());
        assertThrows(UnsupportedOperationException.class, () -> value.blocks().clear());
        assertThrows(UnsupportedOperationException.class, () -> full().counts().clear());
    }

    @Test
    void anOlderWriterIsReadWithDefaults() throws IOException {
        // Fields in another order, one of them unknown here, everything that has a default left out, and int where we have long.
        Schema writer = new Schema.Parser().parse("""
                {"type":"record","name":"EveryType","namespace":"io.tierlog.schemas.sample","fields":[
                  {"name":"unknown","type":{"type":"array","items":"string"}},
                  {"name":"block","type":{"type":"record","name":"SampleBlock","fields":[
                    {"name":"parent","type":"bytes"},{"name":"key","type":"bytes"},{"name":"index","type":"int"}]}},
                  {"name":"colour","type":{"type":"enum","name":"Colour","symbols":["BLUE","GREEN","UNKNOWN"],"default":"UNKNOWN"}},
                  {"name":"flag","type":"boolean"},{"name":"precise","type":"double"},{"name":"ratio","type":"float"},
                  {"name":"big","type":"int"},{"name":"number","type":"int"},{"name":"raw","type":"bytes"},{"name":"text","type":"string"},
                  {"name":"colours","type":{"type":"array","items":"Colour"}}]}""");
        GenericRecord block = new GenericRecordBuilder(writer.getField("block").schema()).set("parent", ByteBuffer.allocate(0))
                .set("key", ByteBuffer.wrap(new byte[] {1})).set("index", 5).build();
        Schema colour = writer.getField("colour").schema();
        GenericRecord old = new GenericRecordBuilder(writer).set("unknown", List.of("a", "b")).set("block", block)
                .set("colour", symbol(colour, "BLUE")).set("flag", true).set("precise", 2.0).set("ratio", 1f).set("big", 9)
                .set("number", 8).set("raw", ByteBuffer.wrap(new byte[] {3})).set("text", "old")
                .set("colours", List.of(symbol(colour, "GREEN"), symbol(colour, "BLUE"))).build();
        byte[] bytes = generic(old);
        EveryType expected = new EveryType("old", Bytes.ofHex("03"), 8, 9, 1f, 2.0, true, Colour.UNKNOWN,
                new SampleBlock(5, Bytes.ofHex("01"), Bytes.EMPTY), List.of(), List.of(), List.of(),
                List.of(Colour.GREEN, Colour.UNKNOWN), List.of(), Map.of(), Map.of(), null, null, null, null, null, null, null, null, 0);
        for (int again = 0; again < 3; again++) {
            assertEquals(expected, EveryType.TYPE.decode(bytes, writer));
            assertThrows(MalformedRecordException.class, () -> EveryType.TYPE.decode(new byte[] {2, 2}, writer));
        }
        assertNull(expected.maybeText());
    }

    private static Object symbol(Schema schema, String symbol) {
        return new org.apache.avro.generic.GenericData.EnumSymbol(schema, symbol);
    }

    private static byte[] generic(GenericRecord value) throws IOException {
        ByteArrayOutputStream buffer = new ByteArrayOutputStream();
        BinaryEncoder out = EncoderFactory.get().binaryEncoder(buffer, null);
        new GenericDatumWriter<GenericRecord>(value.getSchema()).write(value, out);
        out.flush();
        return buffer.toByteArray();
    }

    @Test
    void anEqualSchemaFromElsewhereNeedsNoResolving() {
        Schema copy = new Schema.Parser().parse(EveryType.SCHEMA.toString());
        assertEquals(full(), EveryType.TYPE.decode(EveryType.TYPE.encode(full()), copy));
    }

    @Test
    void buffersAreReadWhereTheyStand() {
        byte[] bytes = EveryType.TYPE.encode(full());
        ByteBuffer heap = ByteBuffer.allocate(bytes.length + 9).position(4).put(bytes).flip().position(4).slice();
        ByteBuffer direct = ByteBuffer.allocateDirect(bytes.length).put(bytes).flip();
        for (ByteBuffer buffer : List.of(heap, direct, heap.asReadOnlyBuffer())) {
            assertEquals(full(), EveryType.TYPE.decode(buffer, EveryType.SCHEMA));
            assertEquals(bytes.length, buffer.remaining());
        }
    }

    @Test
    void familiesAreFoundThroughSealedInterfaces() {
        assertEquals(List.of(EveryType.TYPE, InnerSample.TYPE), WireType.ofFamily(SampleFamily.class));
        assertEquals(List.of(InnerSample.TYPE), WireType.ofFamily(SampleFamily.Inner.class));
        assertSame(Envelope.TYPE, WireType.of(Envelope.class));
        assertEquals("io.tierlog.schemas.Envelope", Envelope.TYPE.fullName());
        assertThrows(IllegalArgumentException.class, () -> WireType.ofFamily(WireRecord.class));
        assertThrows(IllegalArgumentException.class, () -> WireType.of(WireRecord.class));
    }
}
