/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.schemas.gate;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.avro.Schema;
import org.jspecify.annotations.Nullable;

/** What a schema of the log must say about itself, beyond what the generator refuses. */
final class SchemaRules {
    /** Families whose records are written by a numbered sender. */
    static final Set<String> ENVELOPED = Set.of("Event", "Message", "NodeRequest", "AgentEvent", "TerminalEvent", "LoadBackEvent", "Fact", "Command");

    private static final Set<Schema.Type> NUMBERS = Set.of(Schema.Type.INT, Schema.Type.LONG, Schema.Type.FLOAT, Schema.Type.DOUBLE);
    private static final List<String> UNITS = List.of("Ms", "Bytes", "Blocks", "Tokens");
    private static final int SHORTEST_NUMBER_DOC = 10;

    private SchemaRules() {}

    /** What is wrong with {@code root} and the types it is made of; empty when nothing is. */
    static List<String> problems(Schema root) {
        List<String> problems = new ArrayList<>();
        for (Schema type : namedTypes(root, problems).values()) {
            if (blank(type.getDoc())) {
                problems.add(type.getFullName() + " has no doc");
            }
            if (type.getType() == Schema.Type.ENUM && !"UNKNOWN".equals(type.getEnumDefault())) {
                problems.add(type.getFullName() + " has not the default UNKNOWN, so a symbol added later could not be read");
            }
            if (type.getType() == Schema.Type.RECORD) {
                type.getFields().forEach(field -> checkField(type, field, problems));
            }
        }
        checkEnvelope(root, problems);
        return problems;
    }

    private static void checkField(Schema record, Schema.Field field, List<String> problems) {
        String where = record.getFullName() + "." + field.name();
        if (blank(field.doc())) {
            problems.add(where + " has no doc");
        } else if (isNumber(field.schema()) && UNITS.stream().noneMatch(field.name()::endsWith)
                && field.doc().strip().length() < SHORTEST_NUMBER_DOC) {
            problems.add(where + " is a number whose doc says neither its unit nor what it counts");
        }
    }

    private static void checkEnvelope(Schema root, List<String> problems) {
        String family = root.getProp("family");
        if (family == null || !ENVELOPED.contains(family.substring(family.lastIndexOf('.') + 1))) {
            return;
        }
        Schema.Field first = root.getFields().getFirst();
        if (!first.name().equals("envelope") || !first.schema().getFullName().equals("io.tierlog.schemas.Envelope")) {
            problems.add(root.getFullName() + " must start with the field: io.tierlog.schemas.Envelope envelope");
        }
    }

    /** All named types that {@code root} is made of, itself included, by full name. */
    static Map<String, Schema> namedTypes(Schema root) {
        return namedTypes(root, new ArrayList<>());
    }

    private static Map<String, Schema> namedTypes(Schema root, List<String> problems) {
        Map<String, Schema> found = new LinkedHashMap<>();
        walk(root, new ArrayDeque<>(), found, problems);
        return found;
    }

    private static void walk(Schema schema, Deque<String> path, Map<String, Schema> found, List<String> problems) {
        switch (schema.getType()) {
            case ARRAY -> walk(schema.getElementType(), path, found, problems);
            case MAP -> walk(schema.getValueType(), path, found, problems);
            case UNION -> schema.getTypes().forEach(branch -> walk(branch, path, found, problems));
            case ENUM, FIXED -> found.put(schema.getFullName(), schema);
            case RECORD -> {
                if (path.contains(schema.getFullName())) {
                    problems.add(schema.getFullName() + " contains itself: the depth of what is read would have no bound");
                    return;
                }
                found.put(schema.getFullName(), schema);
                path.push(schema.getFullName());
                schema.getFields().forEach(field -> walk(field.schema(), path, found, problems));
                path.pop();
            }
            case STRING, BYTES, INT, LONG, FLOAT, DOUBLE, BOOLEAN, NULL -> {
                // without a name and without parts
            }
        }
    }

    private static boolean isNumber(Schema schema) {
        return switch (schema.getType()) {
            case ARRAY -> isNumber(schema.getElementType());
            case MAP -> isNumber(schema.getValueType());
            case UNION -> schema.getTypes().stream().anyMatch(SchemaRules::isNumber);
            default -> NUMBERS.contains(schema.getType());
        };
    }

    private static boolean blank(@Nullable String text) {
        return text == null || text.isBlank();
    }
}
