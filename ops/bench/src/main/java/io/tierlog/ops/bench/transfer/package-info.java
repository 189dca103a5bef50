/* SPDX-License-Identifier: Apache-2.0 */
/** The speed of transfers between the tiers: the agent's own classes beside plain memory copies and fio, in turn. */
@NullMarked
package io.tierlog.ops.bench.transfer;

import org.jspecify.annotations.NullMarked;
