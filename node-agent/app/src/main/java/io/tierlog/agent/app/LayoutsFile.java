/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.tierlog.agent.app.engine.Layouts;
import io.tierlog.events.Causes;
import io.tierlog.schemas.Layout;
import io.tierlog.schemas.LayoutKind;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Reads layouts from a JSON file: an array of objects, each with name, kind, layers, blockTokens, segmentBytes, segments and dtype.
 * Static and without state.
 *
 * <pre>
 *   [{"name": "kv", "kind": "ATTENTION", "layers": 36, "blockTokens": 16, "segmentBytes": 32768, "segments": 2, "dtype": "bf16"}]
 * </pre>
 */
public final class LayoutsFile {
    private static final long MOST_BYTES = 1 << 20;
    private static final Set<String> FIELDS = Set.of("name", "kind", "layers", "blockTokens", "segmentBytes", "segments", "dtype");
    private static final ObjectMapper JSON = JsonMapper.builder()
            .enable(com.fasterxml.jackson.core.StreamReadFeature.STRICT_DUPLICATE_DETECTION)
            .enable(com.fasterxml.jackson.databind.DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .build();

    private LayoutsFile() {}

    /**
     * Reads and checks a file.
     *
     * @throws IllegalArgumentException with the file, the path in it, and what is wrong there
     */
    public static List<Layout> read(Path file) {
        JsonNode root;
        try {
            if (Files.size(file) > MOST_BYTES) {
                throw new IllegalArgumentException(file + ": larger than " + MOST_BYTES + " bytes, so it holds no layouts");
            }
            root = JSON.readTree(Files.readAllBytes(file));
        } catch (JsonProcessingException e) {
            var at = e.getLocation();
            String where = at == null ? "" : " line " + at.getLineNr() + " column " + at.getColumnNr();
            throw new IllegalArgumentException(file + where + ": " + e.getOriginalMessage(), e);
        } catch (IOException e) {
            throw new IllegalArgumentException(file + ": cannot be read: " + Causes.of(e), e);
        }
        if (!root.isArray()) {
            throw new IllegalArgumentException(file + ": $ is not an array of layouts");
        }
        List<Layout> layouts = new ArrayList<>();
        for (JsonNode group : root) {
            layouts.add(group(new Place(file, "$[" + layouts.size() + "]"), group));
        }
        try {
            Layouts.check(layouts);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(file + ": " + e.getMessage(), e);
        }
        return List.copyOf(layouts);
    }

    /** Where in which file. */
    private record Place(Path file, String path) {
        IllegalArgumentException wrong(String field, String what) {
            return new IllegalArgumentException(file + ": " + path + "." + field + ": " + what);
        }
    }

    private static Layout group(Place place, JsonNode group) {
        if (!group.isObject()) {
            throw new IllegalArgumentException(place.file() + ": " + place.path() + " is not an object");
        }
        for (Map.Entry<String, JsonNode> field : group.properties()) {
            if (!FIELDS.contains(field.getKey())) {
                throw place.wrong(field.getKey(), "is not a field of a layout; those are " + FIELDS.stream().sorted().toList());
            }
        }
        return new Layout(
                text(place, group, "name"),
                kind(place, group),
                Math.toIntExact(number(place, group, "layers", Integer.MAX_VALUE)),
                Math.toIntExact(number(place, group, "blockTokens", Integer.MAX_VALUE)),
                number(place, group, "segmentBytes", Integer.MAX_VALUE),
                Math.toIntExact(number(place, group, "segments", Integer.MAX_VALUE)),
                text(place, group, "dtype"),
                false);
    }

    private static LayoutKind kind(Place place, JsonNode group) {
        String text = text(place, group, "kind");
        return Arrays.stream(LayoutKind.values())
                .filter(kind -> kind != LayoutKind.UNKNOWN && kind.name().equals(text))
                .findFirst()
                .orElseThrow(() -> place.wrong("kind", "'" + text + "' is none of ATTENTION, MLA, HYBRID, STATE_SPACE"));
    }

    private static String text(Place place, JsonNode group, String field) {
        JsonNode value = group.path(field);
        if (!value.isTextual()) {
            throw place.wrong(field, value.isMissingNode() ? "is missing" : "is not text");
        }
        return value.asText();
    }

    private static long number(Place place, JsonNode group, String field, long most) {
        JsonNode value = group.path(field);
        if (!value.isIntegralNumber()) {
            throw place.wrong(field, value.isMissingNode() ? "is missing" : "is not a whole number");
        }
        if (!value.canConvertToLong() || value.asLong() < 1 || value.asLong() > most) {
            throw place.wrong(field, "is " + value.asText() + ", must be 1 to " + most);
        }
        return value.asLong();
    }
}
