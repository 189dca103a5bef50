/* SPDX-License-Identifier: Apache-2.0 */
/** What agents and the store report of blocks, made into facts about placements. */
@NullMarked
package io.tierlog.controller.core.placement;

import org.jspecify.annotations.NullMarked;
