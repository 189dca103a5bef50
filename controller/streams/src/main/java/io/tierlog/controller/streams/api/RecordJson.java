/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.streams.api;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.tierlog.events.Codec;
import io.tierlog.schemas.WireRecord;
import java.io.IOException;
import java.util.Collection;
import java.util.Locale;
import java.util.Map;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericDatumReader;
import org.apache.avro.generic.GenericRecord;
import org.apache.avro.io.DecoderFactory;
import org.jspecify.annotations.Nullable;

/**
 * A record of the log as JSON, field by field as its schema has them, with names in small letters and underscores. Static and without state.
 *
 * <p>For records of which the API shows every field, including fields of later versions. Trade-off: it encodes and decodes the record.
 */
final class RecordJson {
    private static final JsonNodeFactory JSON = JsonNodeFactory.instance;
    /** Fields that the API and the policy document name otherwise than the record. */
    private static final Map<String, String> NAMES = Map.of("nodeTimeoutTicks", "node_silent_ticks", "leasedBlocks", "lent_blocks");

    private RecordJson() {}

    static JsonNode of(WireRecord record) {
        try {
            GenericRecord generic = new GenericDatumReader<GenericRecord>(record.schema())
                    .read(null, DecoderFactory.get().binaryDecoder(Codec.avro(record), null));
            return value(generic);
        } catch (IOException e) {
            throw new IllegalStateException("bytes in memory cannot fail to be read", e);
        }
    }

    private static JsonNode value(@Nullable Object value) {
        return switch (value) {
            case null -> JSON.nullNode();
            case GenericRecord record -> record(record);
            case Collection<?> list -> {
                ArrayNode array = JSON.arrayNode();
                list.forEach(element -> array.add(value(element)));
                yield array;
            }
            case Long number -> JSON.numberNode(number);
            case Integer number -> JSON.numberNode(number);
            case Double number -> JSON.numberNode(number);
            case Boolean flag -> JSON.booleanNode(flag);
            // Texts and symbols.
            default -> JSON.textNode(value.toString());
        };
    }

    private static ObjectNode record(GenericRecord record) {
        ObjectNode json = JSON.objectNode();
        for (Schema.Field field : record.getSchema().getFields()) {
            json.set(name(field.name()), value(record.get(field.pos())));
        }
        return json;
    }

    /** prefetchThresholdBlocks as prefetch_threshold_blocks. */
    private static String name(String camel) {
        String name = NAMES.get(camel);
        return name != null ? name : camel.replaceAll("([a-z0-9])([A-Z])", "$1_$2").toLowerCase(Locale.ROOT);
    }
}
