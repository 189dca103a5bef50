/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.bridge.decode;

import io.tierlog.schemas.Bytes;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import org.msgpack.core.MessageFormat;
import org.msgpack.core.MessagePack;
import org.msgpack.core.MessageUnpacker;
import org.msgpack.value.ValueType;

/** Reads msgpack whose headers cannot make it allocate more than the payload has bytes. Confined to one payload. */
final class PayloadReader implements AutoCloseable {
    private static final int TEXT_BYTES = 512;
    private static final int SHORTEST_KEY = 8;
    private static final int LONGEST_KEY = 32;

    private final MessageUnpacker in;
    private final int length;

    PayloadReader(byte[] payload) {
        in = MessagePack.newDefaultUnpacker(payload);
        length = payload.length;
    }

    MessageFormat next() throws IOException {
        return in.getNextFormat();
    }

    boolean atEnd() {
        return in.getTotalReadBytes() == length;
    }

    private int fitting(int count) {
        if (count < 0 || count > length - in.getTotalReadBytes()) {
            throw new MalformedPayloadException("a header promises " + count + " elements, more than there are bytes");
        }
        return count;
    }

    int array() throws IOException {
        return fitting(in.unpackArrayHeader());
    }

    int map() throws IOException {
        return fitting(in.unpackMapHeader());
    }

    /** Takes a nil; false when something else is next. */
    boolean nil() throws IOException {
        return in.tryUnpackNil();
    }

    void skip() throws IOException {
        in.skipValue();
    }

    /** An integer; one above 2^63 - 1 by its bit pattern. */
    long integer() throws IOException {
        return next() == MessageFormat.UINT64 ? in.unpackBigInteger().longValue() : in.unpackLong();
    }

    String text() throws IOException {
        return text(TEXT_BYTES);
    }

    String text(int most) throws IOException {
        int size = fitting(in.unpackRawStringHeader());
        if (size > most) {
            throw new MalformedPayloadException("a text of " + size + " bytes: at most " + most);
        }
        return new String(in.readPayload(size), StandardCharsets.UTF_8);
    }

    /** A text, or an empty one for nil. */
    String textOrNothing() throws IOException {
        return nil() ? "" : text();
    }

    byte[] binary() throws IOException {
        return in.readPayload(fitting(in.unpackBinaryHeader()));
    }

    /** The key that a hash is: 8 bytes of a number, big-endian, or 8 to 32 bytes as they are. */
    Bytes hash() throws IOException {
        if (next().getValueType() == ValueType.INTEGER) {
            return key(integer());
        }
        byte[] bytes = binary();
        if (bytes.length < SHORTEST_KEY || bytes.length > LONGEST_KEY) {
            throw new MalformedPayloadException("a hash of " + bytes.length + " bytes: " + SHORTEST_KEY + " to " + LONGEST_KEY);
        }
        return Bytes.wrapUnshared(bytes);
    }

    static Bytes key(long hash) {
        return Bytes.wrapUnshared(ByteBuffer.allocate(Long.BYTES).putLong(hash).array());
    }

    @Override
    public void close() throws IOException {
        in.close();
    }
}
