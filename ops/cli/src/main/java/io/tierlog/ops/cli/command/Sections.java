/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.command;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** A report for people: titled sections of a label and a value on each line. Not thread-safe. */
public final class Sections {
    /** Width of the labels. */
    public static final int LABEL = 30;

    private final List<String> lines = new ArrayList<>();

    /** The lines so far, without line ends. */
    public List<String> lines() {
        return List.copyOf(lines);
    }

    /** Begins a section. */
    public void title(String title) {
        if (!lines.isEmpty()) {
            lines.add("");
        }
        lines.add(title);
    }

    /** Adds a line to the section. */
    public void row(String label, String value) {
        lines.add("  " + label + " ".repeat(Math.max(1, LABEL - label.length())) + value);
    }

    /** Right-aligned in the first column of numbers. */
    public static String pad(String text) {
        return String.format(Locale.ROOT, "%10s", text);
    }

    /** A number, and its share of the whole in percent. */
    public static String share(long part, long whole) {
        return pad(count(part)) + String.format(Locale.ROOT, "  %5.1f %%", whole == 0 ? 0.0 : 100.0 * part / whole);
    }

    /** A ratio, 0 to 1, with four digits. */
    public static String ratio(double ratio) {
        return String.format(Locale.ROOT, "%.4f", ratio);
    }

    /** A number with its thousands separated. */
    public static String count(long number) {
        return String.format(Locale.ROOT, "%,d", number);
    }

    /** Bytes with a unit. */
    public static String bytes(long bytes) {
        if (bytes < 1 << 20) {
            return String.format(Locale.ROOT, "%.1f KiB", bytes / 1024.0);
        }
        return bytes < 1L << 30
                ? String.format(Locale.ROOT, "%.1f MiB", bytes / 1048576.0)
                : String.format(Locale.ROOT, "%.2f GiB", bytes / 1073741824.0);
    }

    /** The title of columns for {@link #times}. */
    public static String timesTitle() {
        return "Times in ms" + " ".repeat(LABEL - 9) + "     p50       p90       p99     count";
    }

    /** Percentiles in milliseconds, and how many times there were. */
    public static String times(double p50, double p90, double p99, long count) {
        return String.format(Locale.ROOT, "%10.1f%10.1f%10.1f%10s", p50, p90, p99, count(count));
    }
}
