/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.audit;

import com.fasterxml.jackson.databind.JsonNode;
import io.tierlog.schemas.Sha256;
import java.io.PrintWriter;
import java.util.Base64;
import java.util.Locale;

/**
 * One HTML page without script or network: its policy allows its own style and nothing else, and every text is escaped. Dark or light as the reader's
 * system is. Static and without state.
 */
public final class HtmlPage {
    /** Width of a chart. */
    public static final int WIDTH = 860;

    /** Height of a chart. */
    public static final int HEIGHT = 220;

    /** Where its axis begins. */
    public static final int LEFT = 70;

    /** Space under it. */
    public static final int BOTTOM = 24;

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
            .bar, .f0 { fill: #2f81f7; } .f1 { fill: #d4650b; } .f2 { fill: #2da44e; } .f3 { fill: #a371f7; } .f4 { fill: #e0559a; }
            .f5 { fill: #0f9aa8; }
            """;

    private HtmlPage() {}

    /** Begins a page. */
    public static void open(PrintWriter out, String title) {
        out.println("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">");
        out.println("<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'sha256-" + digest(STYLE)
                + "'; base-uri 'none'; form-action 'none'\">");
        out.println("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>Tierlog: "
                + text(title.toLowerCase(Locale.ROOT)) + "</title>");
        out.println("<style>" + STYLE + "</style>\n</head>\n<body>\n<h1>" + text(title) + "</h1>");
    }

    /** Ends it. */
    public static void close(PrintWriter out) {
        out.println("</body>\n</html>");
    }

    /** Begins a chart with its axis; {@code most} stands at its top. */
    public static void begin(PrintWriter out, String title, String most) {
        out.println("<h2>" + text(title) + "</h2>");
        out.println("<svg viewBox=\"0 0 " + WIDTH + " " + HEIGHT + "\" role=\"img\" aria-label=\"" + text(title) + "\">");
        out.println("<path class=\"axis\" d=\"M" + LEFT + " 10V" + (HEIGHT - BOTTOM) + "H" + (WIDTH - 10) + "\"/><text x=\"" + (LEFT - 6)
                + "\" y=\"18\" text-anchor=\"end\">" + text(most) + "</text><text x=\"" + (LEFT - 6) + "\" y=\"" + (HEIGHT - BOTTOM)
                + "\" text-anchor=\"end\">0</text>");
    }

    /** Rows that have the same fields. */
    public static void table(PrintWriter out, String title, JsonNode rows) {
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
        return Base64.getEncoder().encodeToString(Sha256.of(style));
    }

    /** A coordinate. */
    public static String number(double value) {
        return String.format(Locale.ROOT, "%.1f", value);
    }

    /** A text as HTML shows it. */
    public static String text(String raw) {
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
