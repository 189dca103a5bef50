/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.bridge;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;

/** The golden payloads of the dialects, and captures of real publishers. */
public final class Fixtures {
    private static final ObjectMapper JSON = new ObjectMapper();

    private Fixtures() {}

    /** The names of the golden payloads, with the same decoded. */
    public static JsonNode expected() {
        return json(text("expected.json"));
    }

    public static byte[] payload(String name) {
        return HexFormat.of().parseHex(text(name + ".hex").strip());
    }

    /** Frames of a capture, in the order in which they were published. */
    public static List<JsonNode> frames(String capture) {
        List<JsonNode> frames = new ArrayList<>();
        text(capture + "/frames.jsonl").lines().forEach(line -> frames.add(json(line)));
        return frames;
    }

    public static JsonNode truth(String capture) {
        return json(text(capture + "/truth.json"));
    }

    private static JsonNode json(String text) {
        try {
            return JSON.readTree(text);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String text(String name) {
        try (InputStream in = Fixtures.class.getResourceAsStream("/engine-events/" + name)) {
            if (in == null) {
                throw new IllegalArgumentException("there is no fixture " + name);
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
