/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Attacks on Tierlog as it ships: every part is a process of its own, started by its command. {@code ops/soak attack} runs them; they take minutes,
 * so the build does not; what it runs of them is a {@code *Test}.
 */
@NullMarked
package io.tierlog.ops.cli.attack;

import org.jspecify.annotations.NullMarked;
