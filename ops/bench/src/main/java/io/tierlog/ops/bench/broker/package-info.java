/* SPDX-License-Identifier: Apache-2.0 */
/** Brokers for benchmarks: a Kafka broker in a process of its own, removed with everything that it wrote when the benchmark ends. */
@NullMarked
package io.tierlog.ops.bench.broker;

import org.jspecify.annotations.NullMarked;
