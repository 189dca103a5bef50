/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A small model of an inference engine, its device pages, and the oracle of what every block must contain. It shares no code with the
 * cores it tests: it depends on the agent by {@link io.tierlog.ops.simulation.engine.AgentLink} alone.
 */
@org.jspecify.annotations.NullMarked
package io.tierlog.ops.simulation.engine;
