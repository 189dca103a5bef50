/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.directory.probe;

/**
 * The bounds of probes.
 *
 * @param batch most blocks of one request
 * @param recent most blocks that are remembered as asked for; the oldest are forgotten beyond
 * @param recentMs how long a block is not asked for again, in milliseconds: so short that nobody notices how much later than the node's aggregate
 *     would admit it a block is asked for, and long enough for a promotion to land. Whether a block was promoted or refused lately is for the
 *     aggregate to say
 * @param underWay most probes that wait or are looked at; more are dropped
 */
public record ProbeLimits(int batch, int recent, int recentMs, int underWay) {
    /** 128 blocks, 200,000 remembered for 1 s, 1,000 under way. */
    public static final ProbeLimits DEFAULTS = new ProbeLimits(128, 200_000, 1_000, 1_000);

    /** Refuses bounds that let nothing through. */
    public ProbeLimits {
        if (batch < 1 || recent < 1 || recentMs < 1 || underWay < 1) {
            throw new IllegalArgumentException(
                    "a bound of probes is too small: " + batch + ", " + recent + ", " + recentMs + " ms, " + underWay + " under way");
        }
    }
}
