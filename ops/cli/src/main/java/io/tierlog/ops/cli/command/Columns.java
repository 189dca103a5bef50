/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.command;

import java.io.PrintWriter;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** A table for people: columns as wide as they must be, two blanks between them. Not safe for use by several threads. */
public final class Columns {
    private static final String[] UNITS = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};

    private final List<List<String>> rows = new ArrayList<>();

    /** A table with these heads. */
    public Columns(String... heads) {
        rows.add(List.of(heads));
    }

    /** Adds a row with a cell for each head. */
    public void row(Object... cells) {
        List<String> row = new ArrayList<>();
        for (Object cell : cells) {
            row.add(String.valueOf(cell));
        }
        if (row.size() != rows.getFirst().size()) {
            throw new IllegalArgumentException("a row of " + row.size() + " cells in a table of " + rows.getFirst().size());
        }
        rows.add(row);
    }

    /** Prints the table, or a sentence when it has no row. */
    public void print(PrintWriter out, String empty) {
        if (rows.size() == 1) {
            out.println(empty);
            return;
        }
        int columns = rows.getFirst().size();
        for (List<String> row : rows) {
            StringBuilder line = new StringBuilder();
            for (int i = 0; i < columns; i++) {
                int column = i;
                int width = rows.stream().mapToInt(other -> other.get(column).length()).max().orElse(0);
                line.append(i == 0 ? "" : "  ").append(row.get(i)).append(" ".repeat(width - row.get(i).length()));
            }
            out.println(line.toString().stripTrailing());
        }
    }

    /** Bytes with a unit. */
    public static String bytes(long bytes) {
        double value = bytes;
        int unit = 0;
        while (value >= 1_024 && unit < UNITS.length - 1) {
            value /= 1_024;
            unit++;
        }
        return unit == 0 ? bytes + " B" : String.format(Locale.ROOT, "%.1f %s", value, UNITS[unit]);
    }

    /** A share in percent. */
    public static String percent(double share) {
        return String.format(Locale.ROOT, "%.1f %%", share * 100);
    }

    /** A moment of log time. */
    public static String time(long ms) {
        return ms == 0 ? "-" : Instant.ofEpochMilli(ms).toString();
    }
}
