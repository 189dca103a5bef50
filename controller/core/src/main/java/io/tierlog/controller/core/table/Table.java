/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.table;

import io.tierlog.schemas.WireRecord;
import io.tierlog.schemas.WireType;
import java.nio.ByteBuffer;
import java.util.function.Function;
import java.util.function.ToIntFunction;
import org.apache.avro.Schema;
import org.jspecify.annotations.Nullable;

/**
 * One table: how its keys and rows become bytes. Immutable.
 *
 * <p>Key bytes: aggregate, number of the table, the rest of the key. Row bytes: one byte for the format, then Avro's binary encoding.
 *
 * @param <K> its keys
 * @param <V> its rows
 */
public final class Table<K extends RowKey<K>, V extends WireRecord> {
    /** The only format of rows so far; a later one would be read besides it, and rows rewritten as they change. */
    private static final byte FORMAT = 1;

    private final int number;
    private final String name;
    private final @Nullable ToIntFunction<? super V> weigher;
    private final @Nullable Function<String, K> first;
    private final KeyDecoder<K> keys;
    private final WireType<V> rows;

    /** Reads the rest of a key. */
    @FunctionalInterface
    interface KeyDecoder<K> {
        K read(String aggregate, KeyReader in);
    }

    /**
     * A table.
     *
     * @param weigher weight of a row among kept ones; null for a table that is a queue, whose rows are not worth keeping
     */
    Table(int number, @Nullable ToIntFunction<? super V> weigher, String name, KeyDecoder<K> keys, WireType<V> rows) {
        this(number, weigher, null, name, keys, rows);
    }

    /**
     * A table that is a short queue: all rows of an aggregate are worth keeping, for as long as they fit.
     *
     * @param first the key before all others of an aggregate
     */
    static <K extends RowKey<K>, V extends WireRecord> Table<K, V> shortQueue(
            int number, ToIntFunction<? super V> weigher, Function<String, K> first, String name, KeyDecoder<K> keys, WireType<V> rows) {
        return new Table<>(number, weigher, first, name, keys, rows);
    }

    private Table(
            int number, @Nullable ToIntFunction<? super V> weigher, @Nullable Function<String, K> first, String name, KeyDecoder<K> keys,
            WireType<V> rows) {
        this.number = number;
        this.weigher = weigher;
        this.first = first;
        this.name = name;
        this.keys = keys;
        this.rows = rows;
    }

    /** Bytes of a store are no row, or no key, of their table: they were damaged, or a later version wrote them. */
    public static final class Unreadable extends IllegalStateException {
        private static final long serialVersionUID = 1L;

        /** With what cannot be read. */
        public Unreadable(String what, @Nullable Throwable cause) {
            super(what + " cannot be read" + (cause == null ? "" : ": " + cause.getMessage()), cause);
        }
    }

    /** Its number, from 1: part of every key, so it never changes. */
    int number() {
        return number;
    }

    /** Whether inputs often use the same row again, so that it is worth keeping decoded. */
    boolean isKept() {
        return weigher != null && first == null;
    }

    /** The key before all others of an aggregate, when this is a short queue; null otherwise. */
    @Nullable K first(String aggregate) {
        return first == null ? null : first.apply(aggregate);
    }

    /** Weight of a kept row, at least 1: it grows with the blocks that the row lists. */
    int weight(V row) {
        return weigher == null ? 1 : weigher.applyAsInt(row);
    }

    /** Its name, for people. */
    public String name() {
        return name;
    }

    /** The bytes of {@code key}. */
    public byte[] encodeKey(KeyWriter out, K key) {
        out.reset().text(key.aggregate());
        out.int8(number);
        key.writeRest(out);
        return out.toBytes();
    }

    /** Before the first and after the last key of an aggregate in this table. */
    byte[] edge(KeyWriter out, String aggregate, boolean upper) {
        out.reset().text(aggregate);
        out.int8(upper ? number + 1 : number);
        return out.toBytes();
    }

    /**
     * The key that {@link #encodeKey} gave these bytes to.
     *
     * @throws Unreadable when there is none
     */
    public K decodeKey(byte[] bytes) {
        try {
            KeyReader in = new KeyReader(bytes);
            String aggregate = in.text();
            int found = in.int8();
            if (found != number) {
                throw new IllegalStateException("it is one of table " + found);
            }
            return keys.read(aggregate, in);
        } catch (RuntimeException e) {
            throw new Unreadable("a key of table " + number + ", " + name + ", of " + bytes.length + " bytes", e);
        }
    }

    /** The bytes of {@code row}. */
    byte[] encodeRow(V row) {
        byte[] body = rows.encode(row);
        byte[] bytes = new byte[body.length + 1];
        bytes[0] = FORMAT;
        System.arraycopy(body, 0, bytes, 1, body.length);
        return bytes;
    }

    /**
     * The row that {@link #encodeRow} gave these bytes to.
     *
     * @throws Unreadable when there is none
     */
    V decodeRow(byte[] bytes) {
        if (bytes.length == 0 || bytes[0] != FORMAT) {
            throw new Unreadable("a row of " + name + " of " + bytes.length + " bytes, in a format that this version does not know,", null);
        }
        try {
            return rows.decode(ByteBuffer.wrap(bytes, 1, bytes.length - 1), rows.schema());
        } catch (RuntimeException e) {
            throw new Unreadable("a row of " + name + " of " + bytes.length + " bytes", e);
        }
    }

    /** The schema of its rows. */
    Schema schema() {
        return rows.schema();
    }

    /** A row without its format, as {@link RowImage} keeps it. */
    byte[] encodeBare(V row) {
        return rows.encode(row);
    }

    /** Reads {@link #encodeBare}, by the schema of its writer. */
    V decodeBare(byte[] bytes, Schema writer) {
        return rows.decode(bytes, writer);
    }

    @Override
    public String toString() {
        return name;
    }
}
