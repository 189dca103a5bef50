/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core;

import io.tierlog.schemas.event.AgentRegistering;
import io.tierlog.schemas.event.AgentStopping;
import io.tierlog.schemas.event.CommandRefused;
import io.tierlog.schemas.event.CopyFailed;
import io.tierlog.schemas.event.DropFailed;
import io.tierlog.schemas.event.EngineDetached;
import io.tierlog.schemas.event.Event;
import io.tierlog.schemas.event.OperationStarted;
import io.tierlog.schemas.event.Tick;

/** What is decided once the facts of the input are in the tables. Without state. */
final class FollowUps {
    private FollowUps() {}

    static void decide(Draft d, Input input) {
        if (!(input instanceof Input.Recorded recorded)) {
            return;
        }
        Event event = recorded.event();
        String aggregate = event.envelope().aggregate();
        if (event instanceof Tick) {
            if (aggregate.equals(d.clockAggregate())) {
                Ticks.followUp(d);
            }
        } else if (Aggregates.isNode(aggregate)) {
            NodeDraft n = d.node(aggregate);
            if (n != null) {
                int budget = d.limits.blocksPerDecision();
                if (event instanceof AgentRegistering || event instanceof AgentStopping || event instanceof EngineDetached) {
                    budget -= Sweep.decide(n, budget);
                }
                if (!isNoProgress(event)) {
                    Relief.decide(n, budget);
                }
            }
        }
    }

    /**
     * Whether the event says that something did not leave a tier, or has only begun. Relief then waits for the next tick, or for something else to
     * happen on the node: if it went on at once, a controller and an agent of which all that could leave is pinned would never stop sending and
     * refusing drops.
     */
    private static boolean isNoProgress(Event event) {
        return event instanceof DropFailed || event instanceof CopyFailed || event instanceof CommandRefused || event instanceof OperationStarted;
    }
}
