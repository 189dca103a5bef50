/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.audit;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import io.tierlog.ops.cli.command.Columns;
import java.util.Iterator;
import java.util.Locale;
import java.util.Map;

/** Rows of the JSON output as a table for people: what programs and people read is made once. Static and without state. */
public final class RowTable {
    /** Values of fields in milliseconds that are this high are moments, lower ones are durations. */
    private static final long FIRST_MOMENT_MS = 100_000_000_000L;

    private static final String MS = "_ms";

    private RowTable() {}

    /** A table of rows that have the same fields; its heads are the names of the fields, and {@code name} where there is no row. */
    public static Columns of(String name, ArrayNode rows) {
        if (rows.isEmpty()) {
            return new Columns(name.toUpperCase(Locale.ROOT));
        }
        Columns table = new Columns(rows.get(0).properties().stream().map(RowTable::head).toArray(String[]::new));
        for (JsonNode row : rows) {
            Object[] cells = new Object[row.size()];
            Iterator<Map.Entry<String, JsonNode>> fields = row.properties().iterator();
            for (int i = 0; i < cells.length; i++) {
                cells[i] = cell(fields.next());
            }
            table.row(cells);
        }
        return table;
    }

    private static String head(Map.Entry<String, JsonNode> field) {
        String name = isMoment(field) ? field.getKey().substring(0, field.getKey().length() - MS.length()) : field.getKey();
        return name.replace('_', ' ').toUpperCase(Locale.ROOT);
    }

    private static boolean isMoment(Map.Entry<String, JsonNode> field) {
        return field.getKey().endsWith(MS) && field.getValue().asLong() >= FIRST_MOMENT_MS;
    }

    /** A value as people read it. */
    static String cell(Map.Entry<String, JsonNode> field) {
        JsonNode value = field.getValue();
        if (value.isNull() || value.asText().isEmpty()) {
            return "-";
        }
        if (field.getKey().endsWith("_bytes")) {
            return Columns.bytes(value.asLong());
        }
        if (isMoment(field)) {
            return Columns.time(value.asLong());
        }
        return value.isDouble() ? String.format(Locale.ROOT, "%.4f", value.asDouble()) : value.asText();
    }
}
