/* SPDX-License-Identifier: Apache-2.0 */
/** Reads by other nodes: leases for them, and what a block costs from there. */
@NullMarked
package io.tierlog.controller.core.peer;

import org.jspecify.annotations.NullMarked;
