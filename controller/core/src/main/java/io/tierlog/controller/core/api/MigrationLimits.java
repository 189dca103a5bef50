/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.api;

/**
 * The bounds of operators' requests. Part of the core's version: they must be identical on every instance that works on one log.
 *
 * @param nodes most nodes of one migration
 * @param names most blocks that one migration names or samples, over all of its nodes
 * @param nameBytes most bytes of namespaces and keys that one migration names, over all of its nodes: order and answers are one row
 * @param sampleBytes most bytes of namespaces and keys that a sample takes for each block that it asks for: the names in all answers are 768 KiB
 * @param idLength longest id of a migration, in characters
 * @param marksPerClearing most marks that one request clears
 * @param keptMs how long an ended migration is kept, in milliseconds of log time
 * @param longestMarkMs longest lifetime of a mark, in milliseconds
 * @param answerMs how long a migration waits for the answers of its nodes, in milliseconds of log time: an hour, since log time catches up at once
 *     after an absence of the controller, and no message is lost by that
 * @param marksPerNode most marks that a node may have
 * @param drainMs how long a drain saves blocks, in milliseconds of log time from its first step on
 */
public record MigrationLimits(int nodes, int names, long nameBytes, int sampleBytes, int idLength, int marksPerClearing, long keptMs,
        long longestMarkMs, long answerMs, long marksPerNode, long drainMs) {
    /** Those of this version of the core. */
    public static final MigrationLimits DEFAULTS = new MigrationLimits(256, 4_096, 256 << 10, 192, 128, 1_000, 86_400_000, 30L * 86_400_000,
            3_600_000, 100_000, 86_400_000);
}
