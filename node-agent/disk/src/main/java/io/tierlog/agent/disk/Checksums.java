/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.disk;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.zip.CRC32C;

/** CRC32C of native memory. Static and without state. */
final class Checksums {
    private Checksums() {}

    /** CRC32C of the pieces one after the other. */
    static int crc32c(List<MemorySegment> pieces) {
        CRC32C crc = new CRC32C();
        for (MemorySegment piece : pieces) {
            crc.update(piece.asByteBuffer());
        }
        return (int) crc.getValue();
    }

    static int crc32c(MemorySegment bytes) {
        CRC32C crc = new CRC32C();
        crc.update(bytes.asByteBuffer());
        return (int) crc.getValue();
    }
}
