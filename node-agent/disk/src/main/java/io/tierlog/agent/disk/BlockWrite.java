/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.disk;

import io.tierlog.schemas.Bytes;
import java.lang.foreign.MemorySegment;
import java.util.List;

/**
 * A block to write.
 *
 * @param key 8 to 32 bytes
 * @param position where it stands in its prompt
 * @param bytes native memory, one piece after the other; it must not change until the write has ended
 * @param crc32c that the bytes must have
 */
public record BlockWrite(Bytes key, Position position, List<MemorySegment> bytes, int crc32c) {
    /**
     * Where a block stands in its prompt; what a restart reports with it.
     *
     * @param index from 0
     * @param parent key of the block before, empty for the first
     * @param root key of the first block
     */
    public record Position(int index, Bytes parent, Bytes root) {}
}
