/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core;

import io.tierlog.agent.core.context.AgentContext;
import io.tierlog.schemas.HeartbeatGap;
import io.tierlog.schemas.TierUsage;
import io.tierlog.schemas.event.AgentHeartbeat;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * When the agent sends a heartbeat. It looks once in each interval of the limits, and sends one when it would differ from the last, or when the
 * next look would be too late for the node session: an idle node then writes a third or a fifth of what one heartbeat for each look would be.
 *
 * <p>For the agent's thread. Trade-off: an agent that stands still, or a broker that takes nothing, has less of the session left than with a
 * heartbeat at each look, two thirds of it.
 */
final class Heartbeats {
    private final AgentContext context;
    private final Supplier<Content> content;
    private @Nullable Content last;
    private long nextLookMs = Long.MAX_VALUE;
    private long latestMs;
    private long gapMs;

    /** What a heartbeat reports. */
    record Content(List<TierUsage> usage, long commandSequence, int waitingRequests, int activeOperations) {}

    Heartbeats(AgentContext context, Supplier<Content> content) {
        this.context = context;
        this.content = content;
    }

    /** The node is registered, with the first heartbeat now. */
    void begin(@Nullable Long sessionMs) {
        gapMs = HeartbeatGap.ofMs(sessionMs, context.limits().times().heartbeatMs());
        last = null;
        nextLookMs = context.nowMs();
        look();
    }

    /** No heartbeat follows before the next beginning. */
    void end() {
        nextLookMs = Long.MAX_VALUE;
    }

    /** When it looks next; {@link Long#MAX_VALUE} for never. */
    long nextLookMs() {
        return nextLookMs;
    }

    /** Looks, unless it is too early. */
    void look() {
        long nowMs = context.nowMs();
        if (nowMs < nextLookMs) {
            return;
        }
        nextLookMs = nowMs + context.limits().times().heartbeatMs();
        Content now = content.get();
        if (!now.equals(last) || nextLookMs > latestMs) {
            context.append("", e -> new AgentHeartbeat(e, now.usage(), now.commandSequence(), now.waitingRequests(), now.activeOperations()));
            last = now;
            latestMs = nowMs + gapMs;
        }
    }
}
