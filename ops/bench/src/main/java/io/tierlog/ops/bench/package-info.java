/* SPDX-License-Identifier: Apache-2.0 */
/** Benchmarks as commands: what they are asked, and what they say when they cannot run. */
@NullMarked
package io.tierlog.ops.bench;

import org.jspecify.annotations.NullMarked;
