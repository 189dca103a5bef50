/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.streams.api;

import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeSet;

/**
 * Checks responses against the OpenAPI document: every field of a response must be in the schema, and every required one in the
 * answer. Remembers which fields it has seen, so that a test can ask for those that never came. One thread.
 */
final class OpenApiCheck {
    private final JsonNode document;
    private final TreeSet<String> seen = new TreeSet<>();

    OpenApiCheck(JsonNode document) {
        this.document = document;
    }

    JsonNode document() {
        return document;
    }

    /** Fails when a response does not match the document. */
    void answer(String method, String template, int status, String mediaType, JsonNode body) {
        JsonNode operation = document.path("paths").path(template).path(method.toLowerCase(Locale.ROOT));
        JsonNode response = operation.path("responses").path(String.valueOf(status));
        assertTrue(response.isObject(), () -> method + " " + template + " answers " + status + ", which the document does not have: " + body);
        JsonNode schema = response.path("content").path(mediaType).path("schema");
        assertTrue(schema.isObject(), () -> method + " " + template + " answers with " + mediaType);
        List<String> wrong = new ArrayList<>();
        check(schema, body, "", wrong);
        assertTrue(wrong.isEmpty(), () -> method + " " + template + " " + status + " " + wrong + ": " + body);
    }

    /** The mismatches of a value with a schema of the document. */
    List<String> check(String schema, JsonNode value) {
        List<String> wrong = new ArrayList<>();
        check(component(schema), value, "", wrong);
        return wrong;
    }

    /** Fields of a schema, SCHEMA.field, that no checked answer had with a value. */
    List<String> neverSeen(String schema) {
        List<String> never = new ArrayList<>();
        component(schema).path("properties").fieldNames().forEachRemaining(field -> {
            if (!seen.contains(schema + "." + field)) {
                never.add(schema + "." + field);
            }
        });
        return never;
    }

    /** Names of the fields that a schema has, sorted. */
    List<String> fields(String schema) {
        TreeSet<String> fields = new TreeSet<>();
        component(schema).path("properties").fieldNames().forEachRemaining(fields::add);
        assertTrue(!fields.isEmpty(), schema);
        return List.copyOf(fields);
    }

    private JsonNode component(String name) {
        return document.path("components").path("schemas").path(name);
    }

    private void check(JsonNode schema, JsonNode value, String at, List<String> wrong) {
        if (schema.has("$ref")) {
            String name = schema.path("$ref").textValue().replace("#/components/schemas/", "");
            check(component(name), value, name, wrong);
            return;
        }
        for (String union : List.of("oneOf", "anyOf")) {
            if (schema.has(union)) {
                union(schema.path(union), value, at, wrong);
                return;
            }
        }
        if (!hasType(schema.path("type"), value)) {
            wrong.add(at + " is " + value.getNodeType() + ", not " + schema.path("type"));
            return;
        }
        bounds(schema, value, at, wrong);
        if (value instanceof ObjectNode object && schema.has("properties")) {
            object(schema, object, at, wrong);
        }
        if (value.isArray()) {
            value.forEach(element -> check(schema.path("items"), element, at + "[]", wrong));
        }
    }

    private void union(JsonNode schemas, JsonNode value, String at, List<String> wrong) {
        List<String> tried = new ArrayList<>();
        for (JsonNode schema : schemas) {
            List<String> found = new ArrayList<>();
            check(schema, value, at, found);
            if (found.isEmpty()) {
                return;
            }
            tried.addAll(found);
        }
        wrong.addAll(tried);
    }

    private static void bounds(JsonNode schema, JsonNode value, String at, List<String> wrong) {
        if (schema.has("enum") && !contains(schema.path("enum"), value)) {
            wrong.add(at + " is " + value + ", none of " + schema.path("enum"));
        }
        if (schema.has("pattern") && value.isTextual() && !value.textValue().matches(schema.path("pattern").textValue())) {
            wrong.add(at + " is " + value + ", not " + schema.path("pattern"));
        }
        if (schema.has("minimum") && value.isNumber() && value.longValue() < schema.path("minimum").longValue()) {
            wrong.add(at + " is " + value + ", below " + schema.path("minimum"));
        }
        if (schema.has("maximum") && value.isNumber() && value.longValue() > schema.path("maximum").longValue()) {
            wrong.add(at + " is " + value + ", above " + schema.path("maximum"));
        }
    }

    private void object(JsonNode schema, ObjectNode value, String at, List<String> wrong) {
        for (Map.Entry<String, JsonNode> field : value.properties()) {
            JsonNode known = schema.path("properties").path(field.getKey());
            if (known.isMissingNode()) {
                wrong.add(at + "." + field.getKey() + " is not in the document");
            } else {
                seen(at + "." + field.getKey(), field.getValue());
                check(known, field.getValue(), at + "." + field.getKey(), wrong);
            }
        }
        for (JsonNode required : schema.path("required")) {
            if (!value.has(required.textValue())) {
                wrong.add(at + "." + required.textValue() + " is missing");
            }
        }
    }

    private void seen(String field, JsonNode value) {
        if (!value.isNull() && !(value.isArray() && value.isEmpty())) {
            seen.add(field);
        }
    }

    private static boolean contains(JsonNode list, JsonNode value) {
        for (JsonNode element : list) {
            if (element.equals(value)) {
                return true;
            }
        }
        return false;
    }

    private static boolean hasType(JsonNode types, JsonNode value) {
        if (types.isArray()) {
            for (JsonNode type : types) {
                if (hasType(type, value)) {
                    return true;
                }
            }
            return false;
        }
        return switch (types.textValue()) {
            case "object" -> value.isObject();
            case "array" -> value.isArray();
            case "string" -> value.isTextual();
            case "integer" -> value.isIntegralNumber();
            case "number" -> value.isNumber();
            case "boolean" -> value.isBoolean();
            case "null" -> value.isNull();
            default -> throw new AssertionError("a type this check does not know: " + types);
        };
    }
}
