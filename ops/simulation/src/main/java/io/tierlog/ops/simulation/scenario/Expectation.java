/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.simulation.scenario;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Compares what was expected with what is: given fields must be equal, others are free. A number may be given as {"min":..,"max":..}.
 *
 * <p>Operations must be those of the kinds that are expected, all of them and in order of issue; an empty list says that there were none of any kind.
 * Loads are between engine and agent, and count only where they are expected. Marks must be those that are expected, and no others. Facts of the log
 * must come one after the other, others between them. Without state.
 */
final class Expectation {
    /** Where the second reading of the operations stands among what is compared. */
    static final String CHANGED = "operations_changed";

    private static final String LOAD_BACK = "LOAD_BACK";

    private Expectation() {}

    /** Finds wrong names before anything runs. */
    static void check(Fields f) {
        Map.of("requests", true, "free", true, "outcomes", true, "counters", true, "migrations", true).forEach((name, any) -> {
            JsonNode node = f.get(name);
            if (node != null && !node.isObject()) {
                throw f.error("wants an object in \"" + name + "\"");
            }
        });
        for (String name : List.of("operations", "placements", "absent", "store", "marks", "moves", "log", "beliefs")) {
            JsonNode node = f.get(name);
            if (node != null && !node.isArray()) {
                throw f.error("wants a list in \"" + name + "\"");
            }
        }
        for (String name : List.of("leases", "pins")) {
            JsonNode node = f.get(name);
            if (node != null && !node.isIntegralNumber() && !isRange(node)) {
                throw f.error("wants a number, or {\"min\":..,\"max\":..}, in \"" + name + "\"");
            }
        }
        f.end();
    }

    /** What differs: path, expected and actual of each; empty when nothing does. */
    static ArrayNode compare(JsonNode expected, ObjectNode actual) {
        ArrayNode differences = JsonNodeFactory.instance.arrayNode();
        expected.properties().forEach(field -> {
            String name = field.getKey();
            JsonNode is = actual.path(name);
            switch (name) {
                case "operations" -> operations(field.getValue(), is, actual.path(CHANGED), differences);
                case "marks" -> marks(field.getValue(), is, differences);
                case "log" -> log(field.getValue(), is, differences);
                case "placements", "store", "moves", "beliefs" -> field.getValue().forEach(one -> {
                    if (find(one, is) == null) {
                        differ(name, one, is, differences);
                    }
                });
                case "absent" -> field.getValue().forEach(one -> {
                    JsonNode found = find(one, actual.path("placements"));
                    // What is only on its way is not there, unless the expectation speaks of states.
                    if (found != null && (one.has("state") || !found.path("state").asText().equals("WRITING"))) {
                        differ(name, one, found, differences);
                    }
                });
                default -> node(name, field.getValue(), is, differences);
            }
        });
        return differences;
    }

    /** These and no others, in any order. */
    private static void marks(JsonNode expected, JsonNode actual, ArrayNode differences) {
        boolean all = expected.size() == actual.size();
        for (JsonNode one : expected) {
            all &= find(one, actual) != null;
        }
        if (!all) {
            differ("marks", expected, actual, differences);
        }
    }

    /** These facts one after the other, whatever comes between. */
    private static void log(JsonNode expected, JsonNode actual, ArrayNode differences) {
        int found = 0;
        for (JsonNode one : actual) {
            found += found < expected.size() && expected.get(found).equals(one) ? 1 : 0;
        }
        if (found < expected.size()) {
            differ("log[" + found + "]", expected, actual, differences);
        }
    }

    /** Those that were issued since they were last spoken of; or, if that does not hold, those that were issued or changed. */
    private static void operations(JsonNode expected, JsonNode issued, JsonNode changed, ArrayNode differences) {
        ArrayNode either = JsonNodeFactory.instance.arrayNode();
        operations(expected, changed, either);
        if (!either.isEmpty()) {
            operations(expected, issued, differences);
        }
    }

    private static void operations(JsonNode expected, JsonNode actual, ArrayNode differences) {
        Set<String> kinds = new LinkedHashSet<>();
        expected.forEach(one -> kinds.add(one.path("kind").asText()));
        List<JsonNode> counted = new ArrayList<>();
        actual.forEach(one -> {
            String kind = one.path("kind").asText();
            boolean any = kinds.isEmpty() || kinds.contains("");
            boolean wanted = any ? !kind.equals(LOAD_BACK) : kinds.contains(kind);
            if (wanted) {
                counted.add(one);
            }
        });
        if (counted.size() != expected.size()) {
            ArrayNode are = JsonNodeFactory.instance.arrayNode().addAll(counted);
            differ("operations", expected, are, differences);
            return;
        }
        for (int i = 0; i < counted.size(); i++) {
            node("operations[" + i + "]", expected.get(i), counted.get(i), differences);
        }
    }

    private static @org.jspecify.annotations.Nullable JsonNode find(JsonNode expected, JsonNode among) {
        for (JsonNode one : among) {
            ArrayNode differences = JsonNodeFactory.instance.arrayNode();
            node("", expected, one, differences);
            if (differences.isEmpty()) {
                return one;
            }
        }
        return null;
    }

    private static void node(String path, JsonNode expected, JsonNode actual, ArrayNode differences) {
        if (isRange(expected)) {
            boolean within = actual.isNumber()
                    && actual.doubleValue() >= expected.path("min").asDouble(Double.NEGATIVE_INFINITY)
                    && actual.doubleValue() <= expected.path("max").asDouble(Double.POSITIVE_INFINITY);
            if (!within) {
                differ(path, expected, actual, differences);
            }
        } else if (expected.isObject()) {
            expected.properties().forEach(field ->
                    node(path + "." + field.getKey(), field.getValue(), actual.path(field.getKey()), differences));
        } else if (expected.isArray() && actual.isArray() && expected.size() == actual.size()) {
            for (int i = 0; i < expected.size(); i++) {
                node(path + "[" + i + "]", expected.get(i), actual.get(i), differences);
            }
        } else if (!same(expected, actual)) {
            differ(path, expected, actual, differences);
        }
    }

    private static boolean same(JsonNode expected, JsonNode actual) {
        if (expected.isNumber() && actual.isNumber()) {
            return expected.decimalValue().compareTo(actual.decimalValue()) == 0;
        }
        return expected.isNull() ? actual.isMissingNode() || actual.isNull() : expected.equals(actual);
    }

    private static boolean isRange(JsonNode node) {
        return node.isObject() && (node.has("min") || node.has("max")) && node.size() <= 2
                && (node.size() == 1 || (node.has("min") && node.has("max")));
    }

    private static void differ(String path, JsonNode expected, JsonNode actual, ArrayNode differences) {
        ObjectNode one = differences.addObject();
        one.put("path", path);
        one.set("expected", expected);
        one.set("actual", actual.isMissingNode() ? JsonNodeFactory.instance.nullNode() : actual);
    }
}
