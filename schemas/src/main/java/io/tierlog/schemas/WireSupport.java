/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.schemas;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Collections;
import java.util.Map;
import java.util.TreeMap;
import org.apache.avro.Schema;
import org.apache.avro.io.Decoder;
import org.apache.avro.io.ResolvingDecoder;
import org.jspecify.annotations.Nullable;

/** What generated records and enums share. Only they call it; without state. */
public final class WireSupport {
    /** Longest list allocated before its elements were seen; longer ones grow. */
    private static final int FIRST_CAPACITY = 1_024;

    private WireSupport() {}

    /** Parses a schema that the generator had to cut into several constants. */
    public static Schema parse(String first, String... more) {
        return new Schema.Parser().parse(first, more);
    }

    /** The order of the fields to come when it is not the order of the reader's schema, else null. */
    public static Schema.Field @Nullable [] fieldOrder(Decoder in) throws IOException {
        return in instanceof ResolvingDecoder resolving ? resolving.readFieldOrderIfDiff() : null;
    }

    /** Reads the branch of a {@code union{null, T}}: true for null, which is then read as well. */
    public static boolean isNull(Decoder in) throws IOException {
        int branch = in.readIndex();
        if (branch == 0) {
            in.readNull();
            return true;
        }
        if (branch != 1) {
            throw new IOException("No branch " + branch + " in a union of null and one type");
        }
        return false;
    }

    /** Reads a {@code bytes} value. */
    public static Bytes readBytes(Decoder in) throws IOException {
        ByteBuffer buffer = in.readBytes(null);
        // A decoder given no old buffer makes a new one, so no other code holds the array.
        if (buffer.hasArray() && buffer.arrayOffset() == 0 && buffer.position() == 0 && buffer.remaining() == buffer.array().length) {
            return Bytes.wrapUnshared(buffer.array());
        }
        byte[] exact = new byte[buffer.remaining()];
        buffer.get(exact);
        return Bytes.wrapUnshared(exact);
    }

    /** The symbol at {@code index}. */
    public static <E> E symbol(E[] symbols, int index) throws IOException {
        if (index < 0 || index >= symbols.length) {
            throw new IOException("No symbol " + index + " in an enum of " + symbols.length);
        }
        return symbols[index];
    }

    /** First capacity of a list for which {@code count} elements are announced. */
    public static int capacity(long count) {
        return (int) Math.min(count, FIRST_CAPACITY);
    }

    /** Adds an entry; a key that stands twice is refused, for such a map would not be written back as it was read. */
    public static <V> void putNew(Map<String, V> map, String key, V value) throws IOException {
        if (map.putIfAbsent(key, value) != null) {
            throw new IOException("Key stands twice in a map: " + key);
        }
    }

    /** An unmodifiable copy in the order of the keys, so that equal maps give equal bytes. */
    public static <V> Map<String, V> sorted(Map<String, V> map) {
        TreeMap<String, V> copy = new TreeMap<>(map);
        if (copy.containsValue(null)) {
            throw new NullPointerException("A map of a record holds no null");
        }
        return Collections.unmodifiableMap(copy);
    }
}
