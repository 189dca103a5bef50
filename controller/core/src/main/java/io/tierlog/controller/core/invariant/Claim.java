/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.invariant;

import io.tierlog.schemas.Block;
import io.tierlog.schemas.PagedBlock;
import io.tierlog.schemas.RemovalReason;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.event.AgentHeartbeat;
import io.tierlog.schemas.event.AgentRegistering;
import io.tierlog.schemas.event.AgentStopping;
import io.tierlog.schemas.event.BlocksEvicted;
import io.tierlog.schemas.event.BlocksMissing;
import io.tierlog.schemas.event.BlocksRecovered;
import io.tierlog.schemas.event.BlocksSealed;
import io.tierlog.schemas.event.BlocksSeenStored;
import io.tierlog.schemas.event.BlocksStored;
import io.tierlog.schemas.event.CommandRefused;
import io.tierlog.schemas.event.EngineAttached;
import io.tierlog.schemas.event.EngineBlocksStored;
import io.tierlog.schemas.event.EngineDetached;
import io.tierlog.schemas.event.EngineViewChanged;
import io.tierlog.schemas.event.Event;
import io.tierlog.schemas.event.Message;
import io.tierlog.schemas.event.MigrationCancelRequested;
import io.tierlog.schemas.event.MigrationRequested;
import io.tierlog.schemas.event.NodeRequest;
import io.tierlog.schemas.event.ObjectsDeleted;
import io.tierlog.schemas.event.OperationStarted;
import io.tierlog.schemas.event.PeerReadEnded;
import io.tierlog.schemas.event.PeerReadHeld;
import io.tierlog.schemas.event.PolicyChangeRequested;
import io.tierlog.schemas.event.RequestCancelled;
import io.tierlog.schemas.event.RequestFinished;
import io.tierlog.schemas.event.RequestPrefilled;
import io.tierlog.schemas.event.RequestRejected;
import io.tierlog.schemas.event.RequestSubmitted;
import io.tierlog.schemas.event.SaveRequested;
import io.tierlog.schemas.event.StoreFull;
import io.tierlog.schemas.event.StoreReadStarted;
import io.tierlog.schemas.event.TerminalEvent;
import io.tierlog.schemas.event.Tick;
import io.tierlog.schemas.event.WaitExpired;
import java.util.List;

/**
 * What an event outside of operations claims about placements. The invariants read events through this and {@link Ending}, so a new type of event is
 * named in one place. Without state.
 */
sealed interface Claim {
    /** The blocks serve on the tier. */
    record Serves(Tier tier, String namespace, List<PagedBlock> blocks) implements Claim {}

    /**
     * The blocks have left the tier.
     *
     * @param chosen whether the agent picked them: then no block that it keeps extends them
     */
    record Left(Tier tier, String namespace, List<PagedBlock> blocks, boolean chosen) implements Claim {}

    /** The store has the blocks. */
    record Stored(List<Block> blocks) implements Claim {}

    /** Nothing about placements. */
    record Nothing() implements Claim {}

    static Claim of(Event event) {
        return switch (event) {
            case BlocksSealed e -> new Serves(Tier.DEVICE, e.namespace(), e.blocks());
            case BlocksRecovered e -> new Serves(e.tier(), e.namespace(), e.blocks());
            case EngineBlocksStored e -> new Serves(e.tier(), e.namespace(), e.blocks());
            case BlocksStored e -> new Serves(Tier.STORE, e.namespace(), e.blocks());
            case BlocksMissing e -> new Left(Tier.STORE, e.namespace(), e.blocks(), false);
            case BlocksEvicted e -> new Left(e.tier(), e.namespace(), e.blocks(), e.reason() == RemovalReason.PRESSURE);
            case BlocksSeenStored e -> new Stored(e.blocks());
            case AgentStopping _, AgentHeartbeat _, EngineAttached _, EngineDetached _, EngineViewChanged _, RequestSubmitted _,
                    RequestPrefilled _, RequestFinished _, RequestCancelled _, RequestRejected _, WaitExpired _, SaveRequested _,
                    OperationStarted _, PeerReadHeld _, PeerReadEnded _, CommandRefused _, TerminalEvent _, StoreReadStarted _, ObjectsDeleted _,
                    StoreFull _, Tick _, PolicyChangeRequested _,
                    MigrationRequested _, MigrationCancelRequested _, AgentRegistering _, NodeRequest _, Message _ -> new Nothing();
        };
    }
}
