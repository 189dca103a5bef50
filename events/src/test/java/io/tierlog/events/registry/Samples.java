/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.events.registry;

import io.tierlog.events.wire.WireFormat;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.GenericDatumReader;
import org.apache.avro.generic.GenericDatumWriter;
import org.apache.avro.generic.GenericRecord;
import org.apache.avro.io.BinaryEncoder;
import org.apache.avro.io.DecoderFactory;
import org.apache.avro.io.EncoderFactory;

/** Schemas and records that use what Tierlog's use: nested records, enums with defaults, unions with null, bytes, arrays, maps, docs. */
final class Samples {
    static final String TOPIC = "tierlog.events";

    static final String PLACED_JSON =
            """
            {"type":"record","name":"BlocksPlaced","namespace":"io.tierlog.sample","doc":"Blocks that arrived. Größe in bytes.","fields":[
             {"name":"envelope","type":{"type":"record","name":"Envelope","fields":[
               {"name":"sender","type":"string"},{"name":"sequence","type":"long","doc":"from 1"}]}},
             {"name":"tier","type":{"type":"enum","name":"Tier","symbols":["UNKNOWN","DEVICE","HOST"],"default":"UNKNOWN"}},
             {"name":"keys","type":{"type":"array","items":"bytes"}},
             {"name":"causeOffset","type":["null","long"],"default":null},
             {"name":"sizes","type":{"type":"map","values":"int"},"default":{}},
             {"name":"atMs","type":{"type":"long","logicalType":"timestamp-millis"},"default":0}]}
            """;

    static final Schema PLACED = parse(PLACED_JSON);

    private Samples() {}

    static Schema parse(String json) {
        return new Schema.Parser().parse(json);
    }

    /** A record type of the given name with one int field, "a" unless more are given as JSON. */
    static Schema small(String name, String... fields) {
        String all = fields.length == 0 ? "{\"name\":\"a\",\"type\":\"int\"}" : String.join(",", fields);
        return parse("{\"type\":\"record\",\"name\":\"" + name + "\",\"namespace\":\"io.tierlog.sample\",\"fields\":[" + all + "]}");
    }

    static String subject(Schema schema) {
        return Subjects.topicRecordName(TOPIC, schema);
    }

    static GenericRecord placed() {
        GenericRecord envelope = new GenericData.Record(PLACED.getField("envelope").schema());
        envelope.put("sender", "node-1");
        envelope.put("sequence", 42L);
        GenericRecord placed = new GenericData.Record(PLACED);
        placed.put("envelope", envelope);
        placed.put("tier", new GenericData.EnumSymbol(PLACED.getField("tier").schema(), "HOST"));
        placed.put("keys", List.of(ByteBuffer.wrap(new byte[] {1, 2, 3, 4, 5, 6, 7, -8})));
        placed.put("causeOffset", 7L);
        placed.put("sizes", Map.of("host", 1 << 20));
        placed.put("atMs", 1_000L);
        return placed;
    }

    static byte[] framed(int id, GenericRecord datum) {
        try {
            ByteArrayOutputStream out = new ByteArrayOutputStream();
            BinaryEncoder encoder = EncoderFactory.get().binaryEncoder(out, null);
            new GenericDatumWriter<GenericRecord>(datum.getSchema()).write(datum, encoder);
            encoder.flush();
            return WireFormat.frame(id, out.toByteArray());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Reads a frame with the schema its id names, as a reader of the log does. */
    static GenericRecord read(SchemaIds ids, byte[] framed) {
        try {
            ByteBuffer avro = WireFormat.avro(framed);
            byte[] bytes = new byte[avro.remaining()];
            avro.get(bytes);
            Schema writer = ids.byId(WireFormat.schemaId(framed));
            return new GenericDatumReader<GenericRecord>(writer).read(null, DecoderFactory.get().binaryDecoder(bytes, null));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
