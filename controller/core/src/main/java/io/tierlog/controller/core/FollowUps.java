/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core;

import io.tierlog.schemas.event.AgentRegistering;
import io.tierlog.schemas.event.AgentStopping;
import io.tierlog.schemas.event.EngineDetached;
import io.tierlog.schemas.event.Event;
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
                Relief.decide(n, budget);
            }
        }
    }
}
