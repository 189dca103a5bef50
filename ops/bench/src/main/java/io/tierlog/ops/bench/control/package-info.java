/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The control benchmark: from a submitted request to the command for it, beside the least that any way through Kafka takes. One class per
 * thing measured, one that runs them in turn, one that reports.
 */
@NullMarked
package io.tierlog.ops.bench.control;

import org.jspecify.annotations.NullMarked;
