/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.schemas.event;

import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.WireRecord;

/** What arrives in tierlog.events: everything reported, by agents, engines, operators, the clock and the relay. */
public sealed interface Event extends WireRecord
        permits AgentRegistering, AgentStopping, AgentHeartbeat, EngineAttached, EngineDetached, RequestSubmitted, RequestPrefilled,
                RequestFinished, RequestCancelled, RequestRejected, WaitExpired, BlocksSealed, SaveRequested, BlocksEvicted, OperationStarted,
                WriteBackDone, WriteBackFailed, PrefetchDone, PrefetchFailed, BackUpDone, BackUpFailed, LoadBackDone, LoadBackFailed,
                DropDone, DropFailed, CopyDone, CopyFailed, BlocksRecovered, BlocksSeenStored, OperationCancelled, CommandRefused, BlocksStored,
                Tick, PolicyChangeRequested, MigrationRequested, MigrationCancelRequested, MarksClearRequested, NodeDrainRequested,
                PromotionRequested, PromoteDone, PromoteFailed, PeerReadRequested, PeerReadHeld, PeerReadEnded,
                PeerReadGivenUp, Message {
    /** Whom the record is about, who says it, and where it stands in the sender's count. */
    Envelope envelope();

    /** The same record with another envelope. */
    Event withEnvelope(Envelope envelope);
}
