/* SPDX-License-Identifier: Apache-2.0 */
/** Tests of the benchmark of the live page: its counts and its verdict, never its times. */
@NullMarked
package io.tierlog.ops.bench.dashboard;

import org.jspecify.annotations.NullMarked;
