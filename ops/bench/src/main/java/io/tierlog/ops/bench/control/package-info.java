/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The control benchmark: from a submitted request to its command, beside the shortest paths through Kafka. One class for each path, one that runs
 * them in turn, one that reports.
 */
@NullMarked
package io.tierlog.ops.bench.control;

import org.jspecify.annotations.NullMarked;
