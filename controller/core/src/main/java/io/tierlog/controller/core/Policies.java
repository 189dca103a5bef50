/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core;

import io.tierlog.schemas.MarkClearing;
import io.tierlog.schemas.MigrationPolicy;
import io.tierlog.schemas.Policy;
import io.tierlog.schemas.WritePolicy;
import java.util.ArrayList;
import java.util.List;

/** The policy before anybody has set one, and what a policy must be like. */
public final class Policies {
    /** In force, as version 0, until a version is published. Part of the core's version. */
    public static final Policy INITIAL = new Policy(2, WritePolicy.WRITE_BACK, 0.9, 0.8, 0.95, 0.9, true, 256, 30_000, 60_000, 10, true, null);

    /** What holds of migration where a policy says nothing: no groups. Part of the core's version. */
    private static final MigrationPolicy NO_GROUPS = new MigrationPolicy(86_400_000, MarkClearing.ON_WRITE, 8, 4L << 30, List.of());

    /** Longest time in a policy: a day, in milliseconds. */
    private static final long LONGEST_MS = 86_400_000;

    /** Marks are counted in millionths of the capacity. */
    private static final long MILLION = 1_000_000;

    private static final double LEAST_MARK = 0.000_001;

    private Policies() {}

    /** Groups, quotas and routes of a policy, and what holds where it says nothing. */
    public static MigrationPolicy migration(Policy policy) {
        MigrationPolicy migration = policy.migration();
        return migration == null ? NO_GROUPS : migration;
    }

    /** Everything that is wrong with {@code policy}, a sentence each; nothing when it can be used. */
    static List<String> findings(Policy policy, Limits limits) {
        List<String> findings = new ArrayList<>();
        check(findings, policy.prefetchThresholdBlocks() >= 0, "prefetchThresholdBlocks must be 0 or more");
        check(findings, policy.writePolicy() != WritePolicy.UNKNOWN, "writePolicy must be one that this version knows");
        marks(findings, "host", policy.hostHighMark(), policy.hostLowMark());
        marks(findings, "disk", policy.diskHighMark(), policy.diskLowMark());
        check(findings, policy.reliefBatchBlocks() >= 1 && policy.reliefBatchBlocks() <= limits.blocksPerDecision(),
                "reliefBatchBlocks must be from 1 to " + limits.blocksPerDecision());
        check(findings, policy.operationTimeoutMs() >= 1 && policy.operationTimeoutMs() <= LONGEST_MS,
                "operationTimeoutMs must be from 1 to " + LONGEST_MS);
        check(findings, policy.leaseMs() >= 1 && policy.leaseMs() <= LONGEST_MS, "leaseMs must be from 1 to " + LONGEST_MS);
        check(findings, policy.nodeSilentTicks() >= 0, "nodeSilentTicks must be 0 or more");
        return findings;
    }

    private static void marks(List<String> findings, String tier, double high, double low) {
        if (high == 0 && low == 0) {
            return; // no water level
        }
        check(findings, high >= LEAST_MARK && high <= 1,
                tier + "HighMark must be from " + LEAST_MARK + " to 1, or both marks 0 for no water level");
        check(findings, low >= LEAST_MARK && low <= high, tier + "LowMark must be from " + LEAST_MARK + " to " + tier + "HighMark");
    }

    private static void check(List<String> findings, boolean good, String finding) {
        if (!good) {
            findings.add(finding);
        }
    }

    /** Whether {@code blocks} have reached {@code mark} of {@code capacity}; in whole numbers, so that 7 of 100 do reach 0.07. */
    static boolean reaches(long blocks, double mark, long capacity) {
        return blocks * MILLION >= millionths(mark) * capacity;
    }

    /** How many of {@code blocks} must go until the rest no longer reaches {@code mark} of {@code capacity}. */
    static long excess(long blocks, double mark, long capacity) {
        long lowestThatReaches = Math.ceilDiv(millionths(mark) * capacity, MILLION);
        return Math.max(0, blocks - lowestThatReaches + 1);
    }

    private static long millionths(double mark) {
        return Math.round(mark * MILLION);
    }
}
