/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.schemas.event;

import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.WireRecord;

/**
 * What arrives in tierlog.events: everything reported, by agents, engines, operators, the clock and the relay.
 *
 * <p>Events that are treated alike form a family of their own, so that a switch names each type once: {@link AgentEvent}, {@link NodeRequest},
 * {@link Message}.
 */
public sealed interface Event extends WireRecord
        permits Tick, PolicyChangeRequested, MigrationRequested, MigrationCancelRequested, BlocksStored, BlocksMissing, StoreReadStarted,
                ObjectsDeleted, StoreFull, AgentRegistering, NodeRequest, AgentEvent, Message {
    /** Whom the record is about, who says it, and where it stands in the sender's count. */
    Envelope envelope();

    /** The same record with another envelope. */
    Event withEnvelope(Envelope envelope);
}
