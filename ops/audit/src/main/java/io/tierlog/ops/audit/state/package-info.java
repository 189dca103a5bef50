/* SPDX-License-Identifier: Apache-2.0 */
/** The controller's tables at a moment of a log, and what changed between two moments: the fold of the decisions by the shipped core. */
@NullMarked
package io.tierlog.ops.audit.state;

import org.jspecify.annotations.NullMarked;
