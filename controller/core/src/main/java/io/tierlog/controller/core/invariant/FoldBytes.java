/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.invariant;

import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.WireRecord;
import io.tierlog.schemas.WireType;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Carries the state of folds to bytes and back. Each method takes a value and returns it: when state is written, the value that was given; when it is
 * read, the value that was written. So one method of a class, which moves its fields in order, does both, and the two cannot differ.
 *
 * <p>Maps keep their order, so the same fold gives the same bytes whether it began at the beginning or at saved state. Confined to one thread.
 */
public final class FoldBytes {
    /** Longest single value; a longer one is not what was written. */
    private static final int MAX_BYTES = 64 << 20;

    private final @Nullable DataOutputStream out;
    private final @Nullable DataInputStream in;

    private FoldBytes(@Nullable DataOutputStream out, @Nullable DataInputStream in) {
        this.out = out;
        this.in = in;
    }

    /** Moves one value. */
    @FunctionalInterface
    public interface Item<T> {
        /** Writes {@code value}, or reads one: then {@code value} is null. */
        T move(@Nullable T value);
    }

    private interface Io<T> {
        T run() throws IOException;
    }

    /** Writes state; {@code out} is not closed. */
    public static FoldBytes to(DataOutputStream out) {
        return new FoldBytes(out, null);
    }

    /** Reads state; {@code in} is not closed. A stream that ends early or holds something else gives an {@link UncheckedIOException}. */
    public static FoldBytes from(DataInputStream in) {
        return new FoldBytes(null, in);
    }

    /** Whether state is read. */
    public boolean reads() {
        return in != null;
    }

    private static <T> T unchecked(Io<T> io) {
        try {
            return io.run();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** A whole number. */
    public long int64(long value) {
        return unchecked(() -> {
            if (in != null) {
                return in.readLong();
            }
            writer().writeLong(value);
            return value;
        });
    }

    /** A whole number of 32 bits. */
    public int int32(int value) {
        return unchecked(() -> {
            if (in != null) {
                return in.readInt();
            }
            writer().writeInt(value);
            return value;
        });
    }

    /** Yes or no. */
    public boolean bool(boolean value) {
        return unchecked(() -> {
            if (in != null) {
                return in.readBoolean();
            }
            writer().writeBoolean(value);
            return value;
        });
    }

    /** A text. */
    public String text(@Nullable String value) {
        return new String(raw(value == null ? null : value.getBytes(StandardCharsets.UTF_8)), StandardCharsets.UTF_8);
    }

    /** A text that may be missing. */
    public @Nullable String optional(@Nullable String value) {
        return bool(value != null) ? text(value) : null;
    }

    /** A key of a block. */
    public Bytes bytes(@Nullable Bytes value) {
        return Bytes.wrapUnshared(raw(value == null ? null : value.unshared()));
    }

    /** A symbol, by its name. */
    public <E extends Enum<E>> E symbol(Class<E> type, @Nullable E value) {
        return Enum.valueOf(type, text(value == null ? null : value.name()));
    }

    /** A record, by this build's schema. */
    public <T extends WireRecord> T record(WireType<T> type, @Nullable T value) {
        byte[] bytes = raw(value == null ? null : type.encode(value));
        return value == null ? type.decode(bytes) : value;
    }

    /** The entries of a map in their order; when read, they are put into {@code map}. */
    public <K, V> void map(Map<K, V> map, Item<K> key, Item<V> value) {
        long size = int64(map.size());
        if (reads()) {
            for (long i = 0; i < size; i++) {
                K k = key.move(null);
                map.put(k, value.move(null));
            }
        } else {
            map.forEach((k, v) -> {
                key.move(k);
                value.move(v);
            });
        }
    }

    /** The items of a list in their order. */
    public <T> List<T> list(@Nullable List<T> list, Item<T> item) {
        long size = int64(list == null ? 0 : list.size());
        if (list != null && !reads()) {
            list.forEach(item::move);
            return list;
        }
        List<T> read = new ArrayList<>();
        for (long i = 0; i < size; i++) {
            read.add(item.move(null));
        }
        return read;
    }

    private byte[] raw(byte @Nullable [] value) {
        return unchecked(() -> {
            if (in != null) {
                int length = in.readInt();
                if (length < 0 || length > MAX_BYTES) {
                    throw new IOException("a value of " + length + " bytes");
                }
                byte[] read = new byte[length];
                in.readFully(read);
                return read;
            }
            byte[] written = value == null ? new byte[0] : value;
            writer().writeInt(written.length);
            writer().write(written);
            return written;
        });
    }

    private DataOutputStream writer() {
        if (out == null) {
            throw new IllegalStateException("it reads");
        }
        return out;
    }
}
