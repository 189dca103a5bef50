/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.schemas;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.Comparator;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.stream.Stream;
import org.apache.avro.Schema;
import org.apache.avro.io.BinaryEncoder;
import org.apache.avro.io.Decoder;
import org.apache.avro.io.DecoderFactory;
import org.apache.avro.io.EncoderFactory;
import org.apache.avro.io.ResolvingDecoder;
import org.jspecify.annotations.Nullable;

/**
 * Encodes and decodes one type of record; the constant {@code TYPE} of each generated record.
 *
 * <p>Safe for use by several threads: what a call works with belongs to the thread. Trade-off: per thread and type one buffer of at most
 * {@value #KEPT_BUFFER_BYTES} bytes, and resolvers for at most {@value #KEPT_WRITERS} schemas of writers. A writer's schema is
 * recognised by identity, so callers keep one instance per registry id.
 *
 * @param <T> the generated record
 */
public final class WireType<T extends WireRecord> {
    private static final int KEPT_BUFFER_BYTES = 1 << 20;
    private static final int KEPT_WRITERS = 16;

    /** Reads one record; the static {@code decode} of a generated record. */
    @FunctionalInterface
    public interface Reader<T extends WireRecord> {
        T read(Decoder in) throws IOException;
    }

    private static final ClassValue<WireType<?>> TYPES = new ClassValue<>() {
        @Override
        protected WireType<?> computeValue(Class<?> type) {
            try {
                if (type.getField("TYPE").get(null) instanceof WireType<?> found && found.javaType == type) {
                    return found;
                }
            } catch (NoSuchFieldException | IllegalAccessException e) {
                throw new IllegalArgumentException(type + " is no generated record: it has no public constant TYPE", e);
            }
            throw new IllegalArgumentException("The constant TYPE of " + type + " is not its wire type");
        }
    };

    private final Class<T> javaType;
    private final Schema schema;
    private final Reader<T> reader;
    private final ThreadLocal<Workbench> workbench;

    /** Called by generated records. */
    public WireType(Class<T> javaType, Schema schema, Reader<T> reader) {
        this.javaType = javaType;
        this.schema = schema;
        this.reader = reader;
        this.workbench = ThreadLocal.withInitial(Workbench::new);
    }

    /**
     * The wire type of a generated record.
     *
     * @throws IllegalArgumentException when {@code type} is not one
     */
    @SuppressWarnings("unchecked") // computeValue checks that the type found is the one of this class
    public static <T extends WireRecord> WireType<T> of(Class<T> type) {
        return (WireType<T>) TYPES.get(type);
    }

    /** The wire type of {@code value}. */
    public static WireType<? extends WireRecord> of(WireRecord value) {
        return of(value.getClass());
    }

    /**
     * The wire types of all records of a sealed interface and of the sealed interfaces under it, by full name.
     *
     * @throws IllegalArgumentException when something in the family is neither sealed nor a generated record
     */
    public static <F extends WireRecord> List<WireType<? extends F>> ofFamily(Class<F> family) {
        return members(family).<WireType<? extends F>>map(WireType::of).sorted(Comparator.comparing(WireType::fullName)).toList();
    }

    private static <F extends WireRecord> Stream<Class<? extends F>> members(Class<F> family) {
        if (!family.isSealed()) {
            throw new IllegalArgumentException(family + " is not sealed");
        }
        return Stream.of(family.getPermittedSubclasses())
                .<Class<? extends F>>map(member -> member.asSubclass(family))
                .flatMap(member -> member.isInterface() ? members(member) : Stream.of(member))
                .distinct();
    }

    /** Name of the record type with its namespace. */
    public String fullName() {
        return schema.getFullName();
    }

    /** The class of the records. */
    public Class<T> javaType() {
        return javaType;
    }

    /** The schema that {@link #encode} writes with. */
    public Schema schema() {
        return schema;
    }

