/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.decide;

import io.tierlog.schemas.Block;
import io.tierlog.schemas.state.PlacementRow;

/**
 * A block whose placement was removed.
 *
 * @param copy the row as it was
 * @param stored whether the store has the block: as recorded, or since the agent saw it there when the placement left
 */
public record RemovedPlacement(Block block, PlacementRow copy, boolean stored) {}
