/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.engine.workload;

import com.google.protobuf.ByteString;
import java.nio.ByteBuffer;
import java.util.HexFormat;

/** Key of a block: 16 opaque bytes, chained over the prefix. Immutable. */
public record BlockKey(long high, long low) {
    /** Length of a key on the wire, in bytes. */
    public static final int BYTES = 16;

    private static final long FIRST = 0x7E4A_91C3_5D2B_F06DL;
    private static final long SECOND = 0x1B87_35E9_C4D6_A2F3L;

    /** The key of the block that a workload calls {@code id}. Distinct ids have distinct keys: the first half is a bijection of the id. */
    public static BlockKey of(long id) {
        long high = scramble(id ^ FIRST);
        return new BlockKey(high, scramble(Long.rotateLeft(id, 32) ^ high ^ SECOND));
    }

    private static long scramble(long value) {
        long z = (value ^ (value >>> 31)) * 0x9FB2_1C65_1E98_DF25L;
        z = (z ^ (z >>> 29)) * 0xD6E8_FEB8_6659_FD93L;
        return z ^ (z >>> 32);
    }

    /** The key in the encoding of the engine API. */
    public ByteString toByteString() {
        return ByteString.copyFrom(ByteBuffer.wrap(toBytes()));
    }

    /** A fresh array of {@link #BYTES} bytes. */
    public byte[] toBytes() {
        return ByteBuffer.allocate(BYTES).putLong(high).putLong(low).array();
    }

    @Override
    public String toString() {
        HexFormat hex = HexFormat.of();
        return hex.toHexDigits(high) + hex.toHexDigits(low);
    }
}
