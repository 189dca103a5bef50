/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.audit.state;

import io.tierlog.ops.audit.history.RecordFields;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.WireRecord;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericRecord;
import org.jspecify.annotations.Nullable;

/** The fields of two versions of a row, compared one by one. Static and without state. */
final class RowFields {
    private static final String NONE = "-";

    /** Fields that name an element of a list better than its position does. */
    private static final List<String> LABELS = List.of("tier", "group", "instance", "node", "name");

    private RowFields() {}

    /** The fields that differ; all of them when the row was added or removed. Elements of lists have the path LIST[ELEMENT].FIELD. */
    static List<StateDiff.Field> difference(@Nullable WireRecord before, @Nullable WireRecord after) {
        Map<String, String> was = before == null ? Map.of() : flat(before);
        Map<String, String> is = after == null ? Map.of() : flat(after);
        Set<String> paths = new LinkedHashSet<>(is.keySet());
        paths.addAll(was.keySet());
        List<StateDiff.Field> fields = new ArrayList<>();
        for (String path : paths) {
            String one = was.getOrDefault(path, NONE);
            String other = is.getOrDefault(path, NONE);
            if (!one.equals(other)) {
                fields.add(new StateDiff.Field(path, one, other));
            }
        }
        return fields;
    }

    private static Map<String, String> flat(WireRecord row) {
        Map<String, String> fields = new LinkedHashMap<>();
        add(fields, "", RecordFields.of(row));
        return fields;
    }

    private static void add(Map<String, String> fields, String path, @Nullable Object value) {
        switch (value) {
            case null -> {}
            case GenericRecord record -> record.getSchema().getFields().forEach(
                    field -> add(fields, path.isEmpty() ? field.name() : path + "." + field.name(), record.get(field.pos())));
            case Collection<?> list -> {
                int position = 0;
                for (Object element : list) {
                    add(fields, path + "[" + label(element, position++) + "]", element);
                }
            }
            case ByteBuffer bytes -> {
                byte[] copy = new byte[bytes.remaining()];
                bytes.duplicate().get(copy);
                put(fields, path, Bytes.wrapUnshared(copy).hex());
            }
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
                    return text.isEmpty() ? NONE : text;
                }
            }
        }
        return Integer.toString(position);
    }
}
