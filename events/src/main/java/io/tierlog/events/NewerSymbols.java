/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.events;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Collection;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.apache.avro.AvroRuntimeException;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericDatumReader;
import org.apache.avro.generic.GenericEnumSymbol;
import org.apache.avro.generic.IndexedRecord;
import org.apache.avro.io.DecoderFactory;
import org.jspecify.annotations.Nullable;

/**
 * Finds symbols that a later version's writer has and the reader has not. Avro itself turns them into UNKNOWN without a word, and a
 * decision must not be made from that. Static and without state. Trade-off: records of such a writer are read twice.
 */
final class NewerSymbols {
    private NewerSymbols() {}

    /** True when a record of {@code writer} could hold such a symbol in a field that the reader reads. */
    static boolean possible(Schema writer, Schema reader) {
        return possible(writer, reader, new HashSet<>());
    }

    private static boolean possible(Schema writer, Schema reader, Set<String> seen) {
        return switch (writer.getType()) {
            case ENUM -> reader.getType() == Schema.Type.ENUM && !reader.getEnumSymbols().containsAll(writer.getEnumSymbols());
            case RECORD -> reader.getType() == Schema.Type.RECORD
                    && seen.add(writer.getFullName())
                    && reader.getFields().stream().anyMatch(field -> {
                        Schema.Field written = writer.getField(field.name());
                        return written != null && possible(written.schema(), field.schema(), seen);
                    });
            case ARRAY -> reader.getType() == Schema.Type.ARRAY && possible(writer.getElementType(), reader.getElementType(), seen);
            case MAP -> reader.getType() == Schema.Type.MAP && possible(writer.getValueType(), reader.getValueType(), seen);
            case UNION -> writer.getTypes().stream().anyMatch(branch -> possible(branch, notNull(reader), seen));
            case BOOLEAN, BYTES, DOUBLE, FIXED, FLOAT, INT, LONG, NULL, STRING -> false;
        };
    }

    /**
     * Looks through one record.
     *
     * @throws UnknownTypeException when it holds such a symbol
     */
    static void refuse(ByteBuffer avro, Schema writer, Schema reader) {
        byte[] bytes = new byte[avro.remaining()];
        avro.get(avro.position(), bytes);
        Object datum;
        try {
            datum = new GenericDatumReader<>(writer).read(null, DecoderFactory.get().binaryDecoder(bytes, null));
        } catch (IOException | AvroRuntimeException e) {
            throw new IllegalStateException("a record of " + writer.getFullName() + " could be read once and not twice", e);
        }
        refuse(datum, reader, writer.getFullName());
    }

    private static void refuse(@Nullable Object datum, Schema reader, String where) {
        switch (datum) {
            case GenericEnumSymbol<?> symbol -> {
                if (reader.getType() == Schema.Type.ENUM && !reader.hasEnumSymbol(symbol.toString())) {
                    throw new UnknownTypeException("the symbol " + symbol + " of " + reader.getFullName() + " in " + where);
                }
            }
            case IndexedRecord inner -> refuseFields(inner, reader, where);
            case Collection<?> items when reader.getType() == Schema.Type.ARRAY ->
                items.forEach(item -> refuse(item, notNull(reader.getElementType()), where));
            case Map<?, ?> entries when reader.getType() == Schema.Type.MAP ->
                entries.values().forEach(item -> refuse(item, notNull(reader.getValueType()), where));
            case null, default -> {
                // A number, a text or bytes: nothing to find.
            }
        }
    }

    private static void refuseFields(IndexedRecord inner, Schema reader, String where) {
        if (reader.getType() != Schema.Type.RECORD) {
            return;
        }
        for (Schema.Field field : reader.getFields()) {
            Schema.Field written = inner.getSchema().getField(field.name());
            if (written != null) {
                refuse(inner.get(written.pos()), notNull(field.schema()), where + "." + field.name());
            }
        }
    }

    /** The other branch of a union with null; any other schema itself. */
    private static Schema notNull(Schema schema) {
        if (schema.getType() != Schema.Type.UNION) {
            return schema;
        }
        return schema.getTypes().stream().filter(branch -> branch.getType() != Schema.Type.NULL).findFirst().orElse(schema);
    }
}
