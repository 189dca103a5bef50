/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.disk;

import io.tierlog.schemas.Bytes;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.zip.CRC32C;

/**
 * The label of a disk tier: 40 bytes, big-endian: int magic "TLDT", short version 1, short alignment, byte[16] id, long number below
 * which generations may have been given, int zeros, int CRC32C of the bytes before. Immutable.
 */
record TierLabel(Bytes tier, int alignBytes, long generations) {
    private static final int BYTES = 40;
    private static final int MAGIC = 0x544C_4454;
    private static final short VERSION = 1;
    private static final int AT_CHECKSUM = BYTES - Integer.BYTES;

    byte[] encode() {
        ByteBuffer out = ByteBuffer.allocate(BYTES);
        out.putInt(MAGIC).putShort(VERSION).putShort((short) alignBytes).put(tier.unshared()).putLong(generations);
        out.putInt(AT_CHECKSUM, crc32c(out.array()));
        return out.array();
    }

    /** @throws DiskTierException when these are not the bytes of a label */
    static TierLabel decode(byte[] bytes) throws IOException {
        ByteBuffer in = ByteBuffer.wrap(bytes);
        if (bytes.length != BYTES || in.getInt(0) != MAGIC || in.getShort(4) != VERSION || in.getInt(AT_CHECKSUM) != crc32c(bytes)) {
            throw new DiskTierException("the label of the disk tier is damaged or of another version, and without it no block can be distinguished"
                    + " from any other bytes: remove the tier's files to start over");
        }
        byte[] tier = new byte[RecordHeader.TIER_ID_BYTES];
        in.get(8, tier);
        return new TierLabel(Bytes.wrapUnshared(tier), in.getShort(6), in.getLong(24));
    }

    private static int crc32c(byte[] bytes) {
        CRC32C crc = new CRC32C();
        crc.update(bytes, 0, AT_CHECKSUM);
        return (int) crc.getValue();
    }
}
