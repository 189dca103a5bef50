/* SPDX-License-Identifier: Apache-2.0 */
/** Scenario files: how a case is told, run, and compared with what was expected. */
@org.jspecify.annotations.NullMarked
package io.tierlog.ops.simulation.scenario;
