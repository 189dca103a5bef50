/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.disk;

import io.tierlog.schemas.BlockStatus;
import io.tierlog.schemas.OperationReason;

/**
 * What became of one block.
 *
 * @param status ARRIVED; ALREADY_THERE (writes: the disk has the block, no byte was written); GONE (drops); FAILED
 * @param reason COMPLETED, or why it failed: NOT_FOUND, STALE_GENERATION, CHECKSUM, UNSUPPORTED (a right block of another length, or beyond a
 *     limit), NO_ROOM, QUEUE_FULL, CANCELLED, IO
 * @param crc32c of the block's bytes; 0 when it failed and for drops
 * @param generation of the block on this disk; 0 when it failed
 * @param detail a sentence for people; empty without a failure
 */
public record DiskResult(BlockStatus status, OperationReason reason, int crc32c, long generation, String detail) {
    static DiskResult arrived(BlockTable.Entry entry) {
        return new DiskResult(BlockStatus.ARRIVED, OperationReason.COMPLETED, entry.crc32c(), entry.generation(), "");
    }

    static DiskResult alreadyThere(BlockTable.Entry entry) {
        return new DiskResult(BlockStatus.ALREADY_THERE, OperationReason.COMPLETED, entry.crc32c(), entry.generation(), "");
    }

    static DiskResult gone(long generation) {
        return new DiskResult(BlockStatus.GONE, OperationReason.COMPLETED, 0, generation, "");
    }

    static DiskResult failed(OperationReason reason, String detail) {
        return new DiskResult(BlockStatus.FAILED, reason, 0, 0, detail);
    }

    /** True unless it failed. */
    public boolean isDone() {
        return status != BlockStatus.FAILED;
    }
}
