/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.policy;

/**
 * How large a policy may be. Part of the core's version, so that a policy that one partition accepts is accepted by all.
 *
 * @param groups most groups
 * @param patterns most patterns of namespaces, of all groups together
 * @param tiersPerGroup most tiers with settings in a group
 * @param routesPerGroup most routes of a group
 * @param nameLength longest name of a group, in characters
 * @param longestMs longest time except that of marks, in milliseconds
 * @param longestMarkMs longest lifetime of a mark and longest time until rows expire, in milliseconds
 * @param mostBytes largest quota or throttle, in bytes
 * @param promotions most promotions at once on a node
 * @param queuedBlocks most blocks that wait for a promotion on a node
 * @param peerReads most reads by other nodes at once on a node
 * @param leasedBlocks most blocks shared for peer reads at once
 * @param findings most findings that are listed
 */
public record PolicyLimits(
        int groups, int patterns, int tiersPerGroup, int routesPerGroup, int nameLength, long longestMs, long longestMarkMs, long mostBytes,
        int promotions, int queuedBlocks, int peerReads, int leasedBlocks, int findings) {
    private static final long DAY_MS = 86_400_000;

    /** 32 groups with 16 routes each, 256 patterns, a day for times and a year for marks, 8 PiB, which a double still counts byte by byte. */
    public static final PolicyLimits DEFAULTS = new PolicyLimits(32, 256, 4, 16, 64, DAY_MS, 365 * DAY_MS, 1L << 53, 1_024, 16_384, 1_024, 1 << 20,
            1_000);
}
