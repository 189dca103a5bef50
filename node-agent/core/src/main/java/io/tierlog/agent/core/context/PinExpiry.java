/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core.context;

import io.tierlog.agent.core.api.AgentCounter;

/** Ends pins on host pages whose time is over. For the core's one thread. */
public final class PinExpiry implements Component {
    private final AgentContext context;

    public PinExpiry(AgentContext context) {
        this.context = context;
    }

    @Override
    public void expire() {
        context.counters().add(AgentCounter.PINS_EXPIRED, context.pages().expirePins(context.nowMs()));
    }

    @Override
    public long nextDeadlineMs() {
        return context.pages().nextPinEndMs();
    }
}
