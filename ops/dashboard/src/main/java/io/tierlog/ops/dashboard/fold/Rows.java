/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.dashboard.fold;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The rows that changed since they were last taken, and how rows are encoded. A row's key is a letter for its kind and its id; its value is JSON,
 * encoded when it is taken, so that a row that changes often is encoded once for each commit. Not thread-safe.
 */
final class Rows {
    private static final ObjectMapper JSON = new ObjectMapper().disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES);

    private final Map<String, Supplier<@Nullable Object>> changed = new LinkedHashMap<>();

    /** Notes a change; the supplier gives the row when it is taken, null when it is gone. */
    void changed(char kind, String id, Supplier<@Nullable Object> row) {
        changed.put(kind + id, row);
    }

    /** How many changed. */
    int size() {
        return changed.size();
    }

    /** Gives every changed row and forgets that it changed; a null value deletes. */
    List<Row> take() {
        List<Row> rows = new ArrayList<>(changed.size());
        changed.forEach((key, row) -> {
            Object value = row.get();
            rows.add(new Row(key.getBytes(StandardCharsets.UTF_8), value == null ? null : encoded(value)));
        });
        changed.clear();
        return rows;
    }

    private static byte[] encoded(Object value) {
        try {
            return JSON.writeValueAsBytes(value);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("a row cannot be encoded: " + value.getClass(), e);
        }
    }

    /** Decodes a row. */
    static <T> T decoded(byte[] value, Class<T> type) {
        try {
            return JSON.readValue(value, type);
        } catch (IOException e) {
            throw new IllegalStateException("a row cannot be decoded: " + type + ": start with another application id", e);
        }
    }

    /** Row values by kind, for a restore. */
    static Map<Character, List<byte[]>> byKind(Iterable<Row> rows) {
        Map<Character, List<byte[]>> kinds = new HashMap<>();
        for (Row row : rows) {
            byte[] value = row.value();
            if (value != null) {
                kinds.computeIfAbsent((char) row.key()[0], kind -> new ArrayList<>()).add(value);
            }
        }
        return kinds;
    }
}
