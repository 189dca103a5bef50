/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.evolve;

import io.tierlog.controller.core.state.PlacementRows;
import io.tierlog.controller.core.table.RowKey;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.state.PlacementRow;
import io.tierlog.schemas.state.PlacementState;
import org.jspecify.annotations.Nullable;

/** A row of a placement that {@link PlacementWriter} keeps open: as the table has it, and as it is to be. For one thread. */
final class Slot {
    RowKey.@Nullable Placement key;
    @Nullable PlacementRow before;
    boolean dirty;
    PlacementState state = PlacementState.ABSENT;
    int page;
    long generation;
    int crc32c;
    int index;
    Bytes parent = Bytes.EMPTY;
    long touch;
    int children;
    int holds;
    boolean stored;
    boolean refused;
    String group = "";
    long usedMs;
    @Nullable String operation;
    @Nullable String promotedUnder;
    long credit;
    boolean branch;

    /** Nothing is there. */
    void clear() {
        state = PlacementState.ABSENT;
        page = -1;
        generation = 0;
        crc32c = 0;
        index = 0;
        parent = Bytes.EMPTY;
        touch = 0;
        children = 0;
        holds = 0;
        stored = false;
        refused = false;
        group = "";
        usedMs = 0;
        operation = null;
        promotedUnder = null;
        credit = 0;
        branch = false;
    }

    void read(PlacementRow row) {
        state = row.state();
        page = row.page();
        generation = row.generation();
        crc32c = row.crc32c();
        index = row.index();
        parent = row.parent();
        touch = row.touch();
        children = row.children();
        holds = row.holds();
        stored = row.stored();
        refused = row.refused();
        group = row.group();
        usedMs = row.usedMs();
        operation = row.operation();
        promotedUnder = row.promotedUnder();
        credit = row.credit();
        branch = row.branch();
    }

    /** Was used without a hit: it keeps its place where that is behind its last use now. */
    void use(long now, long nowMs) {
        if (touch < now) {
            credit = Math.max(0, touch + credit - now);
            touch = now;
            usedMs = nowMs;
            dirty = true;
        }
    }

    /** Whether it counts as the child of its parent. */
    boolean isChild() {
        return state == PlacementState.WRITING || PlacementRows.isServed(state);
    }
}
