/* SPDX-License-Identifier: Apache-2.0 */
/** The benchmarks as commands: their options, their report, and the failure that they print. */
@NullMarked
package io.tierlog.ops.bench;

import org.jspecify.annotations.NullMarked;
