/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.dispatch;

import io.tierlog.controller.core.api.Input;
import io.tierlog.controller.core.api.Outcome;
import io.tierlog.controller.core.decide.DecisionContext;
import io.tierlog.controller.core.decide.NodeContext;
import io.tierlog.controller.core.migration.Drains;
import io.tierlog.controller.core.migration.Marks;
import io.tierlog.controller.core.migration.MigrationRequests;
import io.tierlog.controller.core.migration.NodeMigrations;
import io.tierlog.controller.core.node.Engines;
import io.tierlog.controller.core.node.PolicyChanges;
import io.tierlog.controller.core.node.Registration;
import io.tierlog.controller.core.operation.OperationResult;
import io.tierlog.controller.core.peer.PeerReads;
import io.tierlog.controller.core.placement.Recovery;
import io.tierlog.controller.core.placement.Removals;
import io.tierlog.controller.core.placement.StoreReports;
import io.tierlog.controller.core.promotion.Promotions;
import io.tierlog.controller.core.request.Requests;
import io.tierlog.controller.core.request.Submissions;
import io.tierlog.controller.core.result.LoadBackResults;
import io.tierlog.controller.core.result.OperationResults;
import io.tierlog.controller.core.state.Aggregates;
import io.tierlog.controller.core.time.Ticks;
import io.tierlog.controller.core.writeback.Saves;
import io.tierlog.controller.core.writeback.WriteBacks;
import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.RefusalReason;
import io.tierlog.schemas.command.CommandHeader;
import io.tierlog.schemas.command.FenceAgent;
import io.tierlog.schemas.decision.InputSkipped;
import io.tierlog.schemas.decision.NodeSeen;
import io.tierlog.schemas.event.AgentHeartbeat;
import io.tierlog.schemas.event.AgentRegistering;
import io.tierlog.schemas.event.AgentStopping;
import io.tierlog.schemas.event.BackUpDone;
import io.tierlog.schemas.event.BackUpFailed;
import io.tierlog.schemas.event.BlocksEvicted;
import io.tierlog.schemas.event.BlocksRecovered;
import io.tierlog.schemas.event.BlocksSealed;
import io.tierlog.schemas.event.BlocksSeenStored;
import io.tierlog.schemas.event.BlocksStored;
import io.tierlog.schemas.event.CommandRefused;
import io.tierlog.schemas.event.CopyDone;
import io.tierlog.schemas.event.CopyFailed;
import io.tierlog.schemas.event.DropDone;
import io.tierlog.schemas.event.DropFailed;
import io.tierlog.schemas.event.EngineAttached;
import io.tierlog.schemas.event.EngineDetached;
import io.tierlog.schemas.event.Event;
import io.tierlog.schemas.event.LoadBackDone;
import io.tierlog.schemas.event.LoadBackFailed;
import io.tierlog.schemas.event.MarksClearRequested;
import io.tierlog.schemas.event.MigrationAssigned;
import io.tierlog.schemas.event.MigrationCancelRequested;
import io.tierlog.schemas.event.MigrationRecalled;
import io.tierlog.schemas.event.MigrationReported;
import io.tierlog.schemas.event.MigrationRequested;
import io.tierlog.schemas.event.NodeDrainRequested;
import io.tierlog.schemas.event.OperationCancelled;
import io.tierlog.schemas.event.OperationStarted;
import io.tierlog.schemas.event.PeerReadEnded;
import io.tierlog.schemas.event.PeerReadGivenUp;
import io.tierlog.schemas.event.PeerReadHeld;
import io.tierlog.schemas.event.PeerReadRequested;
import io.tierlog.schemas.event.PolicyChangeRequested;
import io.tierlog.schemas.event.PolicyPublished;
import io.tierlog.schemas.event.PrefetchDone;
import io.tierlog.schemas.event.PrefetchFailed;
import io.tierlog.schemas.event.PromoteDone;
import io.tierlog.schemas.event.PromoteFailed;
import io.tierlog.schemas.event.PromotionRequested;
import io.tierlog.schemas.event.RequestCancelled;
import io.tierlog.schemas.event.RequestFinished;
import io.tierlog.schemas.event.RequestPrefilled;
import io.tierlog.schemas.event.RequestRejected;
import io.tierlog.schemas.event.RequestSubmitted;
import io.tierlog.schemas.event.SaveRequested;
import io.tierlog.schemas.event.Tick;
import io.tierlog.schemas.event.WaitExpired;
import io.tierlog.schemas.event.WriteBackDone;
import io.tierlog.schemas.event.WriteBackFailed;
import io.tierlog.schemas.state.NodeRow;
import java.util.function.Consumer;

