/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench.report;

import java.util.Locale;

/**
 * The report of a benchmark.
 *
 * @param json for programs: one object
 * @param text for people, with the last line ended
 * @param valid whether the numbers can be trusted: everything sent was answered, and answered correctly
 */
public record Report(Row json, String text, boolean valid) {
    /** Lines of text, formatted without regard to the language of the machine. */
    public static final class Text {
        private final StringBuilder lines = new StringBuilder(4_096);

        /** Adds what {@link String#format} makes of the arguments, and ends the line. */
        @SuppressWarnings("AnnotateFormatMethod") // the annotation would be a library for one method
        public Text line(String format, Object... arguments) {
            lines.append(String.format(Locale.ROOT, format, arguments)).append(System.lineSeparator());
            return this;
        }

        @Override
        public String toString() {
            return lines.toString();
        }
    }
}
