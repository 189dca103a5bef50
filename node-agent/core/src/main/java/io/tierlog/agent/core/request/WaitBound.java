/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core.request;

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
     * The smaller of the bound and {@link #TIMES} what the tokens cost to compute, in milliseconds, rounded up.
     *
     * @param boundMs longest wait of any request, 0 or more
     * @param nsPerToken what the engine says it costs to compute a token, in nanoseconds, at most a second; 0 when it does not say so
     * @param tokens that a fetch could save, 0 or more
     */
    static long ms(long boundMs, long nsPerToken, long tokens) {
        return nsPerToken == 0 ? boundMs : Math.min(boundMs, Math.ceilDiv(TIMES * nsPerToken * tokens, NS_PER_MS));
    }
}
