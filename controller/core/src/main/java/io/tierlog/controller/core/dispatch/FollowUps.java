/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.dispatch;

import io.tierlog.controller.core.api.CoreVersion;
import io.tierlog.controller.core.api.Input;
import io.tierlog.controller.core.decide.DecisionContext;
import io.tierlog.controller.core.decide.NodeContext;
import io.tierlog.controller.core.eviction.WatermarkEviction;
import io.tierlog.controller.core.migration.Migrations;
import io.tierlog.controller.core.migration.Routes;
import io.tierlog.controller.core.node.FencedRowCleanup;
import io.tierlog.controller.core.promotion.Promotions;
import io.tierlog.controller.core.state.Aggregates;
import io.tierlog.controller.core.store.StoreEviction;
import io.tierlog.controller.core.time.Ticks;
import io.tierlog.schemas.OperationKind;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.event.AgentRegistering;
import io.tierlog.schemas.event.AgentStopping;
import io.tierlog.schemas.event.BackUpDone;
import io.tierlog.schemas.event.BackUpFailed;
import io.tierlog.schemas.event.CommandRefused;
import io.tierlog.schemas.event.CopyDone;
import io.tierlog.schemas.event.CopyFailed;
import io.tierlog.schemas.event.DropDone;
import io.tierlog.schemas.event.DropFailed;
import io.tierlog.schemas.event.EngineDetached;
import io.tierlog.schemas.event.Event;
import io.tierlog.schemas.event.LoadBackEvent;
import io.tierlog.schemas.event.OperationCancelled;
import io.tierlog.schemas.event.OperationStarted;
import io.tierlog.schemas.event.PrefetchDone;
import io.tierlog.schemas.event.PrefetchFailed;
import io.tierlog.schemas.event.PromoteDone;
import io.tierlog.schemas.event.PromoteFailed;
import io.tierlog.schemas.event.TerminalEvent;
import io.tierlog.schemas.event.Tick;
import io.tierlog.schemas.event.WriteBackDone;
import io.tierlog.schemas.event.WriteBackFailed;
import io.tierlog.schemas.state.OperationRow;
import io.tierlog.schemas.state.TierRow;
import org.jspecify.annotations.Nullable;

/** What is decided once the facts of the input are in the tables. Without state. */
public final class FollowUps {
    private FollowUps() {}

    public static void decide(DecisionContext d, Input input) {
        if (!(input instanceof Input.Recorded recorded)) {
            return;
        }
        Event event = recorded.event();
        String aggregate = event.envelope().aggregate();
        if (event instanceof Tick) {
            if (aggregate.equals(d.clockAggregate())) {
                Ticks.followUp(d);
            }
        } else if (Aggregates.isStore(aggregate)) {
            StoreEviction.decide(d, aggregate, d.limits().blocksPerDecision());
        } else if (Aggregates.isNode(aggregate)) {
            NodeContext n = d.node(aggregate);
            if (n != null) {
                int budget = d.limits().blocksPerDecision();
                if (event instanceof AgentRegistering || event instanceof AgentStopping || event instanceof EngineDetached) {
                    budget -= FencedRowCleanup.decide(n, budget);
                }
                Promotions.release(n);
                budget = Math.max(0, budget - Migrations.drop(n));
                budget -= WatermarkEviction.decide(n, budget, tier -> !isSetback(n, event, tier), !(event instanceof CopyDone));
                if (!isSetback(n, event)) {
                    Routes.decide(n, budget, false);
                }
                Promotions.goOn(n);
            }
        }
    }

    /**
     * Whether the event reports that blocks were copied, were not copied, or are only starting to be copied. Routes then wait for the next tick or
     * another event. Otherwise a route into a tier that evicts its blocks at once would feed that tier for ever.
     */
    private static boolean isSetback(NodeContext n, Event event) {
        return event instanceof CopyDone || event instanceof CopyFailed || event instanceof OperationCancelled || event instanceof CommandRefused
                || isSetback(n, event, Tier.HOST) || isSetback(n, event, Tier.DISK);
    }

    /**
     * Whether the event reports that blocks did not leave the tier, are only starting to leave it, or left another tier. Watermark eviction of the
     * tier then sends nothing more before the next tick, or before another event of the node. If it continued at once, a controller and an agent
     * whose evictable blocks are all pinned would send and refuse drops without end, and two full tiers would feed each other for ever.
     *
     * <p>For the same reason, the end of a copy is followed by drops of the blocks that it brought down. Further copies follow only when one of
     * those drops was done: while the whole host is pinned, a small disk would otherwise be filled and emptied without end. And a copy that did not
     * come is followed by further evictions only while no drop was refused since the last tick: of two evictions that are refused in turn, each
     * would otherwise begin the next.
     */
    private static boolean isSetback(NodeContext n, Event event, Tier tier) {
        if (event instanceof TerminalEvent end) {
            return switch (end) {
                case DropFailed _ -> true;
                case DropDone done -> done.tier() != tier;
                case CopyFailed _, OperationCancelled _ -> isRefused(n, tier);
                case WriteBackDone _, WriteBackFailed _, PrefetchDone _, PrefetchFailed _, PromoteDone _, PromoteFailed _, BackUpDone _,
                        BackUpFailed _, CopyDone _, LoadBackEvent _ -> false;
            };
        }
        return event instanceof OperationStarted
                || (event instanceof CommandRefused refused && (isDrop(n, refused.operation()) || isRefused(n, tier)));
    }

    /** Whether a drop from the tier has freed nothing since the last tick. */
    private static boolean isRefused(NodeContext n, Tier tier) {
        TierRow row = n.tier(tier);
        return row != null && row.refusedMs() == n.clock().logTimeMs() && n.clock().coreVersion() > CoreVersion.EAGER_EVICTION;
    }

    private static boolean isDrop(NodeContext n, @Nullable String operation) {
        OperationRow row = operation == null ? null : n.operation(operation);
        return row != null && row.kind() == OperationKind.DROP;
    }
}
