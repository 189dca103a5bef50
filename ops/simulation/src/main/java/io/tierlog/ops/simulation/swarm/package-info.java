/* SPDX-License-Identifier: Apache-2.0 */
/** Many small worlds, each with its own mix of faults, drawn from a seed: run, checked, healed, and shrunk when something is wrong. */
@NullMarked
package io.tierlog.ops.simulation.swarm;

import org.jspecify.annotations.NullMarked;
