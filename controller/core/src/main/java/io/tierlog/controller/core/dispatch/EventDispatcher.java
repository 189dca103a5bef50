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
import io.tierlog.controller.core.node.ForeignNodes;
import io.tierlog.controller.core.node.PolicyChanges;
import io.tierlog.controller.core.node.Registration;
import io.tierlog.controller.core.node.SenderCount;
import io.tierlog.controller.core.peer.PeerReads;
import io.tierlog.controller.core.placement.Recovery;
import io.tierlog.controller.core.placement.Removals;
import io.tierlog.controller.core.promotion.Promotions;
import io.tierlog.controller.core.request.Requests;
import io.tierlog.controller.core.request.Submissions;
import io.tierlog.controller.core.result.LoadBackResults;
import io.tierlog.controller.core.result.OperationResults;
import io.tierlog.controller.core.state.Aggregates;
import io.tierlog.controller.core.store.StoreDeletions;
import io.tierlog.controller.core.store.StoreEviction;
import io.tierlog.controller.core.store.StoreReports;
import io.tierlog.controller.core.time.Ticks;
import io.tierlog.controller.core.writeback.Saves;
import io.tierlog.controller.core.writeback.WriteBacks;
import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.RefusalReason;
import io.tierlog.schemas.RemovalReason;
import io.tierlog.schemas.command.CommandHeader;
import io.tierlog.schemas.command.FenceAgent;
import io.tierlog.schemas.decision.InputSkipped;
import io.tierlog.schemas.decision.NodeEnded;
import io.tierlog.schemas.decision.NodeSeen;
import io.tierlog.schemas.event.AgentEvent;
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
import io.tierlog.schemas.event.LoadBackEvent;
import io.tierlog.schemas.event.MarksClearRequested;
import io.tierlog.schemas.event.MigrationAssigned;
import io.tierlog.schemas.event.MigrationCancelRequested;
import io.tierlog.schemas.event.MigrationRecalled;
import io.tierlog.schemas.event.MigrationReported;
import io.tierlog.schemas.event.MigrationRequested;
import io.tierlog.schemas.event.NodeDrainRequested;
import io.tierlog.schemas.event.NodeRequest;
import io.tierlog.schemas.event.ObjectsDeleted;
import io.tierlog.schemas.event.OperationStarted;
import io.tierlog.schemas.event.PeerReadCancelled;
import io.tierlog.schemas.event.PeerReadEnded;
import io.tierlog.schemas.event.PeerReadHeld;
import io.tierlog.schemas.event.PeerReadRequested;
import io.tierlog.schemas.event.PolicyChangeRequested;
import io.tierlog.schemas.event.PolicyPublished;
import io.tierlog.schemas.event.PromotionRequested;
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
import io.tierlog.schemas.state.NodeRow;

