/* SPDX-License-Identifier: Apache-2.0 */
/** Ticks: log time, due timers, silent nodes, and each node's turn. */
@NullMarked
package io.tierlog.controller.core.time;

import org.jspecify.annotations.NullMarked;
