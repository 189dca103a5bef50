/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.http;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/**
 * The fields of a JSON object, read strictly: a field that is missing, of another type, out of range or unknown is a finding. The findings come
 * together in one problem, up to a bound. For one request.
 */
public final class JsonBody {
    private static final int LONGEST_NUMBER = 32;

    private final ObjectNode json;
    private final String path;
    private final Findings findings;
    private final Set<String> read = new LinkedHashSet<>();

    private JsonBody(ObjectNode json, String path, Findings findings) {
        this.json = json;
        this.path = path;
        this.findings = findings;
    }

    /** Reads bodies within bounds of depth and length. */
    public static ObjectMapper mapper(ServerLimits limits) {
        StreamReadConstraints constraints = StreamReadConstraints.builder()
                .maxNestingDepth(limits.jsonDepth())
                .maxNumberLength(LONGEST_NUMBER)
                .maxStringLength(limits.bodyBytes())
                .maxDocumentLength(limits.bodyBytes())
                .build();
        return new ObjectMapper(JsonFactory.builder().streamReadConstraints(constraints).build())
                .enable(JsonParser.Feature.STRICT_DUPLICATE_DETECTION)
                .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS);
    }

    /**
     * The fields of a body; no body at all has none.
     *
     * @throws Problem INVALID_REQUEST when it is not a JSON object
     */
    public static JsonBody of(ObjectMapper mapper, byte[] body) {
        if (body.length == 0) {
            return new JsonBody(JsonNodeFactory.instance.objectNode(), "", new Findings());
        }
        try {
            if (mapper.readTree(body) instanceof ObjectNode object) {
                return new JsonBody(object, "", new Findings());
            }
        } catch (JsonProcessingException e) {
            throw new Problem(Problem.Kind.INVALID_REQUEST, "the body is not JSON: " + e.getOriginalMessage(), "send one JSON object");
        } catch (IOException e) {
            // Four bytes that look like UTF-32, and others that are not: Jackson has no exception of its own for them.
            throw new Problem(Problem.Kind.INVALID_REQUEST, "the body is not JSON: " + e.getMessage(), "send one JSON object in UTF-8");
        }
        throw new Problem(Problem.Kind.INVALID_REQUEST, "the body is JSON but not an object", "send one JSON object");
    }

    /** The fields of an object that was made here. */
    public static JsonBody of(ObjectNode object) {
        return new JsonBody(object, "", new Findings());
    }

    /** All of it, unread: for a body that is checked where it is passed on to. */
    public ObjectNode passedOn() {
        return json.deepCopy();
    }

    /** Whether the field is there, with any value but null. */
    public boolean has(String name) {
        return json.hasNonNull(name);
    }

    /** A text of at most {@code most} characters. */
    public Optional<String> text(String name, int most) {
        JsonNode value = take(name);
        if (value == null) {
            return Optional.empty();
        }
        if (!value.isTextual() || value.textValue().length() > most) {
            wrong(name, "a text of at most " + most + " characters");
            return Optional.empty();
        }
        return Optional.of(value.textValue());
    }

    /** A text that matches {@code pattern}; {@code what} describes the pattern for people. */
    public Optional<String> name(String name, String pattern, String what) {
        JsonNode value = take(name);
        if (value == null) {
            return Optional.empty();
        }
        if (!value.isTextual() || !value.textValue().matches(pattern)) {
            wrong(name, what);
            return Optional.empty();
        }
        return Optional.of(value.textValue());
    }

    /** A whole number in a range. */
    public OptionalLong integer(String name, long least, long most) {
        JsonNode value = take(name);
        if (value == null) {
            return OptionalLong.empty();
        }
        if (!value.isIntegralNumber() || !value.canConvertToLong() || value.longValue() < least || value.longValue() > most) {
            wrong(name, "a whole number from " + least + " to " + most);
            return OptionalLong.empty();
        }
        return OptionalLong.of(value.longValue());
    }

    /** True or false; false when it is not there. */
    public boolean flag(String name) {
        JsonNode value = take(name);
        if (value == null) {
            return false;
        }
        if (!value.isBoolean()) {
            wrong(name, "true or false");
        }
        return value.booleanValue();
    }

    /** One of some symbols, in capital letters or small ones. */
    public <E extends Enum<E>> Optional<E> symbol(String name, List<E> symbols) {
        JsonNode value = take(name);
        if (value == null) {
            return Optional.empty();
        }
        String text = value.isTextual() ? value.textValue().toUpperCase(Locale.ROOT).replace('-', '_') : "";
        Optional<E> found = symbols.stream().filter(symbol -> symbol.name().equals(text)).findFirst();
        if (found.isEmpty()) {
            wrong(name, "one of " + symbols);
        }
        return found;
    }

    /** An object in this one. */
    public Optional<JsonBody> object(String name) {
        JsonNode value = take(name);
        if (value instanceof ObjectNode object) {
            return Optional.of(new JsonBody(object, path + name + ".", findings));
        }
        if (value != null) {
            wrong(name, "an object");
        }
        return Optional.empty();
    }

    /** Objects in a list field, at most {@code most}; empty without the list. */
    public List<JsonBody> objects(String name, int most) {
        List<JsonBody> found = new ArrayList<>();
        int i = 0;
        for (JsonNode element : elements(name, most)) {
            if (element instanceof ObjectNode object) {
                found.add(new JsonBody(object, path + name + "[" + i + "].", findings));
            } else {
                wrong(name + "[" + i + "]", "an object");
            }
            i++;
        }
        return found;
    }

    /** Texts in a list field, at most {@code most}; empty without the list. */
    public List<String> names(String name, int most, String pattern, String what) {
        List<String> found = new ArrayList<>();
        int i = 0;
        for (JsonNode element : elements(name, most)) {
            if (element.isTextual() && element.textValue().matches(pattern)) {
                found.add(element.textValue());
            } else {
                wrong(name + "[" + i + "]", what);
            }
            i++;
        }
        return found;
    }

    /**
     * Texts of hexadecimal digits in a list of this one, all of one length; empty when there is none, or a finding. A whole number stands for eight
     * bytes, the highest first.
     *
     * @param most number of texts
     * @param least fewest bytes of each
     * @param longest most bytes of each
     */
    public Optional<PackedKeys> keys(String name, int most, int least, int longest) {
        if (!has(name)) {
            finding(name, "is missing");
            read.add(name);
            return Optional.empty();
        }
        PackedKeys.Builder packed = new PackedKeys.Builder(least, longest);
        int i = 0;
        for (JsonNode element : elements(name, most)) {
            String problem = packed.add(element.isIntegralNumber() ? hash(element) : element.isTextual() ? element.textValue() : "");
            if (!problem.isEmpty()) {
                wrong(name + "[" + i + "]", problem);
            }
            i++;
        }
        return packed.build();
    }

    /** One text of hexadecimal digits; empty when there is none, or a finding. */
    public Optional<PackedKeys> key(String name, int least, int longest) {
        JsonNode value = take(name);
        if (value == null) {
            finding(name, "is missing");
            return Optional.empty();
        }
        PackedKeys.Builder packed = new PackedKeys.Builder(least, longest);
        String problem = packed.add(value.isTextual() ? value.textValue() : "");
        if (!problem.isEmpty()) {
            wrong(name, problem);
        }
        return packed.build();
    }

    private static String hash(JsonNode number) {
        // Some engines send the same bits as a signed number.
        int bits = number.bigIntegerValue().bitLength();
        boolean fits = bits <= (number.bigIntegerValue().signum() >= 0 ? Long.SIZE : Long.SIZE - 1);
        return fits ? HexFormat.of().toHexDigits(number.bigIntegerValue().longValue()) : "";
    }

    /** Whole numbers from 0 in a list field; empty without the list, or when there is a finding. */
    public Optional<long[]> integers(String name, int most) {
        if (!has(name)) {
            finding(name, "is missing");
            read.add(name);
            return Optional.empty();
        }
        LongStream.Builder numbers = LongStream.builder();
        int i = 0;
        int wrong = findings.count();
        for (JsonNode element : elements(name, most)) {
            if (element.isIntegralNumber() && element.canConvertToLong() && element.longValue() >= 0) {
                numbers.add(element.longValue());
            } else {
                wrong(name + "[" + i + "]", "a whole number from 0");
            }
            i++;
        }
        return wrong == findings.count() ? Optional.of(numbers.build().toArray()) : Optional.empty();
    }

    private Iterable<JsonNode> elements(String name, int most) {
        JsonNode value = take(name);
        if (value == null) {
            return List.of();
        }
        if (!value.isArray() || value.isEmpty() || value.size() > most) {
            wrong(name, "a list of 1 to " + most);
            return List.of();
        }
        return findings.untilFull(value);
    }

    /** Records an error of a field. */
    public void finding(String name, String detail) {
        findings.add(path, name, detail);
    }

    /** A field that must be there. */
    public <T> @Nullable T required(String name, Optional<T> value) {
        if (value.isEmpty() && !has(name)) {
            finding(name, "is missing");
        }
        return value.orElse(null);
    }

    /** Records each field that was not read as unknown. */
    public void closed() {
        String others = "is not a field; these are: " + String.join(", ", read);
        json.fieldNames().forEachRemaining(name -> {
            if (!read.contains(name)) {
                finding(name, others);
            }
        });
    }

    /**
     * Ends the reading of the whole body.
     *
     * @throws Problem INVALID_REQUEST with the first 100 findings, when there is one
     */
    public void done() {
        closed();
        if (findings.count() > 0) {
            throw findings.problem();
        }
    }

    private @Nullable JsonNode take(String name) {
        read.add(name);
        JsonNode value = json.get(name);
        return value == null || value.isNull() ? null : value;
    }

    private void wrong(String name, String what) {
        finding(name, "must be " + what);
    }
}
