/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench.report;

import com.fasterxml.jackson.annotation.JsonValue;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Named values in order: an object of a JSON report, and what a line of the text is made from. A value is text, a number, a boolean, a row, or a
 * list or map of these. Confined to one thread until its report is complete.
 */
public final class Row {
    private static final double THOUSAND = 1_000;

    private final Map<String, Object> values = new LinkedHashMap<>();

    /** Adds a value; a null value is left out. */
    public Row with(String name, @Nullable Object value) {
        if (value != null && values.put(name, value) != null) {
            throw new IllegalArgumentException("a row has one value of " + name);
        }
        return this;
    }

    /** Adds a number, rounded to three decimals. */
    public Row rounded(String name, double value) {
        return with(name, round(value));
    }

    /** {@code value} rounded to three decimals. */
    public static double round(double value) {
        return Math.round(value * THOUSAND) / THOUSAND;
    }

    /** The values, by name. */
    @JsonValue
    public Map<String, Object> values() {
        return values;
    }

    /** Whether it has a value of this name. */
    public boolean has(String name) {
        return values.containsKey(name);
    }

    /** A number that it has. */
    public double number(String name) {
        return ((Number) value(name)).doubleValue();
    }

    /** A row that it has. */
    public Row row(String name) {
        return (Row) value(name);
    }

    /** A list of rows that it has. */
    public List<Row> rows(String name) {
        return ((List<?>) value(name)).stream().map(Row.class::cast).toList();
    }

    /** A value that it has. */
    public Object value(String name) {
        Object value = values.get(name);
        if (value == null) {
            throw new IllegalStateException("the report has no " + name);
        }
        return value;
    }
}
