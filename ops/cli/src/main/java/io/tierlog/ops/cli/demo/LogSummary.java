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
 * @param settled whether every operation had ended when this was taken
 */
record LogSummary(
        LogTally.Counts counts, Map<String, Long> startedByKind, Map<String, Long> bytesByKind, Latency submitToCommand, boolean settled) {}
