/* SPDX-License-Identifier: Apache-2.0 */
/** The commands: scenarios, and simulation. */
@org.jspecify.annotations.NullMarked
package io.tierlog.ops.simulation;
