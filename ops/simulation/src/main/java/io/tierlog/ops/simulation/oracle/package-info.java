/* SPDX-License-Identifier: Apache-2.0 */
/** What the controller and the agents must do, from the records alone: for episodes and for scenarios. */
@NullMarked
package io.tierlog.ops.simulation.oracle;

import org.jspecify.annotations.NullMarked;
