/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.whatif.world;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.tierlog.ops.whatif.world.HardwareModel.Engine;
import io.tierlog.ops.whatif.world.HardwareModel.Link;
import io.tierlog.ops.whatif.world.HardwareModel.Log;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The numbers of a {@link HardwareModel} by name, for example {@code store_read.latency_us}, and as a file. Static and without state. */
public final class ModelFields {
    private static final List<String> OF_LINKS = List.of("latency_us", "bytes_per_second", "workers", "piece_blocks");
    private static final List<String> OF_LOG = List.of("event_us", "command_us", "commit_us");
    private static final String ROUND_TRIPS = "log.round_trips";
    private static final String CALLS = "engine.calls";
    private static final List<String> OF_ENGINES = List.of("call_us", "prefill_ns_per_token", "decode_ns_per_token", "prefills");

    private ModelFields() {}

    /** The names of all numbers, in the order of a file, which may also have {@value #ROUND_TRIPS} and {@value #CALLS}. */
    public static List<String> names() {
        List<String> names = new ArrayList<>();
        HardwareModel.LINKS.forEach(link -> OF_LINKS.forEach(field -> names.add(link + "." + field)));
        OF_LOG.forEach(field -> names.add("log." + field));
        OF_ENGINES.forEach(field -> names.add("engine." + field));
        return names;
    }

    /**
     * The number of that name.
     *
     * @throws IllegalArgumentException when there is none
     */
    public static long get(HardwareModel model, String name) {
        Log log = model.log();
        Engine engine = model.engine();
        Link link = model.links().get(group(name));
        return switch (link == null ? name : field(name)) {
            case "latency_us" -> linkOf(link, name).latencyMicros();
            case "bytes_per_second" -> linkOf(link, name).bytesPerSecond();
            case "workers" -> linkOf(link, name).workers();
            case "piece_blocks" -> linkOf(link, name).pieceBlocks();
            case "log.event_us" -> log.eventMicros();
            case "log.command_us" -> log.commandMicros();
            case "log.commit_us" -> log.commitMicros();
            case "engine.call_us" -> engine.callMicros();
            case "engine.prefill_ns_per_token" -> engine.prefillNanosPerToken();
            case "engine.decode_ns_per_token" -> engine.decodeNanosPerToken();
            case "engine.prefills" -> engine.prefills();
            default -> throw unknown(name);
        };
    }

    /**
     * A copy with another number. A constant takes the place of the delays that were measured in its place.
     *
     * @throws IllegalArgumentException when there is none of that name, or it cannot have that value
     */
    public static HardwareModel with(HardwareModel model, String name, long value) {
        Log log = model.log();
        Engine engine = model.engine();
        Link link = model.links().get(group(name));
        try {
            if (link != null) {
                return model.withLinks(Map.of(group(name), switch (field(name)) {
                    case "latency_us" -> new Link(value, link.bytesPerSecond(), link.workers(), link.pieceBlocks());
                    case "bytes_per_second" -> new Link(link.latencyMicros(), value, link.workers(), link.pieceBlocks());
                    case "workers" -> new Link(link.latencyMicros(), link.bytesPerSecond(), Math.toIntExact(value), link.pieceBlocks());
                    case "piece_blocks" -> new Link(link.latencyMicros(), link.bytesPerSecond(), link.workers(), Math.toIntExact(value));
                    default -> throw unknown(name);
                }));
            }
            return switch (name) {
                case "log.event_us" -> model.with(new Log(value, log.commandMicros(), log.commitMicros()));
                case "log.command_us" -> model.with(new Log(log.eventMicros(), value, log.commitMicros()));
                case "log.commit_us" -> model.with(new Log(log.eventMicros(), log.commandMicros(), value, log.roundTrips()));
                case "engine.call_us" -> model.with(
                        new Engine(value, engine.prefillNanosPerToken(), engine.decodeNanosPerToken(), engine.prefills()));
                case "engine.prefill_ns_per_token" -> model.with(engine.withPrefillNanosPerToken(value));
                case "engine.decode_ns_per_token" -> model.with(
                        new Engine(engine.callMicros(), engine.prefillNanosPerToken(), value, engine.prefills(), engine.calls()));
                case "engine.prefills" -> model.with(new Engine(
                        engine.callMicros(), engine.prefillNanosPerToken(), engine.decodeNanosPerToken(), Math.toIntExact(value), engine.calls()));
                default -> throw unknown(name);
            };
        } catch (ArithmeticException e) {
            throw new IllegalArgumentException(name + " cannot be " + value, e);
        }
    }

