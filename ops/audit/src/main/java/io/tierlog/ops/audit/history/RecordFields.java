/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.audit.history;

import io.tierlog.events.Codec;
import io.tierlog.schemas.Runs;
import io.tierlog.schemas.WireRecord;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericArray;
import org.apache.avro.generic.GenericDatumReader;
import org.apache.avro.generic.GenericDatumWriter;
import org.apache.avro.generic.GenericRecord;
import org.apache.avro.io.BinaryDecoder;
import org.apache.avro.io.BinaryEncoder;
import org.apache.avro.io.DecoderFactory;
import org.apache.avro.io.EncoderFactory;
import org.jspecify.annotations.Nullable;

/** A record by its schema: does it name a subject, and its fields as text. Static and without state. Trade-off: it encodes and decodes the record. */
public final class RecordFields {
    private static final String ENVELOPE = "envelope";
    private static final int MAX_TEXT = 200;

    /** Fields that name an element of a list better than its position does. */
    private static final List<String> LABELS = List.of("tier", "group", "instance", "node", "name");

    /** Fields that a label has besides, where an element has them: a group may have several routes. */
    private static final List<String> ENDS = List.of("source", "target");

    private RecordFields() {}

    /** The record with its fields by name; a list of runs of blocks is one of blocks. */
    public static GenericRecord of(WireRecord record) {
        try {
            GenericRecord read = new GenericDatumReader<GenericRecord>(record.schema())
                    .read(null, DecoderFactory.get().binaryDecoder(Codec.avro(record), null));
            unpack(read);
            return read;
        } catch (IOException e) {
            throw new IllegalStateException("bytes in memory cannot fail to be read", e);
        }
    }

    private static void unpack(GenericRecord record) throws IOException {
        for (Schema.Field field : record.getSchema().getFields()) {
            Object value = record.get(field.pos());
            if (value instanceof GenericRecord inner) {
                unpack(inner);
            } else if (value instanceof GenericArray<?> list && list.getSchema().getElementType().getProp("runOf") != null) {
                record.put(field.pos(), unpacked(list));
            } else if (value instanceof Collection<?> list) {
                for (Object element : list) {
                    if (element instanceof GenericRecord inner) {
                        unpack(inner);
                    }
                }
            }
        }
    }

