/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.audit.history;

import io.tierlog.schemas.WireType;
import io.tierlog.schemas.decision.AgentAccepted;
import io.tierlog.schemas.decision.AgentRefused;
import io.tierlog.schemas.decision.BlocksBackedUp;
import io.tierlog.schemas.decision.BlocksPlaced;
import io.tierlog.schemas.decision.BlocksRemoved;
import io.tierlog.schemas.decision.ConfigWarning;
import io.tierlog.schemas.decision.DrainChanged;
import io.tierlog.schemas.decision.EngineJoined;
import io.tierlog.schemas.decision.EngineLeft;
import io.tierlog.schemas.decision.Fact;
import io.tierlog.schemas.decision.InputRefused;
import io.tierlog.schemas.decision.MarkAdded;
import io.tierlog.schemas.decision.MigrationDeclined;
import io.tierlog.schemas.decision.MigrationStopping;
import io.tierlog.schemas.decision.MigrationTaken;
import io.tierlog.schemas.decision.NodeDrained;
import io.tierlog.schemas.decision.NodeEnded;
import io.tierlog.schemas.decision.NodeExpired;
import io.tierlog.schemas.decision.OperationIssued;
import io.tierlog.schemas.decision.OperationOverdue;
import io.tierlog.schemas.decision.PromotionsPaused;
import io.tierlog.schemas.decision.QuotaExceeded;
import io.tierlog.schemas.decision.RequestAdmitted;
import io.tierlog.schemas.decision.WaterLevelCrossed;
import io.tierlog.schemas.decision.WaterLevelRelieved;
import java.util.List;

/** Which decisions are about a node or a tenant itself. Each names the event that led to it, so the events add nothing. */
final class RecordTypes {
    private static final List<WireType<? extends Fact>> OF_NODES = List.of(AgentAccepted.TYPE, AgentRefused.TYPE, NodeEnded.TYPE,
            NodeExpired.TYPE, EngineJoined.TYPE, EngineLeft.TYPE,
            WaterLevelCrossed.TYPE, WaterLevelRelieved.TYPE, QuotaExceeded.TYPE, ConfigWarning.TYPE, DrainChanged.TYPE,
            NodeDrained.TYPE, MigrationTaken.TYPE, MigrationStopping.TYPE, MigrationDeclined.TYPE, PromotionsPaused.TYPE, OperationOverdue.TYPE,
            InputRefused.TYPE);

    private static final List<WireType<? extends Fact>> OF_TENANTS = List.of(RequestAdmitted.TYPE, OperationIssued.TYPE, BlocksPlaced.TYPE,
            BlocksBackedUp.TYPE, BlocksRemoved.TYPE, QuotaExceeded.TYPE, MarkAdded.TYPE);

    private RecordTypes() {}

    /** The types of decisions that are about the subject; empty for all types, and their events too. */
    static List<WireType<? extends Fact>> of(Subject subject) {
        return switch (subject) {
            case Subject.Node node when !node.all() -> OF_NODES;
            case Subject.Tenant tenant when !tenant.all() -> OF_TENANTS;
            case Subject.Node _, Subject.Tenant _, Subject.Block _, Subject.Request _, Subject.Operation _, Subject.Migration _ -> List.of();
        };
    }
}
