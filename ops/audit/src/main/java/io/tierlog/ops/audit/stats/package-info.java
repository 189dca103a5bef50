/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Statistics of a log: what requests, operations, tiers and nodes did, counted from its records.
 *
 * <p>Start at {@link io.tierlog.ops.audit.stats.LogStatistics}, the fold; {@link io.tierlog.ops.audit.stats.StatisticsReader} feeds it a whole log.
 */
@org.jspecify.annotations.NullMarked
package io.tierlog.ops.audit.stats;
