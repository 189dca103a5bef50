/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.audit;

/**
 * Position of a record in a partition.
 *
 * @param offset its offset
 * @param timestampMs when it was appended
 * @param order number of records of the partition, of both topics, that were read before it
 */
record RecordPosition(long offset, long timestampMs, long order) {}
