/* SPDX-License-Identifier: Apache-2.0 */
/** How fast bytes move between the tiers: the agent's own classes beside plain memory copies and fio, in turns. */
@NullMarked
package io.tierlog.ops.bench.transfer;

import org.jspecify.annotations.NullMarked;