/**
 * The front door of decide: whose input it is, whether it may be taken at all, and which room it goes to. Without state.
 *
 * <p>An agent's event passes when it is of the node's present life and not a repeat; the last fact then records its number.
 */
public final class EventDispatcher {
    private EventDispatcher() {}

    public static void decide(DecisionContext d, Input input) {
        switch (input) {
            case Input.Unreadable u -> {
                d.fact(new InputSkipped(d.envelope(d.clockAggregate(), 0), u.topic(), u.partition(), u.offset(), u.reason(), u.detail()));
                d.outcome(new Outcome.Skipped(u.reason()));
            }
            case Input.Recorded r -> event(d, r.event());
        }
    }

    private static void event(DecisionContext d, Event event) {
        switch (event) {
            case Tick e -> Ticks.decide(d, e);
            case PolicyChangeRequested e -> PolicyChanges.change(d, e);
            case PolicyPublished e -> PolicyChanges.published(d, e);
            case MigrationRequested e -> MigrationRequests.requested(d, e);
            case MigrationCancelRequested e -> MigrationRequests.cancel(d, e);
            case MigrationReported e -> MigrationRequests.reported(d, e);
            case MigrationAssigned e -> NodeMigrations.assigned(d, e);
            case MigrationRecalled e -> NodeMigrations.recalled(d, e);
            case MarksClearRequested e -> ofOperator(d, e, n -> Marks.clear(n, e));
            case NodeDrainRequested e -> ofOperator(d, e, n -> Drains.requested(n, e));
            case PromotionRequested e -> ofOperator(d, e, n -> Promotions.requested(n, e));
            // Their life is that of another node.
            case PeerReadRequested e -> ofOperator(d, e, n -> PeerReads.requested(n, e));
            case PeerReadGivenUp e -> ofOperator(d, e, n -> PeerReads.givenUp(n, e));
            case BlocksStored e -> StoreReports.stored(d, e);
            case AgentRegistering e -> Registration.decide(d, e);
            case AgentStopping _, AgentHeartbeat _, EngineAttached _, EngineDetached _, RequestSubmitted _, RequestPrefilled _,
                    RequestFinished _, RequestCancelled _, RequestRejected _, WaitExpired _, BlocksSealed _, SaveRequested _, BlocksEvicted _,
                    OperationStarted _, WriteBackDone _, WriteBackFailed _, PrefetchDone _, PrefetchFailed _, BackUpDone _, BackUpFailed _,
                    LoadBackDone _, LoadBackFailed _, CopyDone _, CopyFailed _, BlocksRecovered _, BlocksSeenStored _, DropDone _,
                    DropFailed _, PromoteDone _, PromoteFailed _, PeerReadHeld _, PeerReadEnded _, OperationCancelled _, CommandRefused _ ->
                ofNode(d, event);
        }
    }

    /** What an operator says to a node counts whatever life the node is in. */
    private static void ofOperator(DecisionContext d, Event event, Consumer<NodeContext> decision) {
        String aggregate = event.envelope().aggregate();
        NodeContext n = Aggregates.isNode(aggregate) ? d.node(aggregate) : null;
        if (!Aggregates.isNode(aggregate)) {
            d.refuse(d.envelope(aggregate, 0), event, RefusalReason.WRONG_AGGREGATE, "This event is about a node, not " + aggregate);
        } else if (n == null) {
            d.refuse(d.envelope(aggregate, 0), event, RefusalReason.NODE_UNKNOWN, "No agent has registered this node");
        } else {
            decision.accept(n);
        }
    }

