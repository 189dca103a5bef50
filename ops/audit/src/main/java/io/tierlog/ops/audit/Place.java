/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.audit;

/**
 * A record's place in a partition.
 *
 * @param offset its offset
 * @param timestampMs when it was appended
 * @param order how many records of the partition were read before it, of both topics
 */
record Place(long offset, long timestampMs, long order) {}
