/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.events;

import io.tierlog.events.registry.SchemaIds;
import io.tierlog.events.registry.UnknownSchemaIdException;
import io.tierlog.events.registry.UnreadableSchemaException;
import io.tierlog.events.wire.WireFormat;
import io.tierlog.events.wire.WireFormatException;
import io.tierlog.schemas.MalformedRecordException;
import io.tierlog.schemas.SkipReason;
import io.tierlog.schemas.WireRecord;
import io.tierlog.schemas.WireType;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.avro.Schema;
import org.jspecify.annotations.Nullable;

/**
 * Bytes to records of one family. What each answer means:
 *
 * <pre>
 * Decoded                        a record of the family
 * Unreadable                     never will be one: not framed, no such schema, not whole, or of another family
 * UnknownTypeException           in good order, and written by a later version: stop
 * RegistryUnavailableException   unknown for now: wait and try again
 * </pre>
 *
 * <p>Safe for use by several threads. Trade-off: one route per schema id is remembered, at most {@value #MAX_ROUTES}.
 *
 * @param <F> the family
 */
public final class RecordReader<F extends WireRecord> {
    private static final int MAX_ROUTES = 10_000;

    private final SchemaIds ids;
    private final Map<String, WireType<? extends F>> types = new HashMap<>();
    private final Set<String> namespaces = new HashSet<>();
    private final Map<Integer, Route<F>> routes = new ConcurrentHashMap<>();

    /** How the records of one schema id are read: as {@code type}, or not at all when that is null. */
    private record Route<F extends WireRecord>(Schema writer, @Nullable WireType<? extends F> type, boolean newerSymbols) {}

    RecordReader(SchemaIds ids, Class<F> family) {
        this.ids = ids;
        for (WireType<? extends F> type : WireType.ofFamily(family)) {
            types.put(type.fullName(), type);
            namespaces.add(type.schema().getNamespace());
        }
    }

    /**
     * Reads the value of one Kafka record; null is a record without a value.
     *
     * @throws UnknownTypeException when a later version wrote it
     * @throws io.tierlog.events.registry.RegistryUnavailableException when its schema cannot be asked for now
     */
    public Reading<F> read(byte @Nullable [] framed) {
        if (framed == null) {
            return new Reading.Unreadable<>(SkipReason.NOT_AVRO, "the record has no value");
        }
        Route<F> route;
        try {
            route = route(WireFormat.schemaId(framed));
        } catch (WireFormatException e) {
            return new Reading.Unreadable<>(SkipReason.NOT_AVRO, sentence(e));
        } catch (UnknownSchemaIdException e) {
            return new Reading.Unreadable<>(SkipReason.UNKNOWN_SCHEMA_ID, sentence(e));
        } catch (UnreadableSchemaException e) {
            return new Reading.Unreadable<>(SkipReason.NOT_AVRO, sentence(e));
        }
        WireType<? extends F> type = route.type();
        if (type == null) {
            return new Reading.Unreadable<>(SkipReason.NOT_AN_EVENT, "a " + route.writer().getFullName() + " does not belong in this topic");
        }
        ByteBuffer avro = ByteBuffer.wrap(framed, WireFormat.HEADER_BYTES, framed.length - WireFormat.HEADER_BYTES);
        try {
            F value = type.decode(avro, route.writer());
            if (route.newerSymbols()) {
                NewerSymbols.refuse(avro, route.writer(), type.schema());
            }
            return new Reading.Decoded<>(value);
        } catch (MalformedRecordException e) {
            return new Reading.Unreadable<>(SkipReason.MALFORMED, sentence(e));
        }
    }

    /**
     * Whether the value of a Kafka record is of that type, by its schema alone: nothing is decoded. False for what cannot be read, and for what a
     * later version wrote.
     *
     * @throws io.tierlog.events.registry.RegistryUnavailableException when its schema cannot be asked for now
     */
    public boolean is(byte @Nullable [] framed, WireType<? extends F> type) {
        try {
            return framed != null && type.equals(route(WireFormat.schemaId(framed)).type());
        } catch (WireFormatException | UnknownSchemaIdException | UnreadableSchemaException | UnknownTypeException e) {
            return false;
        }
    }

    private Route<F> route(int id) {
        Route<F> route = routes.get(id);
        if (route == null) {
            route = plan(ids.byId(id));
            if (routes.size() >= MAX_ROUTES) {
                // More schemas than a log in good order has: forgetting them costs time only.
                routes.clear();
            }
            routes.put(id, route);
        }
        return route;
    }

    private Route<F> plan(Schema writer) {
        if (writer.getType() != Schema.Type.RECORD) {
            return new Route<>(writer, null, false);
        }
        WireType<? extends F> type = types.get(writer.getFullName());
        if (type == null && namespaces.contains(writer.getNamespace())) {
            throw new UnknownTypeException("the record type " + writer.getFullName());
        }
        return new Route<>(writer, type, type != null && NewerSymbols.possible(writer, type.schema()));
    }

    private static String sentence(RuntimeException e) {
        return String.valueOf(e.getMessage());
    }
}
