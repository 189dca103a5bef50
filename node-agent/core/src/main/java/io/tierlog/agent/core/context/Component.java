/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core.context;

import io.tierlog.agent.core.api.AgentInput.CallGone;

/**
 * A part of the core that reacts to time, to callers that are gone, and to engine sessions that are gone. Each method does nothing unless a part
 * overrides it.
 *
 * <p>The core holds its components in one list and calls them in the order of that list, on its one thread. Trade-off: that order is part of the
 * behaviour of the agent, so a new component has to find its place in the list.
 */
public interface Component {
    /** Ends what is due by {@link AgentContext#nowMs()}. */
    default void expire() {}

    /** When {@link #expire} has something to do next, in milliseconds of the agent's monotonic clock; {@link Long#MAX_VALUE} when never. */
    default long nextDeadlineMs() {
        return Long.MAX_VALUE;
    }

    /** The caller of this call is gone: what the call began comes to its end without an answer. */
    default void callGone(CallGone gone) {}

    /** The engine session has ended. Its device pool is closed already. */
    default void sessionGone(String session) {}
}
