/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.store;

import io.tierlog.agent.app.memory.Checksums;
import io.tierlog.schemas.Bytes;
import java.nio.ByteBuffer;
import java.util.Optional;

/**
 * The 128 bytes before the bytes of every object, big-endian:
 *
 * <pre>
 *   0  int    magic "TLBK"          32  byte[32]  SHA-256 of the namespace
 *   4  short  version, 1            64  byte[32]  key, filled up with zeros
 *   6  short  length of the key     96  zeros
 *   8  long   generation           124  int       CRC32C of bytes 0 to 123
 *  16  long   length of the block
 *  24  int    CRC32C of the block
 *  28  zeros
 * </pre>
 *
 * <p>An object says itself what it is, so one that lies under a wrong name is found out. Immutable.
 */
record ObjectHeader(ObjectName name, long length, int crc32c, long generation) {
    static final int BYTES = 128;
    private static final int MAGIC = 0x544C_424B;
    private static final short VERSION = 1;
    private static final int AT_NAMESPACE = 32;
    private static final int AT_KEY = 64;
    private static final int AT_CHECKSUM = 124;

    /** Writes the header to the start of {@code out}, which has at least {@link #BYTES} bytes; the position stays. */
    void put(ByteBuffer out) {
        ByteBuffer header = out.slice(0, BYTES);
        header.putInt(MAGIC).putShort(VERSION).putShort((short) name.key().size());
        header.putLong(generation).putLong(length).putInt(crc32c).putInt(0);
        header.put(name.namespace().unshared());
        header.put(AT_KEY, new byte[AT_CHECKSUM - AT_KEY]);
        header.put(AT_KEY, name.key().unshared());
        header.putInt(AT_CHECKSUM, Checksums.crc32c(header.slice(0, AT_CHECKSUM)));
    }

    /** The header at the start of {@code in}, or nothing when there is no whole one. */
    static Optional<ObjectHeader> parse(ByteBuffer in) {
        if (in.limit() < BYTES) {
            return Optional.empty();
        }
        ByteBuffer header = in.slice(0, BYTES);
        if (header.getInt(0) != MAGIC
                || header.getShort(4) != VERSION
                || header.getInt(AT_CHECKSUM) != Checksums.crc32c(header.slice(0, AT_CHECKSUM))) {
            return Optional.empty();
        }
        int keyBytes = header.getShort(6);
        if (keyBytes < ObjectName.LEAST_KEY_BYTES || keyBytes > ObjectName.MOST_KEY_BYTES) {
            return Optional.empty();
        }
        byte[] namespace = new byte[ObjectName.DIGEST_BYTES];
        byte[] key = new byte[keyBytes];
        header.get(AT_NAMESPACE, namespace).get(AT_KEY, key);
        ObjectName name = new ObjectName(Bytes.wrapUnshared(namespace), Bytes.wrapUnshared(key));
        return Optional.of(new ObjectHeader(name, header.getLong(16), header.getInt(24), header.getLong(8)));
    }
}
