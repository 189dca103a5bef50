/* SPDX-License-Identifier: Apache-2.0 */
/** The simulated world: a log, controllers, agents and engines in one thread and one virtual time. What happens next is for the caller to say. */
@org.jspecify.annotations.NullMarked
package io.tierlog.ops.simulation.world;
