/* SPDX-License-Identifier: Apache-2.0 */
/** The engine's side of the door: one session at a time, found again with a back-off when it is lost. */
@NullMarked
package io.tierlog.ops.engine.door;

import org.jspecify.annotations.NullMarked;
