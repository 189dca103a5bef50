/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.schemas.gate;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.GenericDatumWriter;
import org.apache.avro.io.BinaryEncoder;
import org.apache.avro.io.EncoderFactory;
import org.jspecify.annotations.Nullable;

/**
 * The sample of a schema, in Avro's own generic form and written by Avro's own writer: an opinion that owes nothing to generated code.
 *
 * <p>FULL has every optional part, two items in each list and map, and a value of its own in each place; BARE has nothing that can be left
 * out, and zeros.
 */
final class Samples {
    /** How much a sample holds. */
    enum Kind { FULL, BARE }

    private final Kind kind;
    private int place;

    private Samples(Kind kind) {
        this.kind = kind;
    }

    /** The bytes of the sample of {@code schema}; the same on every call. */
    static byte[] encoded(Schema schema, Kind kind) {
        try {
            ByteArrayOutputStream buffer = new ByteArrayOutputStream();
            BinaryEncoder out = EncoderFactory.get().binaryEncoder(buffer, null);
            new GenericDatumWriter<@Nullable Object>(schema).write(new Samples(kind).value(schema, "sample"), out);
            out.flush();
            return buffer.toByteArray();
        } catch (IOException e) {
            throw new UncheckedIOException("A buffer in memory failed", e);
        }
    }

    private @Nullable Object value(Schema schema, String name) {
        boolean full = kind == Kind.FULL;
        int n = full ? ++place : 0;
        return switch (schema.getType()) {
            case STRING -> full ? name + "-" + n : "";
            case BYTES -> ByteBuffer.wrap(full ? key(n) : new byte[0]);
            case INT -> n * -1_000;
            case LONG -> n * 1_000_000_007L;
            case FLOAT -> n * 0.5f;
            case DOUBLE -> n * -0.125;
            case BOOLEAN -> full;
            case NULL -> null;
            case ENUM -> new GenericData.EnumSymbol(schema, full ? schema.getEnumSymbols().getLast() : schema.getEnumSymbols().getFirst());
            case UNION -> full ? value(schema.getTypes().get(1), name) : null;
            case ARRAY -> full ? List.of(present(schema.getElementType(), name), present(schema.getElementType(), name)) : List.of();
            case MAP -> full
                    ? new TreeMap<>(Map.of("a", present(schema.getValueType(), name), "b", present(schema.getValueType(), name)))
                    : Map.of();
            case RECORD -> {
                if (schema.getProp("runOf") != null) {
                    yield run(schema, n);
                }
                GenericData.Record record = new GenericData.Record(schema);
                schema.getFields().forEach(field -> record.put(field.pos(), value(field.schema(), field.name())));
                yield record;
            }
            case FIXED -> throw new IllegalArgumentException(schema.getFullName() + " is a fixed, which the generator refuses");
        };
    }

    /** Two blocks, whose numbers and keys fit together as any two of a run do; every other run goes down. */
    private GenericData.Record run(Schema schema, int n) {
        GenericData.Record record = new GenericData.Record(schema);
        for (Schema.Field field : schema.getFields()) {
            record.put(field.pos(), switch (field.name()) {
                case "blocks" -> run(field.schema(), n);
                case "index" -> n;
                case "down" -> n % 2 == 0;
                case "keyBytes" -> key(n).length;
                case "keys" -> ByteBuffer.allocate(2 * key(n).length).put(key(++place)).put(key(++place)).flip();
                case "crc32c" -> ByteBuffer.allocate(2 * Integer.BYTES).putInt(n).putInt(-n).flip();
                case "pages" -> List.of(n, -n);
                case "generations" -> List.of((long) n, 1L << 40);
                default -> value(field.schema(), field.name());
            });
        }
        return record;
    }

    private Object present(Schema schema, String name) {
        Object value = value(schema, name);
        if (value == null) {
            throw new IllegalArgumentException(name + " holds null in a container, which the generator refuses");
        }
        return value;
    }

    private static byte[] key(int n) {
        byte[] key = new byte[16];
        for (int i = 0; i < key.length; i++) {
            key[i] = (byte) (n * 31 + i * 17);
        }
        return key;
    }
}
