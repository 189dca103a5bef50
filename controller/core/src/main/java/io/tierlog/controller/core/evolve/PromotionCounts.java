/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.evolve;

import io.tierlog.controller.core.api.IllegalHistory;
import io.tierlog.controller.core.state.PromotionRows;
import io.tierlog.schemas.state.PromotionsRow;
import org.jspecify.annotations.Nullable;

/** What a node promotes and lends, counted, while a fact changes it. Confined to one call of evolve. */
public final class PromotionCounts {

    int operations;
    public long queuedBlocks;
    long pausedUntilMs;
    int reads;
    long lentBlocks;
    long rememberedBlocks;

    private PromotionCounts(PromotionsRow row) {
        operations = row.operations();
        queuedBlocks = row.queuedBlocks();
        pausedUntilMs = row.pausedUntilMs();
        reads = row.reads();
        lentBlocks = row.lentBlocks();
        rememberedBlocks = row.rememberedBlocks();
    }

    public static PromotionCounts of(@Nullable PromotionsRow row) {
        return new PromotionCounts(PromotionRows.orNothing(row));
    }

    /** The row; null when it would say nothing. */
    public @Nullable PromotionsRow toRow() {
        if (operations < 0 || queuedBlocks < 0 || reads < 0 || lentBlocks < 0 || rememberedBlocks < 0) {
            throw new IllegalHistory("Counts of promotions or peer reads are below 0: " + row());
        }
        PromotionsRow row = row();
        return row.equals(PromotionRows.NOTHING) ? null : row;
    }

    private PromotionsRow row() {
        return new PromotionsRow(operations, queuedBlocks, pausedUntilMs, reads, lentBlocks, rememberedBlocks);
    }
}
