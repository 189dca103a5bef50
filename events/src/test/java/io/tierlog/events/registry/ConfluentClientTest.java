/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.events.registry;

import static io.tierlog.events.registry.Samples.PLACED;
import static io.tierlog.events.registry.Samples.subject;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.tierlog.events.wire.WireFormat;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import org.apache.avro.generic.GenericRecord;
import org.apache.flink.avro.registry.confluent.shaded.io.confluent.kafka.schemaregistry.avro.AvroSchema;
import org.apache.flink.avro.registry.confluent.shaded.io.confluent.kafka.schemaregistry.client.CachedSchemaRegistryClient;
import org.apache.flink.avro.registry.confluent.shaded.io.confluent.kafka.schemaregistry.client.SchemaRegistryClient;
import org.apache.flink.avro.shaded.org.apache.avro.Schema;
import org.apache.flink.avro.shaded.org.apache.avro.generic.GenericData;
import org.apache.flink.avro.shaded.org.apache.avro.generic.GenericDatumReader;
import org.apache.flink.avro.shaded.org.apache.avro.generic.GenericDatumWriter;
import org.apache.flink.avro.shaded.org.apache.avro.io.BinaryEncoder;
import org.apache.flink.avro.shaded.org.apache.avro.io.DecoderFactory;
import org.apache.flink.avro.shaded.org.apache.avro.io.EncoderFactory;
import org.apache.flink.formats.avro.registry.confluent.ConfluentSchemaRegistryCoder;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Both ways between us and others, through one real registry server: Confluent's own client and Flink's code for the frame, as both come in
 * Flink's jar, with an Avro of their own.
 */
@ExtendWith(RealRegistry.class)
final class ConfluentClientTest {
    private final RegistryClient ours;
    private final SchemaRegistryClient theirs;

    ConfluentClientTest(RegistryProcess registry) {
        ours = new RegistryClient(RegistryConfig.of(registry.baseUrl()));
        theirs = new CachedSchemaRegistryClient(List.of(registry.baseUrl()), 100);
    }

    @AfterEach
    void close() throws Exception {
        ours.close();
        theirs.close();
    }

    @Test
    void whatWeWriteTheyRead() throws Exception {
        byte[] framed = Samples.framed(ours.register(subject(PLACED), PLACED), Samples.placed());

        ByteArrayInputStream in = new ByteArrayInputStream(framed);
        Schema writer = new ConfluentSchemaRegistryCoder(theirs).readSchema(in);
        Object read = new GenericDatumReader<>(writer).read(null, DecoderFactory.get().binaryDecoder(in, null));

        assertEquals(0, in.available());
        assertEquals(Samples.placed().toString(), read.toString());
    }

    @Test
    void whatTheyWriteWeRead() throws Exception {
        Schema schema = new Schema.Parser().parse(Samples.PLACED_JSON);
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        new ConfluentSchemaRegistryCoder(subject(PLACED) + "-theirs", theirs).writeSchema(schema, out);
        BinaryEncoder encoder = EncoderFactory.get().binaryEncoder(out, null);
        new GenericDatumWriter<>(schema).write(theirPlaced(schema), encoder);
        encoder.flush();

        GenericRecord read = Samples.read(ours, out.toByteArray());

        assertEquals(PLACED, read.getSchema());
        assertEquals(Samples.placed().toString(), read.toString());
        assertEquals(ByteBuffer.wrap(out.toByteArray(), WireFormat.HEADER_BYTES, out.size() - WireFormat.HEADER_BYTES),
                WireFormat.avro(Samples.framed(1, Samples.placed())));
    }

    @Test
    void bothGetTheSameIds() throws Exception {
        String subject = subject(PLACED) + "-both";
        int id = ours.register(subject, PLACED);

        assertEquals(id, theirs.register(subject, new AvroSchema(Samples.PLACED_JSON)));
        assertEquals(id, theirs.getId(subject, new AvroSchema(Samples.PLACED_JSON)));
    }

    @Test
    void theySeeTheRuleWeSet() throws Exception {
        String subject = subject(PLACED) + "-ruled";
        ours.requireFullTransitive(subject);

        assertEquals("FULL_TRANSITIVE", theirs.getCompatibility(subject));
    }

    private static GenericData.Record theirPlaced(Schema schema) {
        GenericData.Record envelope = new GenericData.Record(schema.getField("envelope").schema());
        envelope.put("sender", "node-1");
        envelope.put("sequence", 42L);
        GenericData.Record placed = new GenericData.Record(schema);
        placed.put("envelope", envelope);
        placed.put("tier", new GenericData.EnumSymbol(schema.getField("tier").schema(), "HOST"));
        placed.put("keys", List.of(ByteBuffer.wrap(new byte[] {1, 2, 3, 4, 5, 6, 7, -8})));
        placed.put("causeOffset", 7L);
        placed.put("sizes", Map.of("host", 1 << 20));
        placed.put("atMs", 1_000L);
        return placed;
    }
}
