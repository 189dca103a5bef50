/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.events;

import io.tierlog.events.registry.SchemaIds;
import io.tierlog.events.registry.Subjects;
import io.tierlog.events.wire.WireFormat;
import io.tierlog.schemas.WireRecord;
import io.tierlog.schemas.WireType;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.avro.Schema;

/**
 * Records to bytes and back: the Avro binary of the record in the Confluent wire format, one subject per topic and record type.
 *
 * <p>Safe for use by several threads. A registry that cannot be reached shows as
 * {@link io.tierlog.events.registry.RegistryUnavailableException}, to be waited for; {@link #prepare} asks for all ids at once, so that
 * later nothing but a foreign schema needs the registry. Trade-off: one small map entry per topic and type.
 */
public final class Codec {
    private final SchemaIds ids;
    private final Map<Subject, Integer> known = new ConcurrentHashMap<>();

    private record Subject(String topic, String type) {}

    /** A codec with ids from {@code ids}. */
    public Codec(SchemaIds ids) {
        this.ids = ids;
    }

    /** The framed bytes of {@code value} for {@code topic}. */
    public byte[] encode(String topic, WireRecord value) {
        return frame(topic, value.schema(), avro(value));
    }

    /** The Avro binary of {@code value} without the frame: what {@link RecordStamp} counts. */
    public static byte[] avro(WireRecord value) {
        return avro(WireType.of(value), value);
    }

    private static <T extends WireRecord> byte[] avro(WireType<T> type, WireRecord value) {
        return type.encode(type.javaType().cast(value));
    }

    /** The frame around bytes from {@link #avro}. */
    public byte[] frame(String topic, Schema schema, byte[] avro) {
        return WireFormat.frame(id(topic, schema), avro);
    }

    /** Asks for the ids of all types of a family in a topic. */
    public void prepare(String topic, Class<? extends WireRecord> family) {
        for (WireType<?> type : WireType.ofFamily(family)) {
            id(topic, type.schema());
        }
    }

    /** Reads records of a family; one per thread or shared, as you like. */
    public <F extends WireRecord> RecordReader<F> reader(Class<F> family) {
        return new RecordReader<>(ids, family);
    }

    private int id(String topic, Schema schema) {
        Subject subject = new Subject(topic, schema.getFullName());
        Integer id = known.get(subject);
        if (id == null) {
            id = ids.registered(Subjects.topicRecordName(topic, schema), schema);
            known.put(subject, id);
        }
        return id;
    }
}
