/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.demo;

import io.tierlog.ops.engine.Latency;
import java.util.Map;

/**
 * What the log said of a run, once it had settled.
 *
 * @param counts records and operations
 * @param startedByKind operations started, by kind
 * @param bytesByKind bytes moved, by kind
 * @param submitToCommand milliseconds from the append of a waiting request to the arrival of its command
 * @param levels times of water levels
 * @param resident what namespaces had of the tiers
 * @param promotions what became of promotions
 * @param peers what was read across nodes
 * @param settled whether every operation had ended when this was taken
 */
record LogSummary(
        LogTally.Counts counts, Map<String, Long> startedByKind, Map<String, Long> bytesByKind, Latency submitToCommand, LevelBook.Levels levels,
        Resident resident, PromotionCount.Counts promotions, PeerCount.Counts peers, boolean settled) {
    /**
     * Blocks that namespaces have on hosts and disks.
     *
     * @param end at the end
     * @param most the most at any time
     * @param lost blocks of which no other copy was known when they left
     * @param whole false when there were too many blocks to count them all
     */
    record Resident(Map<ResidentBook.Place, Long> end, Map<ResidentBook.Place, Long> most, Map<ResidentBook.Loss, Long> lost, boolean whole) {}
}
