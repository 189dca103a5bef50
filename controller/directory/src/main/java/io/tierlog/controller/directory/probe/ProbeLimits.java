/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.directory.probe;

/**
 * The bounds of probes.
 *
 * @param batch most blocks of one request
 * @param recent most blocks that are remembered as requested; the oldest are forgotten beyond
 * @param recentMs how long a block is not requested again at least, in milliseconds: short enough not to be noticed, and long enough for a promotion
 *     to land
 * @param backOffMs the longest that a block is held back which is requested repeatedly and whose node does not report for how long it will not
 *     promote it (a full host, for example), in milliseconds: the time doubles from {@code recentMs} up to this
 * @param longestMs the longest that a block is held back whatever its node reports, in milliseconds
 * @param underWay most probes that wait; more are dropped
 * @param keysUnderWay most keys of all probes together that wait or are looked at, since a probe keeps up to 10,000 of them, of up to 32 bytes
 *     each; a probe that would bring more is dropped
 */
public record ProbeLimits(int batch, int recent, int recentMs, int backOffMs, int longestMs, int underWay, int keysUnderWay) {
    /**
     * 128 blocks, 200,000 remembered for 1 s, for up to 4 s of their own and for up to a minute where a node reports so, 1,000 under way, with
     * 200,000
     * keys: 6.4 MB.
     */
    public static final ProbeLimits DEFAULTS = new ProbeLimits(128, 200_000, 1_000, 4_000, 60_000, 1_000, 200_000);

    /** Refuses bounds that let nothing through, or contradict each other. */
    public ProbeLimits {
        if (batch < 1 || recent < 1 || recentMs < 1 || underWay < 1 || keysUnderWay < 1) {
            throw new IllegalArgumentException("a bound of probes is too small: " + batch + ", " + recent + ", " + recentMs + " ms, " + underWay
                    + " under way with " + keysUnderWay + " keys");
        }
        if (backOffMs < recentMs || longestMs < backOffMs) {
            throw new IllegalArgumentException(
                    "the times of probes must not fall: " + recentMs + " ms, " + backOffMs + " ms, " + longestMs + " ms");
        }
    }
}
