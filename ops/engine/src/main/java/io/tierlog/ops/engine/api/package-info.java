/* SPDX-License-Identifier: Apache-2.0 */
/** The engine's side of the engine API: one session at a time, opened again with a back-off when it is lost. */
@NullMarked
package io.tierlog.ops.engine.api;

import org.jspecify.annotations.NullMarked;
