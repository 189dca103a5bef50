/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.audit;

import static io.tierlog.ops.cli.audit.HtmlPage.BOTTOM;
import static io.tierlog.ops.cli.audit.HtmlPage.HEIGHT;
import static io.tierlog.ops.cli.audit.HtmlPage.LEFT;
import static io.tierlog.ops.cli.audit.HtmlPage.WIDTH;
import static io.tierlog.ops.cli.audit.HtmlPage.begin;
import static io.tierlog.ops.cli.audit.HtmlPage.number;
import static io.tierlog.ops.cli.audit.HtmlPage.table;
import static io.tierlog.ops.cli.audit.HtmlPage.text;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.tierlog.ops.cli.command.Columns;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeSet;

/**
 * Statistics as one HTML page: charts as SVG, no script, nothing from a network. Its policy allows its own style and nothing else, and every text of
 * the log is escaped. Dark or light as the reader's system is. For one thread.
 */
final class StatsPage {
    /** Most lines of a chart; the rest is left out, the ones with the largest sums stay. */
    private static final int MAX_LINES = 8;

    private final ObjectNode json;
    private final String by;

    /**
     * @param json the statistics, as {@code --format json} prints them
     * @param by the field of a row of the series that names its line
     */
    StatsPage(ObjectNode json, String by) {
        this.json = json;
        this.by = by;
    }

    void print(PrintWriter out) {
        HtmlPage.open(out, "Statistics of a log");
        out.println("<p>" + text(Columns.time(json.path("from_ms").asLong())) + " to " + text(Columns.time(json.path("to_ms").asLong()))
                + ", hit ratio " + ratio(json.path("hit_ratio").asDouble()) + " of " + json.path("block_accesses").asLong() + " prompt blocks</p>");
        String each = "each " + json.path("every_ms").asLong() / 1_000.0 + " s";
        lines(out, "Hit ratio, " + each, "hit_ratio");
        lines(out, "Bytes moved, " + each, "moved_bytes");
        lines(out, "Blocks that left a tier, " + each, "evicted_blocks");
        bars(out, "Other blocks used between two uses of a block on a node", json.path("reuse_distance"));
        bars(out, "Time between two uses of a block on a node, ms", json.path("idle_time_ms"));
        table(out, "Prefixes that saved most, by their first block", json.path("top_prefixes"));
        if (json.has("rows")) {
            table(out, "By " + by, json.path("rows"));
        }
        table(out, "Numbers, " + each, json.path("series"));
        HtmlPage.close(out);
    }

    private void lines(PrintWriter out, String title, String field) {
        Map<String, Map<Long, Double>> all = new LinkedHashMap<>();
        TreeSet<Long> times = new TreeSet<>();
        double most = 0;
        for (JsonNode row : json.path("series")) {
            if (row.has(field)) {
                times.add(row.path("time_ms").asLong());
                all.computeIfAbsent(row.path(by).asText(), name -> new LinkedHashMap<>())
                        .put(row.path("time_ms").asLong(), row.path(field).asDouble());
                most = Math.max(most, row.path(field).asDouble());
            }
        }
        if (times.isEmpty()) {
            return;
        }
        begin(out, title, field.equals("hit_ratio") ? ratio(most) : field.equals("moved_bytes") ? Columns.bytes((long) most) : whole(most));
        long first = times.first();
        double span = Math.max(1, times.last() - first);
        List<Map.Entry<String, Map<Long, Double>>> largest = new ArrayList<>(all.entrySet());
        largest.sort((a, b) -> Double.compare(sum(b.getValue()), sum(a.getValue())));
        int color = 0;
        for (Map.Entry<String, Map<Long, Double>> line : largest.subList(0, Math.min(MAX_LINES, largest.size()))) {
            StringBuilder points = new StringBuilder();
            for (Map.Entry<Long, Double> point : line.getValue().entrySet()) {
                points.append(number(LEFT + (point.getKey() - first) / span * (WIDTH - LEFT - 10))).append(',')
                        .append(number(HEIGHT - BOTTOM - (most == 0 ? 0 : point.getValue() / most) * (HEIGHT - BOTTOM - 16))).append(' ');
            }
            out.println("<polyline class=\"line c" + color++ + "\" points=\"" + points.toString().strip() + "\"><title>" + text(line.getKey())
                    + "</title></polyline>");
        }
        out.println("<text x=\"" + LEFT + "\" y=\"" + (HEIGHT - 6) + "\">" + text(Columns.time(first)) + "</text>");
        out.println("<text x=\"" + (WIDTH - 10) + "\" y=\"" + (HEIGHT - 6) + "\" text-anchor=\"end\">" + text(Columns.time(times.last()))
                + "</text>\n</svg>");
        out.println("<p>");
        for (int i = 0; i < Math.min(MAX_LINES, largest.size()); i++) {
            out.println("<svg class=\"key\" viewBox=\"0 0 " + WIDTH + " 14\"><path class=\"line c" + i + "\" d=\"M0 8H24\"/><text x=\"30\" y=\"12\">"
                    + text(largest.get(i).getKey()) + "</text></svg>");
        }
        out.println("</p>" + (largest.size() > MAX_LINES ? "<p>and " + (largest.size() - MAX_LINES) + " more: see the table</p>" : ""));
    }

    private static double sum(Map<Long, Double> line) {
        return line.values().stream().mapToDouble(Double::doubleValue).sum();
    }

    private static void bars(PrintWriter out, String title, JsonNode buckets) {
        double most = 0;
        for (JsonNode bucket : buckets) {
            most = Math.max(most, bucket.path("count").asDouble());
        }
        if (most == 0) {
            return;
        }
        begin(out, title, whole(most));
        double width = (WIDTH - LEFT - 10.0) / buckets.size();
        for (int i = 0; i < buckets.size(); i++) {
            double height = buckets.get(i).path("count").asDouble() / most * (HEIGHT - BOTTOM - 16);
            double x = LEFT + i * width;
            out.println("<rect class=\"bar\" x=\"" + number(x) + "\" y=\"" + number(HEIGHT - BOTTOM - height) + "\" width=\"" + number(width - 2)
                    + "\" height=\"" + number(height) + "\"><title>" + buckets.get(i).path("from") + " to " + buckets.get(i).path("to") + ": "
                    + buckets.get(i).path("count") + "</title></rect>");
            out.println("<text x=\"" + number(x) + "\" y=\"" + (HEIGHT - 6) + "\">" + buckets.get(i).path("from") + "</text>");
        }
        out.println("</svg>");
    }

    private static String ratio(double value) {
        return String.format(Locale.ROOT, "%.4f", value);
    }

    private static String whole(double value) {
        return String.format(Locale.ROOT, "%,.0f", value);
    }
}
