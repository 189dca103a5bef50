/* SPDX-License-Identifier: Apache-2.0 */
/** Runs the swarm in every build, and proves that it would find something. */
@NullMarked
package io.tierlog.ops.simulation.swarm;

import org.jspecify.annotations.NullMarked;
