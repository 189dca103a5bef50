/* SPDX-License-Identifier: Apache-2.0 */
/** Scenario files: how a case is written, run, and compared with its expectations. */
@org.jspecify.annotations.NullMarked
package io.tierlog.ops.simulation.scenario;
