/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.promotion;

/**
 * The bounds of promotions that no policy moves. Part of the core's version: the same for every instance that works on one log.
 *
 * @param blocksPerProbe most blocks that one probe names; a probe with more is refused
 * @param rememberedBlocks most blocks of a node whose ended promotions are remembered; beyond it nothing new is admitted, with QUEUE_FULL
 */
record PromotionLimits(int blocksPerProbe, int rememberedBlocks) {
    static final PromotionLimits DEFAULTS = new PromotionLimits(128, 65_536);
}
