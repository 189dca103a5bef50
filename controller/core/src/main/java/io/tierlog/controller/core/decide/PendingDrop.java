/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.decide;

import io.tierlog.schemas.MoveCause;
import io.tierlog.schemas.PagedBlock;
import io.tierlog.schemas.Tier;
import java.util.List;

/**
 * Blocks to drop once the facts of a decision are in the tables.
 *
 * @param tier tier that they are on
 * @param reliesOn tier that has them too
 * @param namespace their namespace
 * @param blocks the blocks, with the pages and generations that were copied
 * @param move what led to the copy
 * @param since offset of the record that led to it: what was used later stays
 */
public record PendingDrop(Tier tier, Tier reliesOn, String namespace, List<PagedBlock> blocks, MoveCause move, long since) {}
