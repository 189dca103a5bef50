/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.engine;

import io.tierlog.agent.core.port.EngineReplies.BlockAnswer;
import io.tierlog.engine.v1.BlockReason;
import io.tierlog.engine.v1.BlockStatus;
import io.tierlog.schemas.OperationReason;
import java.util.List;

/** What became of single blocks, as the engine API reports it. Static and without state. */
final class BlockAnswers {
    private BlockAnswers() {}

    static List<BlockStatus> encode(List<BlockAnswer> blocks) {
        return blocks.stream()
                .map(block -> BlockStatus.newBuilder().setDone(block.done()).setReason(reason(block.reason())).build())
                .toList();
    }

    static BlockReason reason(OperationReason reason) {
        return switch (reason) {
            case COMPLETED -> BlockReason.BLOCK_REASON_DONE;
            case NO_ROOM, QUOTA_EXCEEDED -> BlockReason.BLOCK_REASON_NO_ROOM;
            case QUEUE_FULL -> BlockReason.BLOCK_REASON_BUSY;
            case CHECKSUM -> BlockReason.BLOCK_REASON_CHECKSUM;
            case NOT_FOUND, NOT_SERVING, PREFIX_GONE, ALREADY_THERE -> BlockReason.BLOCK_REASON_NOT_HELD;
            case STALE_GENERATION, SOURCE_LOST -> BlockReason.BLOCK_REASON_STALE;
            case MOVED_ON -> BlockReason.BLOCK_REASON_WAIT_EXPIRED;
            case CANCELLED, NEVER_STARTED, ENGINE_GONE, NODE_LOST -> BlockReason.BLOCK_REASON_CANCELLED;
            case IO, DEVICE_FAULT, STORE_UNAVAILABLE -> BlockReason.BLOCK_REASON_FAULT;
            case UNKNOWN, PARTIAL, PINNED, LAST_COPY, NOT_IN_STORE, STALE_COMMAND, COMMAND_CONFLICT, STALE_INCARNATION, UNSUPPORTED,
                    REPORTED_BY_AGENT, COPY_RESULT_MISMATCH, DRAINING ->
                BlockReason.BLOCK_REASON_REFUSED;
        };
    }
}
