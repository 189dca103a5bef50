/* SPDX-License-Identifier: Apache-2.0 */
/** Rows of the live page: windows of counters, nodes, operations, requests. Plain values, without Kafka and clocks. */
@NullMarked
package io.tierlog.ops.dashboard.model;

import org.jspecify.annotations.NullMarked;
