/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.decide;

import io.tierlog.schemas.Block;
import io.tierlog.schemas.state.PlacementRow;

/** A block whose placement was removed, and the row as it was. */
public record RemovedPlacement(Block block, PlacementRow copy) {}
