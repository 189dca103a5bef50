/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.schemas.command;

import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.WireRecord;

/** What an agent shall do: an intent, in tierlog.commands. It may be lost, repeated or late. */
public sealed interface Command extends WireRecord
        permits PrefetchBlocks, WriteBackBlocks, BackUpBlocks, CopyBlocks, DropBlocks, ResumeRequest, ReleaseRequest, RefuseSave, ReleasePins,
                CancelOperation, FenceAgent, PromoteBlocks, GrantPeerRead, RefusePeerRead, DeleteObjects {
    /** Whom the record is about, who says it, and where it stands in the sender's count. */
    Envelope envelope();

    /** Its id and its number among the commands to the node; a fence and a deletion from the store have the number 0, and no place among them. */
    CommandHeader header();

    /** The same record with another envelope. */
    Command withEnvelope(Envelope envelope);
}
