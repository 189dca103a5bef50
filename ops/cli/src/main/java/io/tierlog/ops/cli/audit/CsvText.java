/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.audit;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import java.io.PrintWriter;
import java.util.Map;
import java.util.stream.Collectors;

/** Rows as CSV (RFC 4180): a line with the names of the fields, then one for each row. Static and without state. */
public final class CsvText {
    private CsvText() {}

    /** Prints the rows. */
    public static void print(PrintWriter out, ArrayNode rows) {
        if (!rows.isEmpty()) {
            out.print(rows.get(0).properties().stream().map(Map.Entry::getKey).collect(Collectors.joining(",")) + "\r\n");
            for (JsonNode row : rows) {
                out.print(row.valueStream().map(CsvText::cell).collect(Collectors.joining(",")) + "\r\n");
            }
        }
    }

    private static String cell(JsonNode value) {
        String text = value.isNull() ? "" : value.asText();
        // A spreadsheet would run a text that begins like a formula.
        String safe = value.isTextual() && !text.isEmpty() && "=+-@\t\r".indexOf(text.charAt(0)) >= 0 ? "'" + text : text;
        boolean quoted = safe.chars().anyMatch(c -> c == ',' || c == '"' || c == '\n' || c == '\r');
        return quoted ? '"' + safe.replace("\"", "\"\"") + '"' : safe;
    }
}
