/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.schemas.decision;

import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.WireRecord;

/** What the controller holds true: every fact, in tierlog.decisions. State is the fold of these. */
public sealed interface Fact extends WireRecord
        permits PartitionOpened, CoreVersionRaised,
        TimeAdvanced, InputSkipped, InputRefused, InputApplied, SweepAdvanced, AgentAccepted, AgentRefused,
                NodeEnded, NodeExpired, NamespacesExpired, NodeSeen,
                EngineJoined, EngineLeft, RequestAdmitted, RequestTransitioned, SealedNoted, BlocksTouched, OperationIssued,
                OperationOverdue, OperationEnded, OrphanAdopted, LeaseRequested, LeaseHeld, LeaseEnded, BlocksPlaced, BlocksBackedUp,
                BlocksUnconfirmed, BlocksRemoved, StoreAgentNamed, DeletionIssued, DeletionEnded, WaterLevelCrossed, WaterLevelRelieved,
                PolicyVersioned, PolicyRefused, PolicyAdopted,
                ConfigWarning, GroupsAdvanced, QuotaExceeded, MigrationSubmitted, MigrationRejected, MigrationCompleted, MarkAdded, MarkConsumed,
                MarkExpired, MarkCleared, DrainChanged, DrainAdvanced, NodeDrained, MigrationOpened, MigrationDeclined, MigrationTaken,
                MigrationStopping, MigrationNoted, MigrationChanged, PromotionAnswered, PromotionsPaused, PromotionSettled, PeerReadGranted,
                PeerReadRefused, PeerReadRecalled, PeerReadClosed, EngineViewNoted {
    /** Whom the record is about, who says it, and where it stands in the sender's count. */
    Envelope envelope();

    /** The same record with another envelope. */
    Fact withEnvelope(Envelope envelope);
}
