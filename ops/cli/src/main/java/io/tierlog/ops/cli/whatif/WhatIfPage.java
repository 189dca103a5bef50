/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.whatif;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import io.tierlog.ops.cli.audit.HtmlPage;
import io.tierlog.ops.cli.command.Columns;
import java.io.PrintWriter;
import java.util.List;
import java.util.Locale;

/** Variations as one HTML page: a chart with a bar for each variation and number, and a table of all. Static and without state. */
final class WhatIfPage {
    /** Most variations in a chart; the table has all. */
    private static final int MOST_BARS = 40;

    private static final int TOP = 16;

    private WhatIfPage() {}

    static void print(PrintWriter out, String workload, ArrayNode rows) {
        HtmlPage.open(out, "What if");
        out.println("<p>" + HtmlPage.text(workload) + "</p>");
        chart(out, rows, "Hit ratio; LRU and the clairvoyant optimum over the pooled tiers of all nodes", List.of("hit_ratio", "lru", "optimum"));
        chart(out, rows, "Hits by tier, share of the prompt blocks", List.of("device", "host", "disk", "store"));
        chart(out, rows, "Time to first token, ms", List.of("ttft_p50_ms", "ttft_p90_ms", "ttft_p99_ms"));
        chart(out, rows, "Bytes moved", List.of("loaded_bytes", "saved_bytes", "store_read_bytes", "store_written_bytes", "disk_read_bytes",
                "disk_written_bytes"));
        HtmlPage.table(out, "All numbers", rows);
        HtmlPage.close(out);
    }

    private static void chart(PrintWriter out, ArrayNode rows, String title, List<String> fields) {
        double most = 0;
        for (JsonNode row : rows) {
            for (String field : fields) {
                most = Math.max(most, row.path(field).asDouble());
            }
        }
        if (most == 0) {
            return;
        }
        HtmlPage.begin(out, title, value(fields.getFirst(), most));
        int count = Math.min(MOST_BARS, rows.size());
        double group = (HtmlPage.WIDTH - HtmlPage.LEFT - 10.0) / count;
        double width = group * 0.8 / fields.size();
        for (int i = 0; i < count; i++) {
            JsonNode row = rows.get(i);
            double left = HtmlPage.LEFT + i * group + group * 0.1;
            for (int f = 0; f < fields.size(); f++) {
                String field = fields.get(f);
                double height = row.path(field).asDouble() / most * (HtmlPage.HEIGHT - HtmlPage.BOTTOM - TOP);
                out.println("<rect class=\"f" + f + "\" x=\"" + HtmlPage.number(left + f * width) + "\" y=\""
                        + HtmlPage.number(HtmlPage.HEIGHT - HtmlPage.BOTTOM - height) + "\" width=\"" + HtmlPage.number(width * 0.9) + "\" height=\""
                        + HtmlPage.number(height) + "\"><title>" + HtmlPage.text(row.path("variation").asText() + ", " + name(field) + ": "
                                + value(field, row.path(field).asDouble())) + "</title></rect>");
            }
            out.println("<text x=\"" + HtmlPage.number(left) + "\" y=\"" + (HtmlPage.HEIGHT - 6) + "\">"
                    + HtmlPage.text(row.path("variation").asText()) + "</text>");
        }
        out.println("</svg>\n<p>");
        for (int f = 0; f < fields.size(); f++) {
            out.println("<svg class=\"key\" viewBox=\"0 0 " + HtmlPage.WIDTH
                    + " 14\"><path class=\"line c" + f + "\" d=\"M0 8H24\"/><text x=\"30\" y=\"12\">"
                    + HtmlPage.text(name(fields.get(f))) + "</text></svg>");
        }
        out.println("</p>" + (rows.size() > count ? "<p>and " + (rows.size() - count) + " more: see the table</p>" : ""));
    }

    private static String name(String field) {
        return field.replace('_', ' ');
    }

    private static String value(String field, double value) {
        if (field.endsWith("_bytes")) {
            return Columns.bytes((long) value);
        }
        return String.format(Locale.ROOT, field.endsWith("_ms") ? "%,.1f" : "%.4f", value);
    }
}