    /** The bytes of {@code value}, without any prefix. */
    public byte[] encode(T value) {
        Workbench bench = workbench.get();
        boolean done = false;
        try {
            bench.encoder = EncoderFactory.get().binaryEncoder(bench.buffer, bench.encoder);
            value.encode(bench.encoder);
            bench.encoder.flush();
            byte[] bytes = bench.buffer.toByteArray();
            done = bytes.length <= KEPT_BUFFER_BYTES;
            return bytes;
        } catch (IOException e) {
            throw new UncheckedIOException("A buffer in memory failed while encoding " + fullName(), e);
        } finally {
            bench.buffer.reset();
            if (!done) {
                workbench.remove();
            }
        }
    }

    /** Reads a record written with {@link #schema()}. */
    public T decode(byte[] bytes) {
        return decode(bytes, 0, bytes.length, schema);
    }

    /**
     * Reads a record that fills {@code bytes} and was written with {@code writer}.
     *
     * @throws MalformedRecordException when it is not one whole record, or {@code writer} cannot be read as this type
     */
    public T decode(byte[] bytes, Schema writer) {
        return decode(bytes, 0, bytes.length, writer);
    }

    /** Reads a record that fills what remains of {@code bytes}, whose position stays; see {@link #decode(byte[], Schema)}. */
    public T decode(ByteBuffer bytes, Schema writer) {
        if (bytes.hasArray()) {
            return decode(bytes.array(), bytes.arrayOffset() + bytes.position(), bytes.remaining(), writer);
        }
        byte[] copy = new byte[bytes.remaining()];
        bytes.get(bytes.position(), copy);
        return decode(copy, 0, copy.length, writer);
    }

    private T decode(byte[] bytes, int offset, int length, Schema writer) {
        Workbench bench = workbench.get();
        SliceDecoder slice = bench.slice;
        slice.reset(bytes, offset, length);
        try {
            ResolvingDecoder resolver = bench.resolver(writer);
            T value = reader.read(resolver == null ? slice : resolver);
            if (resolver != null) {
                resolver.drain();
            }
            if (slice.remaining() > 0) {
                throw new MalformedRecordException(fullName(), slice.remaining() + " bytes follow the record");
            }
            return value;
        } catch (MalformedRecordException e) {
            throw e;
        } catch (IOException | RuntimeException e) {
            // Everything in here depends on the bytes and the schemas only, and Avro's resolver answers some bad input (the branch of a
            // union, for one) with exceptions of the runtime.
            throw new MalformedRecordException(fullName(), e);
        } finally {
            slice.clear();
        }
    }

    @Override
    public String toString() {
        return "WireType[" + fullName() + "]";
    }

    /** How a writer's schema is read: through a resolver, or without one when it equals ours. */
    private record Route(@Nullable ResolvingDecoder resolver) {
        static final Route STRAIGHT = new Route(null);
    }

    /** What one thread needs to encode and decode this type. */
    private final class Workbench {
        private final ByteArrayOutputStream buffer = new ByteArrayOutputStream();
        private final SliceDecoder slice = new SliceDecoder();
        private final IdentityHashMap<Schema, Route> routes = new IdentityHashMap<>();
        private @Nullable BinaryEncoder encoder;

        /** A resolver set to the slice, or null when none is needed. */
        @Nullable ResolvingDecoder resolver(Schema writer) throws IOException {
            Route route = routes.get(writer);
            if (route == null) {
                route = plan(writer);
            }
            ResolvingDecoder resolver = route.resolver();
            if (resolver != null) {
                resolver.configure(slice);
            }
            return resolver;
        }

        private Route plan(Schema writer) throws IOException {
            if (routes.size() == KEPT_WRITERS) {
                // More writers than a log in good order has: forgetting all of them costs time only.
                routes.clear();
            }
            Route route = writer.equals(schema) ? Route.STRAIGHT : new Route(DecoderFactory.get().resolvingDecoder(writer, schema, slice));
            routes.put(writer, route);
            return route;
        }
    }
}
