/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.audit;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.tierlog.ops.cli.Columns;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Base64;
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
    private static final int WIDTH = 860;
    private static final int HEIGHT = 220;
    private static final int LEFT = 70;
    private static final int BOTTOM = 24;
    /** Most lines of a chart; the rest is left out, the ones with the largest sums stay. */
    private static final int MAX_LINES = 8;
    private static final int MAX_ROWS = 200;

    private static final String STYLE = """
            :root { color-scheme: light dark; --ink: #1c2733; --paper: #fdfdfd; --faint: #c9d1d9; }
            @media (prefers-color-scheme: dark) { :root { --ink: #e6edf3; --paper: #12181f; --faint: #3a4552; } }
            body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); }
            body { max-width: 960px; margin: 2em auto; padding: 0 1em; }
            svg { width: 100%; height: auto; } text { fill: var(--ink); font-size: 11px; } .axis { stroke: var(--faint); fill: none; }
            .line { fill: none; stroke-width: 1.8; } table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
            td, th { text-align: left; padding: 2px 14px 2px 0; border-bottom: 1px solid var(--faint); }
            .c0 { stroke: #2f81f7; } .c1 { stroke: #d4650b; } .c2 { stroke: #2da44e; } .c3 { stroke: #a371f7; }
            .c4 { stroke: #e0559a; } .c5 { stroke: #0f9aa8; } .c6 { stroke: #b08800; } .c7 { stroke: #8b6f5c; }
            .bar { fill: #2f81f7; }
            """;

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
        out.println("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">");
        out.println("<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'sha256-" + digest(STYLE)
                + "'; base-uri 'none'; form-action 'none'\">");
        out.println("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>Tierlog: statistics of a log</title>");
        out.println("<style>" + STYLE + "</style>\n</head>\n<body>\n<h1>Statistics of a log</h1>");
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
        out.println("</body>\n</html>");
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

    private static void begin(PrintWriter out, String title, String most) {
        out.println("<h2>" + text(title) + "</h2>");
        out.println("<svg viewBox=\"0 0 " + WIDTH + " " + HEIGHT + "\" role=\"img\" aria-label=\"" + text(title) + "\">");
        out.println("<path class=\"axis\" d=\"M" + LEFT + " 10V" + (HEIGHT - BOTTOM) + "H" + (WIDTH - 10) + "\"/><text x=\"" + (LEFT - 6)
                + "\" y=\"18\" text-anchor=\"end\">" + text(most) + "</text><text x=\"" + (LEFT - 6) + "\" y=\"" + (HEIGHT - BOTTOM)
                + "\" text-anchor=\"end\">0</text>");
    }

    private static void table(PrintWriter out, String title, JsonNode rows) {
        if (rows.isEmpty()) {
            return;
        }
        out.println("<h2>" + text(title) + "</h2>\n<table><tr>");
        rows.get(0).properties().forEach(field -> out.print("<th>" + text(field.getKey().replace('_', ' ')) + "</th>"));
        out.println("</tr>");
        for (int i = 0; i < Math.min(MAX_ROWS, rows.size()); i++) {
            out.print("<tr>");
            rows.get(i).properties().forEach(field -> out.print("<td>" + text(RowTable.cell(field)) + "</td>"));
            out.println("</tr>");
        }
        out.println("</table>" + (rows.size() > MAX_ROWS ? "<p>and " + (rows.size() - MAX_ROWS) + " more: --format csv has them</p>" : ""));
    }

    private static String digest(String style) {
        try {
            return Base64.getEncoder().encodeToString(MessageDigest.getInstance("SHA-256").digest(style.getBytes(StandardCharsets.UTF_8)));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JDK has SHA-256", e);
        }
    }

    private static String number(double value) {
        return String.format(Locale.ROOT, "%.1f", value);
    }

    private static String ratio(double value) {
        return String.format(Locale.ROOT, "%.4f", value);
    }

    private static String whole(double value) {
        return String.format(Locale.ROOT, "%,.0f", value);
    }

    /** A text of the log as HTML shows it. */
    static String text(String raw) {
        StringBuilder safe = new StringBuilder();
        for (int i = 0; i < raw.length(); i++) {
            char c = raw.charAt(i);
            switch (c) {
                case '<' -> safe.append("&lt;");
                case '>' -> safe.append("&gt;");
                case '&' -> safe.append("&amp;");
                case '"' -> safe.append("&quot;");
                case '\'' -> safe.append("&#39;");
                default -> safe.append(c);
            }
        }
        return safe.toString();
    }
}
