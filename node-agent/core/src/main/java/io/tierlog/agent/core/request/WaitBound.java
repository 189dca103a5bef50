/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core.request;

import io.tierlog.agent.core.api.AgentLimits;

/** How long a request waits for a fetch. Without state. */
final class WaitBound {
    /**
     * A request waits for so many times what computing would take. In the default demo on a busy machine, 2 kept the hit ratio of the plain bound,
     * 1 lost 11 to 19 % of it, since waits ended right before their fetches, and 4 kept no more (docs/decisions/0062).
     */
    static final int TIMES = 2;

    private static final long NS_PER_MS = 1_000_000;

    private WaitBound() {}

    /**
     * The smaller of the longest wait of any request and {@link #TIMES} what the blocks cost to compute that a fetch can save, in milliseconds,
     * rounded up; the longest wait when the engine does not say what a token costs.
     *
     * @param stored blocks from {@link LiveAttempt#storeFrom} on that the store or another node has, or may have; 0 or more
     */
    static long ms(AgentLimits.Times times, LiveAttempt attempt, int stored) {
        long nsPerToken = attempt.submitted().prefillNsPerToken();
        long boundMs = times.prefetchWaitMs();
        return nsPerToken == 0 ? boundMs : Math.min(boundMs, Math.ceilDiv(TIMES * nsPerToken * attempt.tokensToFetch(stored), NS_PER_MS));
    }
}
