/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.policy;

import java.math.BigDecimal;
import java.util.List;

/** A parsed document. Immutable; every node has its line, from 1. */
sealed interface Node {
    int line();

    /** Its type and value for messages. */
    default String what() {
        return switch (this) {
            case Mapping _ -> "a mapping";
            case Items _ -> "a list";
            case Text(String value, _) -> "the text '" + (value.length() > 40 ? value.substring(0, 40) + "..." : value) + "'";
            case Decimal(BigDecimal value, _) -> value.toString();
            case NotFinite(double value, _) -> Double.isNaN(value) ? "NaN" : "infinite";
            case Flag(boolean value, _) -> Boolean.toString(value);
            case Nothing _ -> "empty";
        };
    }

    /** Keys in the order of the document; a key may come twice. */
    record Mapping(List<Entry> entries, int line) implements Node {}

    /** One key of a mapping. */
    record Entry(String key, Node value, int line) {}

    /** A list. */
    record Items(List<Node> values, int line) implements Node {}

    /** A text: not a number, flag or null. */
    record Text(String value, int line) implements Node {}

    /** A number, exactly as it was written. */
    record Decimal(BigDecimal value, int line) implements Node {}

    /** {@code .nan} or {@code .inf}. */
    record NotFinite(double value, int line) implements Node {}

    /** True or false. */
    record Flag(boolean value, int line) implements Node {}

    /** Nothing, or null. */
    record Nothing(int line) implements Node {}
}
