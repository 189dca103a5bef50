/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.events;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.events.registry.BundledSchemaIds;
import io.tierlog.events.registry.Credentials;
import io.tierlog.events.registry.RegistryClient;
import io.tierlog.events.registry.RegistryConfig;
import io.tierlog.events.registry.RegistryLimits;
import io.tierlog.events.registry.RegistryUnavailableException;
import io.tierlog.events.wire.WireFormat;
import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.OperationReason;
import io.tierlog.schemas.RequestReason;
import io.tierlog.schemas.SkipReason;
import io.tierlog.schemas.decision.PartitionOpened;
import io.tierlog.schemas.event.CommandRefused;
import io.tierlog.schemas.event.Event;
import io.tierlog.schemas.event.RequestFinished;
import io.tierlog.schemas.event.Tick;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.GenericDatumReader;
import org.apache.avro.generic.GenericDatumWriter;
import org.apache.avro.generic.GenericRecord;
import org.apache.avro.io.BinaryEncoder;
import org.apache.avro.io.DecoderFactory;
import org.apache.avro.io.EncoderFactory;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Every answer that a reader of events can give. */
class RecordReaderTest {
    private static final Envelope ENVELOPE = new Envelope("clock/0", "clock/0", 0, 1, 0, 5, null, null, null);
    private static final Tick TICK = new Tick(ENVELOPE, 5);

    private final Codec codec = new Codec(Schemas.bundled());
    private final RecordReader<Event> reader = codec.reader(Event.class);

    @Test
    void whatWasEncodedIsDecoded() {
        assertEquals(new Reading.Decoded<Event>(TICK), reader.read(codec.encode("t", TICK)));
    }

    @Test
    void noValueIsUnreadable() {
        assertUnreadable(SkipReason.NOT_AVRO, null);
    }

    @Test
    void textIsUnreadable() {
        assertUnreadable(SkipReason.NOT_AVRO, "hello, world".getBytes(StandardCharsets.UTF_8));
    }

    @Test
    void anUnknownIdIsUnreadable() {
        assertUnreadable(SkipReason.UNKNOWN_SCHEMA_ID, WireFormat.frame(77, Codec.avro(TICK)));
    }

    @Test
    void halfARecordIsUnreadable() {
        byte[] whole = codec.encode("t", TICK);
        assertUnreadable(SkipReason.MALFORMED, Arrays.copyOf(whole, whole.length - 1));
    }

    @Test
    void aRecordOfAnotherFamilyIsUnreadable() {
        assertUnreadable(SkipReason.NOT_AN_EVENT, codec.encode("t", new PartitionOpened(ENVELOPE, 1, "c")));
    }

    @Test
    void aTypeOfALaterVersionStopsTheReader() throws IOException {
        Schema later = new Schema.Parser().parse("""
                {"type": "record", "name": "BlocksDreamt", "namespace": "io.tierlog.schemas.event",
                 "fields": [{"name": "n", "type": "int"}]}""");
        GenericRecord value = new GenericData.Record(later);
        value.put("n", 1);
        RecordReader<Event> newer = readerOf(later);
        UnknownTypeException e = assertThrows(UnknownTypeException.class, () -> newer.read(written(later, value)));
        assertTrue(String.valueOf(e.getMessage()).contains("io.tierlog.schemas.event.BlocksDreamt"), e.getMessage());
        assertTrue(String.valueOf(e.getMessage()).contains("upgrade"), e.getMessage());
    }

    @Test
    void aSymbolOfALaterVersionStopsTheReader() throws IOException {
        Schema later = withSymbol(RequestFinished.SCHEMA, "io.tierlog.schemas.RequestReason", "DREAMT");
        GenericRecord value = generic(new RequestFinished(ENVELOPE, "r", 1, RequestReason.COMPLETED, 3), later);
        value.put("reason", new GenericData.EnumSymbol(later.getField("reason").schema(), "DREAMT"));
        RecordReader<Event> newer = readerOf(later);
        byte[] bytes = written(later, value);
        UnknownTypeException e = assertThrows(UnknownTypeException.class, () -> newer.read(bytes));
        assertTrue(String.valueOf(e.getMessage()).contains("DREAMT"), e.getMessage());
        assertTrue(String.valueOf(e.getMessage()).contains("RequestFinished.reason"), e.getMessage());
    }

    @Test
    void aLaterVersionsRecordWithoutNewSymbolsIsReadAsEver() throws IOException {
        Schema later = withSymbol(CommandRefused.SCHEMA, "io.tierlog.schemas.OperationReason", "DREAMT");
        CommandRefused value = new CommandRefused(ENVELOPE, "c", 1, "o", OperationReason.NO_ROOM, "full");
        assertEquals(new Reading.Decoded<Event>(value), readerOf(later).read(written(later, generic(value, later))));
    }

    @Test
    void aRegistryThatIsNotThereIsNoAnswer() throws IOException {
        int unusedPort;
        try (ServerSocket socket = new ServerSocket(0)) {
            unusedPort = socket.getLocalPort();
        }
        RegistryLimits quick = new RegistryLimits(100, 200, 500, 2, 1, 1, 1_000, 10, 0);
        RegistryConfig config = new RegistryConfig(
                List.of(URI.create("http://127.0.0.1:" + unusedPort)), Credentials.NONE, quick);
        try (RegistryClient client = new RegistryClient(config)) {
            RecordReader<Event> lonely = new Codec(client).reader(Event.class);
            byte[] bytes = codec.encode("t", TICK);
            assertThrows(RegistryUnavailableException.class, () -> lonely.read(bytes));
        }
    }

    private void assertUnreadable(SkipReason reason, byte @Nullable [] bytes) {
        Reading.Unreadable<?> bad = assertInstanceOf(Reading.Unreadable.class, reader.read(bytes));
        assertEquals(reason, bad.reason(), bad.detail());
    }

    private static RecordReader<Event> readerOf(Schema later) {
        List<Schema> schemas = new ArrayList<>(List.of(later));
        schemas.addAll(Schemas.current());
        return new Codec(new BundledSchemaIds(schemas)).reader(Event.class);
    }

    /** {@code schema} with one more symbol in one of its enums, as a later version has it. */
    private static Schema withSymbol(Schema schema, String enumName, String symbol) {
        String shortName = enumName.substring(enumName.lastIndexOf('.') + 1);
        String text = schema.toString();
        int at = text.indexOf("\"name\":\"" + shortName + "\"");
        int symbols = text.indexOf("\"symbols\":[", at) + "\"symbols\":[".length();
        int end = text.indexOf(']', symbols);
        return new Schema.Parser().parse(text.substring(0, end) + ",\"" + symbol + "\"" + text.substring(end));
    }

    private static GenericRecord generic(Event value, Schema as) throws IOException {
        GenericDatumReader<GenericRecord> reader = new GenericDatumReader<>(value.schema(), as);
        return reader.read(null, DecoderFactory.get().binaryDecoder(Codec.avro(value), null));
    }

    private static byte[] written(Schema schema, GenericRecord value) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        BinaryEncoder encoder = EncoderFactory.get().binaryEncoder(out, null);
        new GenericDatumWriter<GenericRecord>(schema).write(value, encoder);
        encoder.flush();
        return WireFormat.frame(BundledSchemaIds.idOf(schema), out.toByteArray());
    }
}
