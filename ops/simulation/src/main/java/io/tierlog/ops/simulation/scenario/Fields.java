/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.simulation.scenario;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** One JSON object whose fields are read by name and type; a field that is never read is an error. For one thread. */
final class Fields {
    private final int line;
    private final String where;
    private final JsonNode object;
    private final Set<String> asked = new LinkedHashSet<>();

    Fields(int line, String where, JsonNode object) {
        this.line = line;
        this.where = where;
        this.object = object;
        if (!object.isObject()) {
            throw error("is no JSON object");
        }
    }

    ScenarioError error(String reason) {
        return new ScenarioError(line, where + " " + reason);
    }

    int line() {
        return line;
    }

    boolean has(String name) {
        return object.hasNonNull(name);
    }

    /** The field, or null when it is not there. */
    @Nullable JsonNode get(String name) {
        asked.add(name);
        return object.hasNonNull(name) ? object.get(name) : null;
    }

    String text(String name) {
        return required(name, text(name, null));
    }

    @Nullable String text(String name, @Nullable String otherwise) {
        JsonNode node = get(name);
        if (node != null && (!node.isTextual() || node.textValue().isEmpty())) {
            throw error("wants a text that is not empty in \"" + name + "\", not " + node);
        }
        return node == null ? otherwise : node.textValue();
    }

    /** The text, or an empty one. */
    String textOrEmpty(String name) {
        String found = text(name, null);
        return found == null ? "" : found;
    }

    long number(String name, long least, long most, long otherwise) {
        JsonNode node = get(name);
        if (node == null) {
            return otherwise;
        }
        if (!node.isIntegralNumber() || !node.canConvertToLong() || node.longValue() < least || node.longValue() > most) {
            throw error("wants a whole number from " + least + " to " + most + " in \"" + name + "\", not " + node);
        }
        return node.longValue();
    }

    int count(String name, int least, int most, int otherwise) {
        return (int) number(name, least, most, otherwise);
    }

    double fraction(String name, double otherwise) {
        JsonNode node = get(name);
        if (node != null && (!node.isNumber() || !(node.doubleValue() >= 0 && node.doubleValue() <= 1))) {
            throw error("wants a number from 0 to 1 in \"" + name + "\", not " + node);
        }
        return node == null ? otherwise : node.doubleValue();
    }

    boolean flag(String name, boolean otherwise) {
        JsonNode node = get(name);
        if (node != null && !node.isBoolean()) {
            throw error("wants true or false in \"" + name + "\", not " + node);
        }
        return node == null ? otherwise : node.booleanValue();
    }

    /** Whole numbers of 0 or more; null when the field is not there. */
    int @Nullable [] numbers(String name, int most) {
        List<Integer> found = list(name, node -> {
            if (!node.isIntegralNumber() || !node.canConvertToInt() || node.intValue() < 0 || node.intValue() > most) {
                throw error("wants whole numbers from 0 to " + most + " in \"" + name + "\", not " + node);
            }
            return node.intValue();
        });
        return found == null ? null : found.stream().mapToInt(Integer::intValue).toArray();
    }

    List<String> texts(String name) {
        List<String> found = list(name, node -> {
            if (!node.isTextual()) {
                throw error("wants texts in \"" + name + "\", not " + node);
            }
            return node.textValue();
        });
        return found == null ? List.of() : found;
    }

    <T> @Nullable List<T> list(String name, Function<JsonNode, T> each) {
        JsonNode node = get(name);
        if (node == null) {
            return null;
        }
        if (!node.isArray()) {
            throw error("wants a list in \"" + name + "\", not " + node);
        }
        List<T> found = new ArrayList<>();
        node.forEach(one -> found.add(each.apply(one)));
        return found;
    }

    <E extends Enum<E>> E oneOf(String name, Class<E> type, E otherwise) {
        JsonNode node = get(name);
        if (node == null) {
            return otherwise;
        }
        for (E constant : type.getEnumConstants()) {
            if (node.isTextual() && constant.name().equalsIgnoreCase(node.textValue())) {
                return constant;
            }
        }
        throw error("wants one of " + List.of(type.getEnumConstants()) + " in \"" + name + "\", not " + node);
    }

    <T> T required(String name, @Nullable T found) {
        if (found == null) {
            throw error("wants \"" + name + "\"");
        }
        return found;
    }

    /** All valid fields have been read: any other field is an error. */
    void end() {
        Set<String> unknown = new TreeSet<>();
        object.fieldNames().forEachRemaining(unknown::add);
        unknown.removeAll(asked);
        if (!unknown.isEmpty()) {
            throw error("has unknown fields " + unknown + "; known are " + new TreeSet<>(asked));
        }
    }
}
