/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.engine.workload;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.Reader;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/**
 * Reads a trace in the form of the Mooncake FAST'25 release: one JSON object per line with {@code timestamp} (ms), {@code input_length},
 * {@code output_length} (tokens) and {@code hash_ids}, the prefix-chained ids of its blocks of 512 tokens, the last of which may be partial.
 *
 * <p>Strict: the first line that is not that ends the reading with a {@link TraceError}. An id must always follow the same id at the same index,
 * for a replay with ids that are no chain would count hits that no prefix cache can have. Not thread-safe; use once.
 */
public final class TraceFile {
    /** Tokens in a block of the trace. */
    public static final int BLOCK_TOKENS = 512;

    private static final int MAX_LINE_CHARS = 1 << 20;
    private static final int MAX_REQUESTS = 5_000_000;
    private static final long MAX_BLOCKS = 20_000_000;
    private static final int MAX_TOKENS = 16 << 20;
    private static final long MAX_TIMESTAMP_MS = 10L * 365 * 24 * 3600 * 1000;
    private static final long MAX_ID = 1L << 53;
    /** Recorded arrivals come in ticks; those of one tick are spread over it, or over the time to the next when that is shorter. */
    private static final long TICK_MS = 3_000;

    private final Path file;
    private final JsonMapper mapper = JsonMapper.builder()
            .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .build();
    private final ListedWorkload.Builder builder = new ListedWorkload.Builder();
    private final Map<Long, Link> chain = new HashMap<>();
    private final List<Line> sameTick = new ArrayList<>();
    private long line;
    private long blocks;

    private TraceFile(Path file) {
        this.file = file;
    }

    private record Line(long timestampMs, Request.Shape shape, ListedWorkload.BlockIds ids) {}

    /** Where an id was first seen, and what came before it. */
    private record Link(int index, long parent, long line) {}

    /**
     * Reads the first {@code requests} requests of {@code file}, or all.
     *
     * @throws TraceError when the file cannot be read or a line is not what it must be
     */
    public static Workload read(Path file, OptionalInt requests) throws TraceError {
        return new TraceFile(file).readAll(requests.orElse(MAX_REQUESTS));
    }

    private Workload readAll(int requests) throws TraceError {
        try (BufferedReader reader = Files.newBufferedReader(file, StandardCharsets.UTF_8)) {
            boolean blank = false;
            String text;
            while (builder.size() + sameTick.size() < requests && (text = nextLine(reader)) != null) {
                if (blank) {
                    throw error("expected a JSON object, the line before is empty");
                }
                blank = text.isBlank();
                if (!blank) {
                    add(parse(text));
                }
            }
        } catch (NoSuchFileException e) {
            throw new TraceError(file, 0, "no such file");
        } catch (CharacterCodingException e) {
            throw new TraceError(file, line + 1, "expected UTF-8 text");
        } catch (IOException e) {
            throw new TraceError(file, 0, "cannot be read: " + e);
        }
        flushTick(TICK_MS);
        if (builder.size() == 0) {
            throw new TraceError(file, 0, "expected at least one request, the file is empty");
        }
        return builder.build(file.getFileName().toString(), BLOCK_TOKENS, List.of("trace"));
    }

    private @Nullable String nextLine(Reader reader) throws IOException, TraceError {
        StringBuilder text = new StringBuilder();
        int c;
        while ((c = reader.read()) >= 0 && c != '\n') {
            if (text.length() == MAX_LINE_CHARS) {
                line++;
                throw error("expected at most " + MAX_LINE_CHARS + " characters");
            }
            text.append((char) c);
        }
        if (c < 0 && text.isEmpty()) {
            return null;
        }
        line++;
        return text.toString();
    }

    private Line parse(String text) throws TraceError {
        JsonNode node;
        try {
            node = mapper.readTree(text);
        } catch (JsonProcessingException e) {
            throw error("expected one JSON object: " + e.getOriginalMessage());
        }
        if (!node.isObject()) {
            throw error("expected a JSON object, found " + node.getNodeType());
        }
        long timestampMs = field(node, "timestamp", 0, MAX_TIMESTAMP_MS);
        int input = (int) field(node, "input_length", 1, MAX_TOKENS);
        int output = (int) field(node, "output_length", 0, MAX_TOKENS);
        Request.Shape shape = new Request.Shape(input, output, BLOCK_TOKENS);
        long[] ids = ids(node, shape);
        blocks += ids.length;
        if (blocks > MAX_BLOCKS) {
            throw error("expected at most " + MAX_BLOCKS + " block accesses up to here; take fewer requests");
        }
        return new Line(timestampMs, shape, new ListedWorkload.BlockIds(ids, new long[0]));
    }

    private long field(JsonNode node, String field, long min, long max) throws TraceError {
        JsonNode value = node.get(field);
        if (value == null) {
            throw error("expected the field " + field);
        }
        return number(value, field, min, max);
    }

    private long number(JsonNode value, String what, long min, long max) throws TraceError {
        if (!value.isIntegralNumber() || !value.canConvertToLong() || value.longValue() < min || value.longValue() > max) {
            throw error("expected " + what + " to be a whole number from " + min + " to " + max + ", found " + value);
        }
        return value.longValue();
    }

    private long[] ids(JsonNode node, Request.Shape shape) throws TraceError {
        JsonNode array = node.get("hash_ids");
        if (array == null || !array.isArray()) {
            throw error("expected the field hash_ids with an array");
        }
        if (array.size() != shape.promptBlocks()) {
            throw error("expected " + shape.promptBlocks() + " hash_ids for " + shape.inputTokens() + " tokens in blocks of " + BLOCK_TOKENS
                    + ", found " + array.size());
        }
        long[] ids = new long[array.size()];
        for (int i = 0; i < ids.length; i++) {
            ids[i] = number(array.get(i), "hash_ids[" + i + "]", 0, MAX_ID);
            Link link = new Link(i, i == 0 ? -1 : ids[i - 1], line);
            Link known = chain.putIfAbsent(ids[i], link);
            if (known != null && (known.index != link.index || known.parent != link.parent)) {
                throw error("expected hash id " + ids[i] + " at index " + known.index
                        + (known.index == 0 ? "" : " after " + known.parent) + " as in line " + known.line
                        + ", found it at index " + i + (i == 0 ? "" : " after " + link.parent));
            }
        }
        return ids;
    }

    private void add(Line next) throws TraceError {
        if (!sameTick.isEmpty()) {
            long tick = sameTick.getLast().timestampMs;
            if (next.timestampMs < tick) {
                throw error("expected a timestamp of at least " + tick + " as in the line before, found " + next.timestampMs);
            }
            if (next.timestampMs > tick) {
                flushTick(Math.min(TICK_MS, next.timestampMs - tick));
            }
        }
        sameTick.add(next);
    }

    private void flushTick(long lengthMs) {
        for (int i = 0; i < sameTick.size(); i++) {
            Line entry = sameTick.get(i);
            long arrivalMs = entry.timestampMs + lengthMs * i / sameTick.size();
            builder.add(new ListedWorkload.Head(0, arrivalMs, true, Request.NO_PREDECESSOR), entry.shape, entry.ids);
        }
        sameTick.clear();
    }

    private TraceError error(String problem) {
        return new TraceError(file, line, problem);
    }
}