    /** The elements that {@code runs}, an array in Avro's generic form, stand for. */
    private static List<GenericRecord> unpacked(GenericArray<?> runs) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        BinaryEncoder out = EncoderFactory.get().binaryEncoder(bytes, null);
        new GenericDatumWriter<Object>(runs.getSchema()).write(runs, out);
        out.flush();
        BinaryDecoder in = DecoderFactory.get().binaryDecoder(bytes.toByteArray(), null);
        return Runs.read(runs.getSchema().getElementType(), in).stream().map(RecordFields::of).toList();
    }

    /** The records inside that describe the block, down from {@code record}: a Block, or what holds one; empty when it does not name the block. */
    static List<GenericRecord> ofBlock(GenericRecord record, Subject.Block block) {
        List<GenericRecord> found = new ArrayList<>();
        collect(record, block, null, found);
        return found;
    }

    private static boolean collect(GenericRecord record, Subject.Block block, @Nullable String outer, List<GenericRecord> found) {
        String namespace = outer;
        boolean isBlock = false;
        for (Schema.Field field : record.getSchema().getFields()) {
            Object value = record.get(field.pos());
            if (field.name().equals("namespace") && value instanceof CharSequence text) {
                namespace = text.toString();
            } else if (field.name().equals("key") && value instanceof ByteBuffer key) {
                isBlock = ByteBuffer.wrap(block.key()).equals(key);
            }
        }
        if (isBlock && (namespace == null || namespace.equals(block.namespace()))) {
            return true;
        }
        for (Schema.Field field : record.getSchema().getFields()) {
            Object value = record.get(field.pos());
            if (value instanceof GenericRecord inner && !field.name().equals(ENVELOPE)) {
                if (collect(inner, block, namespace, found)) {
                    return true;
                }
            } else if (value instanceof Collection<?> list) {
                for (Object element : list) {
                    if (element instanceof GenericRecord inner && collect(inner, block, namespace, found)) {
                        found.add(inner);
                    }
                }
            }
        }
        return false;
    }

    /** Whether a text of the record, outside of its envelope, is one of the ids. */
    static boolean names(GenericRecord record, Set<String> ids) {
        for (Schema.Field field : record.getSchema().getFields()) {
            if (!field.name().equals(ENVELOPE) && names(record.get(field.pos()), ids)) {
                return true;
            }
        }
        return false;
    }

    private static boolean names(@Nullable Object value, Set<String> ids) {
        return switch (value) {
            case null -> false;
            case CharSequence text -> ids.contains(text.toString());
            case GenericRecord inner -> names(inner, ids);
            case Collection<?> list -> list.stream().anyMatch(element -> names(element, ids));
            default -> false;
        };
    }

    /** The namespaces that the record names itself. */
    static Stream<String> namespaces(GenericRecord record) {
        return record.getSchema().getField("namespace") == null ? Stream.of() : Stream.of(String.valueOf(record.get("namespace")));
    }

    /** NAME=VALUE of all fields but the envelope; of lists their length, of records inside their own fields. */
    static List<String> texts(GenericRecord record, String prefix) {
        List<String> texts = new ArrayList<>();
        for (Schema.Field field : record.getSchema().getFields()) {
            Object value = record.get(field.pos());
            String name = prefix + field.name();
            switch (value) {
                case null -> {}
                case GenericRecord inner when field.name().equals(ENVELOPE) -> {}
                case GenericRecord inner -> texts.addAll(texts(inner, name.endsWith("block.block") ? prefix : name + "."));
                case Collection<?> list -> texts.add(name + "=" + list.size() + " of them");
                case ByteBuffer bytes -> {
                    if (bytes.hasRemaining()) {
                        texts.add(name + "=" + shown(hex(bytes)));
                    }
                }
                default -> {
                    if (!value.toString().isEmpty()) {
                        texts.add(name + "=" + shown(value.toString()));
                    }
                }
            }
        }
        return texts;
    }

    private static String hex(ByteBuffer bytes) {
        byte[] copy = new byte[bytes.remaining()];
        bytes.duplicate().get(copy);
        return HexFormat.of().formatHex(copy);
    }

    private static String shown(String text) {
        return text.length() <= MAX_TEXT ? text : text.substring(0, MAX_TEXT) + "...";
    }

    /** All fields, down to single values, as text under paths: elements of lists have the path LIST[ELEMENT].FIELD. Empty texts are left out. */
    public static Map<String, String> flat(WireRecord row) {
        Map<String, String> fields = new LinkedHashMap<>();
        add(fields, "", of(row));
        return fields;
    }

    private static void add(Map<String, String> fields, String path, @Nullable Object value) {
        switch (value) {
            case null -> {}
            case GenericRecord record -> record.getSchema().getFields().forEach(
                    field -> add(fields, path.isEmpty() ? field.name() : path + "." + field.name(), record.get(field.pos())));
            case Collection<?> list -> {
                Set<String> taken = new HashSet<>();
                int position = 0;
                for (Object element : list) {
                    String label = label(element, position);
                    add(fields, path + "[" + (taken.add(label) ? label : label + " " + position) + "]", element);
                    position++;
                }
            }
            case ByteBuffer bytes -> put(fields, path, hex(bytes));
            default -> put(fields, path, value.toString());
        }
    }

    private static void put(Map<String, String> fields, String path, String value) {
        if (!value.isEmpty()) {
            fields.put(path, value);
        }
    }

    private static String label(@Nullable Object element, int position) {
        if (element instanceof GenericRecord record) {
            for (String label : LABELS) {
                Schema.Field field = record.getSchema().getField(label);
                if (field != null) {
                    String text = String.valueOf(record.get(field.pos()));
                    return (text.isEmpty() ? "-" : text) + ENDS.stream().map(record.getSchema()::getField).filter(Objects::nonNull)
                            .map(end -> " " + record.get(end.pos())).collect(Collectors.joining());
                }
            }
        }
        return Integer.toString(position);
    }
}
