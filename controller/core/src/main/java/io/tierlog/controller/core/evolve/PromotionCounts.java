/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.evolve;

import io.tierlog.controller.core.api.IllegalHistory;
import io.tierlog.controller.core.state.PromotionRows;
import io.tierlog.schemas.state.PromotionsRow;
import org.jspecify.annotations.Nullable;

/** Counts of a node's promotions and peer reads while a fact changes them. Confined to one call of evolve. */
public final class PromotionCounts {

    int operations;
    public long queuedBlocks;
    long pausedUntilMs;
    int reads;
    long leasedBlocks;
    long rememberedBlocks;

    private PromotionCounts(PromotionsRow row) {
        operations = row.operations();
        queuedBlocks = row.queuedBlocks();
        pausedUntilMs = row.pausedUntilMs();
        reads = row.reads();
        leasedBlocks = row.leasedBlocks();
        rememberedBlocks = row.rememberedBlocks();
    }

    public static PromotionCounts of(@Nullable PromotionsRow row) {
        return new PromotionCounts(PromotionRows.orNothing(row));
    }

    /** The row; null when all counts are zero. */
    public @Nullable PromotionsRow toRow() {
        if (operations < 0 || queuedBlocks < 0 || reads < 0 || leasedBlocks < 0 || rememberedBlocks < 0) {
            throw new IllegalHistory("Counts of promotions or peer reads are below 0: " + row());
        }
        PromotionsRow row = row();
        return row.equals(PromotionRows.NOTHING) ? null : row;
    }

    private PromotionsRow row() {
        return new PromotionsRow(operations, queuedBlocks, pausedUntilMs, reads, leasedBlocks, rememberedBlocks);
    }
}
