/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.memory;

import java.nio.ByteBuffer;
import java.util.zip.CRC32C;

/** CRC32C, the checksum of every block at every tier. Static and without state. */
public final class Checksums {
    private Checksums() {}

    /** CRC32C of what remains of {@code bytes}, whose position stays. */
    public static int crc32c(ByteBuffer bytes) {
        CRC32C crc = new CRC32C();
        crc.update(bytes.duplicate());
        return (int) crc.getValue();
    }

    /** CRC32C of {@code length} bytes of {@code bytes} from {@code from}. */
    public static int crc32c(byte[] bytes, int from, int length) {
        CRC32C crc = new CRC32C();
        crc.update(bytes, from, length);
        return (int) crc.getValue();
    }
}
