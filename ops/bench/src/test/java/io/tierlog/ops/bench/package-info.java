/* SPDX-License-Identifier: Apache-2.0 */
/** Tests of the benchmarks as commands. */
@NullMarked
package io.tierlog.ops.bench;

import org.jspecify.annotations.NullMarked;