    private static void ofNode(DecisionContext d, Event event) {
        Envelope from = event.envelope();
        if (!Aggregates.isNode(from.aggregate())) {
            d.refuse(d.envelope(from.aggregate(), 0), event, RefusalReason.WRONG_AGGREGATE,
                    "This event is about a node, not " + from.aggregate());
            return;
        }
        NodeContext n = d.node(from.aggregate());
        if (n == null) {
            d.refuse(d.envelope(from.aggregate(), 0), event, RefusalReason.NODE_UNKNOWN, "No agent has registered this node");
            fence(d, from, 0);
            return;
        }
        NodeRow row = n.row();
        if (from.incarnation() > row.incarnation()) {
            d.refuse(n.envelope(), event, RefusalReason.FUTURE_INCARNATION,
                    "Incarnation " + from.incarnation() + " was never given out; the last is " + row.incarnation());
        } else if (from.incarnation() < row.incarnation() || !row.alive()) {
            d.refuse(n.envelope(), event, RefusalReason.STALE_INCARNATION, "Incarnation " + from.incarnation() + " has ended");
            fence(d, from, row.alive() ? row.incarnation() : 0);
        } else if (from.sequence() <= row.lastSequence()) {
            d.refuse(n.envelope(), event, RefusalReason.REPEATED, "Sequence " + from.sequence() + " was taken before");
        } else {
            taken(n, event);
            d.take(n.envelope(), from.sequence(), n.commandSequence());
        }
    }

    /** Tells a process that it speaks for nobody; its count of commands is over, so the number is 0. */
    private static void fence(DecisionContext d, Envelope from, long currentIncarnation) {
        d.command(new FenceAgent(d.envelope(from.aggregate(), from.incarnation()),
                new CommandHeader(d.nextId(from.aggregate()), 0), currentIncarnation));
    }

    private static void taken(NodeContext n, Event event) {
        switch (event) {
            case AgentStopping e -> Registration.stopping(n, e);
            case AgentHeartbeat e -> n.fact(new NodeSeen(n.envelope(), e.usage()));
            case EngineAttached e -> Engines.attached(n, e);
            case EngineDetached e -> Engines.detached(n, e);
            case RequestSubmitted e -> Submissions.decide(n, e);
            case RequestPrefilled e -> Requests.prefilled(n, e);
            case RequestFinished e -> Requests.finished(n, e);
            case RequestCancelled e -> Requests.cancelled(n, e);
            case RequestRejected e -> Requests.rejected(n, e);
            case WaitExpired e -> Requests.waitExpired(n, e);
            case BlocksSealed e -> WriteBacks.sealed(n, e);
            case SaveRequested e -> Saves.decide(n, e);
            case BlocksEvicted e -> Removals.evicted(n, e);
            case BlocksRecovered e -> Recovery.decide(n, e);
            case BlocksSeenStored e -> Recovery.seen(n, e);
            // The agent has its pages: nothing to decide but that it was read.
            case OperationStarted _ -> {}
            case WriteBackDone e -> OperationResults.decide(n, e, OperationResult.of(e));
            case WriteBackFailed e -> OperationResults.decide(n, e, OperationResult.of(e));
            case PrefetchDone e -> OperationResults.decide(n, e, OperationResult.of(e));
            case PrefetchFailed e -> OperationResults.decide(n, e, OperationResult.of(e));
            case BackUpDone e -> OperationResults.decide(n, e, OperationResult.of(e));
            case BackUpFailed e -> OperationResults.decide(n, e, OperationResult.of(e));
            case LoadBackDone e -> LoadBackResults.done(n, e);
            case LoadBackFailed e -> LoadBackResults.failed(n, e);
            case CopyDone e -> OperationResults.decide(n, e, OperationResult.of(e));
            case CopyFailed e -> OperationResults.decide(n, e, OperationResult.of(e));
            case DropDone e -> OperationResults.decide(n, e, OperationResult.of(e));
            case DropFailed e -> OperationResults.decide(n, e, OperationResult.of(e));
            case PromoteDone e -> OperationResults.decide(n, e, OperationResult.of(e));
            case PromoteFailed e -> OperationResults.decide(n, e, OperationResult.of(e));
            case PeerReadHeld e -> PeerReads.held(n, e);
            case PeerReadEnded e -> PeerReads.ended(n, e);
            case OperationCancelled e -> OperationResults.cancelled(n, e);
            case CommandRefused e -> OperationResults.refused(n, e);
            case Tick _, PolicyChangeRequested _, PolicyPublished _, BlocksStored _, AgentRegistering _, MigrationRequested _,
                    MigrationCancelRequested _, MigrationReported _, MigrationAssigned _, MigrationRecalled _, MarksClearRequested _,
                    NodeDrainRequested _, PromotionRequested _, PeerReadRequested _, PeerReadGivenUp _ ->
                throw new IllegalStateException(event.getClass().getSimpleName() + " is no event of a registered agent");
        }
    }
}
