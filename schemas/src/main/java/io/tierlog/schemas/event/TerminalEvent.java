/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.schemas.event;

import io.tierlog.schemas.BlockResult;
import java.util.List;

/** The end of an operation, and what became of each of its blocks. */
public sealed interface TerminalEvent extends AgentEvent
        permits WriteBackDone, WriteBackFailed, PrefetchDone, PrefetchFailed, PromoteDone, PromoteFailed, BackUpDone, BackUpFailed, CopyDone,
                CopyFailed, DropDone, DropFailed, OperationCancelled, LoadBackEvent {
    /** Id of the operation. */
    String operation();

    /** Namespace of the blocks. */
    String namespace();

    /** What became of each block. */
    List<BlockResult> blocks();
}