/**
 * The entry of decide: which family an input belongs to, whether it applies, and which decision it leads to. Each type is named once. Without
 * state.
 *
 * <p>An agent's event applies when it is of the node's current incarnation and process, and not a repeat; the last fact then records its number.
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
            case NodeRequest e -> ofRequester(d, e);
            case BlocksStored e -> StoreReports.stored(d, e);
            case BlocksMissing e -> StoreReports.missing(d, e);
            case StoreReadStarted e -> StoreReports.read(d, e);
            case ObjectsDeleted e -> StoreDeletions.ended(d, e);
            case StoreFull e -> StoreEviction.full(d, e);
            case AgentRegistering e -> Registration.decide(d, e);
            case AgentEvent e -> ofAgent(d, e);
        }
    }

    /** A request to a node is valid in any incarnation of the node. */
    private static void ofRequester(DecisionContext d, NodeRequest event) {
        String aggregate = event.envelope().aggregate();
        NodeContext n = Aggregates.isNode(aggregate) ? d.node(aggregate) : null;
        if (!Aggregates.isNode(aggregate)) {
            d.refuse(d.envelope(aggregate, 0), event, RefusalReason.WRONG_AGGREGATE, "This event is about a node, not " + aggregate);
        } else if (n == null) {
            d.refuse(d.envelope(aggregate, 0), event, RefusalReason.NODE_UNKNOWN, "No agent has registered this node");
        } else if (isOfAgent(n, event.envelope())) {
            // The agent sends what another node requests of it: one of its own events in its count.
            SenderCount.Break broken = SenderCount.find(n.row(), event.envelope());
            if (broken == null) {
                request(n, event);
                d.take(n.envelope(), n.commandSequence());
            } else {
                d.refuse(n.envelope(), event, broken.reason(), broken.detail());
            }
        } else {
            request(n, event);
        }
    }

    private static boolean isOfAgent(NodeContext n, Envelope from) {
        return n.row().alive() && from.incarnation() == n.row().incarnation() && Aggregates.isAgent(from.sender(), n.name(), n.row().processId());
    }

    private static void request(NodeContext n, NodeRequest event) {
        if (n.row().foreign() && ForeignNodes.refuses(n, event)) {
            return;
        }
        switch (event) {
            case MarksClearRequested e -> Marks.clear(n, e);
            case NodeDrainRequested e -> Drains.requested(n, e);
            case PromotionRequested e -> Promotions.requested(n, e);
            case PeerReadRequested e -> PeerReads.requested(n, e);
            case PeerReadCancelled e -> PeerReads.cancelled(n, e);
        }
    }

    private static void ofAgent(DecisionContext d, AgentEvent event) {
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
        SenderCount.Break broken = SenderCount.find(row, from);
        if (event instanceof AgentStopping stopping && from.incarnation() == 0 && broken == null && isRegistered(n, stopping)) {
            Registration.stopping(n);
            d.take(n.envelope(), n.commandSequence());
        } else if (from.incarnation() > row.incarnation()) {
            d.refuse(n.envelope(), event, RefusalReason.FUTURE_INCARNATION,
                    "Incarnation " + from.incarnation() + " was never given out; the last is " + row.incarnation());
        } else if (from.incarnation() < row.incarnation() || !row.alive()) {
            d.refuse(n.envelope(), event, RefusalReason.STALE_INCARNATION, "Incarnation " + from.incarnation() + " has ended");
            fence(d, from, row.alive() ? row.incarnation() : 0);
        } else if (!Aggregates.isAgent(from.sender(), n.name(), row.processId())) {
            d.refuse(n.envelope(), event, RefusalReason.WRONG_SENDER,
                    from.sender() + " is not process " + row.processId() + ", which is registered for node " + n.name());
        } else if (broken != null) {
            d.refuse(n.envelope(), event, broken.reason(), broken.detail());
            if (broken.reason() == RefusalReason.SEQUENCE_GAP && d.policy().nodeTimeoutTicks() == 0) {
                // Silence never ends this node's session, and no later event would apply.
                n.fact(new NodeEnded(n.envelope(), row.incarnation(), RemovalReason.NODE_LOST));
                fence(d, from, 0);
            }
        } else if (event instanceof AgentHeartbeat beat && beat.commandSequence() > n.commandSequence()) {
            // The agent refuses every command up to that number: it must begin a new count.
            d.refuse(n.envelope(), event, RefusalReason.FUTURE_COMMAND,
                    "Command " + beat.commandSequence() + " was never issued; the last is " + n.commandSequence());
            n.fact(new NodeEnded(n.envelope(), row.incarnation(), RemovalReason.NODE_LOST));
            fence(d, from, 0);
        } else {
            apply(n, event);
            d.take(n.envelope(), n.commandSequence());
        }
    }

    /** Whether the process that stops before it has received its incarnation is the one that was accepted. */
    private static boolean isRegistered(NodeContext n, AgentStopping e) {
        NodeRow row = n.row();
        return row.alive() && e.processId().equals(row.processId())
                && Aggregates.isAgent(e.envelope().sender(), n.name(), row.processId());
    }

    /** Fences a process whose incarnation has ended; its count of commands is over, so the number is 0. */
    private static void fence(DecisionContext d, Envelope from, long currentIncarnation) {
        d.command(new FenceAgent(d.envelope(from.aggregate(), from.incarnation()),
                new CommandHeader(d.nextId(from.aggregate()), 0), currentIncarnation));
    }

    private static void apply(NodeContext n, AgentEvent event) {
        if (ForeignNodes.refuses(n, event)) {
            return;
        }
        switch (event) {
            case AgentStopping _ -> Registration.stopping(n);
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
            case EngineBlocksStored e -> ForeignNodes.stored(n, e);
            case EngineViewChanged e -> ForeignNodes.viewed(n, e);
            // The agent has reserved pages: nothing follows.
            case OperationStarted _ -> {}
            case LoadBackEvent e -> LoadBackResults.decide(n, e);
            case TerminalEvent e -> OperationResults.decide(n, e);
            case PeerReadHeld e -> PeerReads.held(n, e);
            case PeerReadEnded e -> PeerReads.ended(n, e);
            case CommandRefused e -> OperationResults.refused(n, e);
        }
    }
}