    private static String group(String name) {
        return name.substring(0, Math.max(0, name.indexOf('.')));
    }

    private static String field(String name) {
        return name.substring(name.indexOf('.') + 1);
    }

    private static Link linkOf(@Nullable Link link, String name) {
        if (link == null) {
            throw unknown(name);
        }
        return link;
    }

    private static IllegalArgumentException unknown(String name) {
        return new IllegalArgumentException("there is no '" + name + "' in a model; it has " + String.join(", ", names())
                + ", and in a file also " + ROUND_TRIPS + " and " + CALLS);
    }

    /** The model as a file. */
    public static String write(HardwareModel model) {
        JsonMapper mapper = new JsonMapper();
        ObjectNode file = mapper.createObjectNode();
        names().forEach(name -> file.withObject("/" + group(name)).put(field(name), get(model, name)));
        write(file, ROUND_TRIPS, model.log().roundTrips());
        write(file, CALLS, model.engine().calls());
        return file.toPrettyString() + "\n";
    }

    private static void write(ObjectNode file, String name, Delays delays) {
        if (!delays.samples().isEmpty()) {
            ArrayNode pairs = file.withObject("/" + group(name)).putArray(field(name));
            delays.samples().forEach(sample -> pairs.addArray().add(sample.atMs()).add(sample.micros()));
        }
    }

    /**
     * Reads a file; what it does not have is as in {@code base}.
     *
     * @throws IllegalArgumentException when it is not a model, with what is wrong
     */
    public static HardwareModel read(String file, HardwareModel base) {
        JsonNode root;
        try {
            root = JsonMapper.builder().enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION).build().readTree(file);
        } catch (JsonProcessingException e) {
            throw new IllegalArgumentException("is not JSON: " + e.getOriginalMessage(), e);
        }
        if (!root.isObject()) {
            throw new IllegalArgumentException("is not a JSON object");
        }
        HardwareModel model = base;
        Delays roundTrips = Delays.NONE;
        Delays calls = Delays.NONE;
        for (Map.Entry<String, JsonNode> group : root.properties()) {
            if (!group.getValue().isObject()) {
                throw new IllegalArgumentException(group.getKey() + " is not a JSON object");
            }
            for (Map.Entry<String, JsonNode> field : group.getValue().properties()) {
                String name = group.getKey() + "." + field.getKey();
                if (name.equals(ROUND_TRIPS)) {
                    roundTrips = delays(name, field.getValue());
                    continue;
                }
                if (name.equals(CALLS)) {
                    calls = delays(name, field.getValue());
                    continue;
                }
                if (!names().contains(name)) {
                    throw unknown(name);
                }
                if (!isLong(field.getValue())) {
                    throw new IllegalArgumentException(name + " must be a whole number, not " + field.getValue());
                }
                model = with(model, name, field.getValue().longValue());
            }
        }
        // The numbers of a file stand beside its delays: they hold before the first request.
        model = roundTrips.samples().isEmpty() ? model : model.with(model.log().with(roundTrips));
        return calls.samples().isEmpty() ? model : model.with(model.engine().with(calls));
    }

    private static boolean isLong(JsonNode value) {
        return value.isIntegralNumber() && value.canConvertToLong();
    }

    private static Delays delays(String name, JsonNode pairs) {
        List<Delays.Sample> samples = new ArrayList<>();
        try {
            if (!pairs.isArray()) {
                throw new IllegalArgumentException("is not an array");
            }
            for (JsonNode pair : pairs) {
                if (!pair.isArray() || pair.size() != 2 || !isLong(pair.path(0)) || !isLong(pair.path(1))) {
                    throw new IllegalArgumentException("pair " + (samples.size() + 1) + " is no pair of whole numbers");
                }
                samples.add(new Delays.Sample(pair.path(0).longValue(), pair.path(1).longValue()));
            }
            return new Delays(samples);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(name + ": " + e.getMessage(), e);
        }
    }
}
