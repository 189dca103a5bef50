/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.state;

import io.tierlog.controller.core.api.CoreVersion;
import io.tierlog.schemas.MigrationProgress;
import io.tierlog.schemas.decision.MigrationCompleted;
import io.tierlog.schemas.decision.MigrationNoted;
import io.tierlog.schemas.state.ClockRow;
import io.tierlog.schemas.state.MigrationRow;
import io.tierlog.schemas.state.PartRow;
import io.tierlog.schemas.state.TaskRow;
import java.util.ArrayList;
import java.util.List;

/** How facts about a migration change its rows: decide looks ahead with it, evolve writes with it. Without state. */
public final class MigrationRows {
    private MigrationRows() {}

    /** The row with what a node has reported. */
    public static MigrationRow noted(MigrationRow row, MigrationNoted fact) {
        List<PartRow> parts = new ArrayList<>(row.parts().size());
        for (PartRow part : row.parts()) {
            boolean its = part.node().equals(fact.node());
            parts.add(its ? new PartRow(part.node(), fact.report(), fact.answer() == null ? part.answer() : fact.answer(), fact.progress()) : part);
        }
        MigrationRow.Edit migration = row.edit();
        migration.parts = parts;
        return migration.row();
    }

    /** How a migration that was opened by the request at that offset is named: by the offset, or -1 where the core version names none. */
    public static long named(ClockRow clock, long request) {
        return clock.coreVersion() <= CoreVersion.MIGRATIONS_BY_ID ? -1 : request;
    }

    /** Whether both requests are named, and are not the same. */
    public static boolean isOther(long request, long other) {
        return request >= 0 && other >= 0 && request != other;
    }

    /** Whether both requests are named, and the first came before the other. */
    public static boolean isEarlier(long request, long other) {
        return request >= 0 && request < other;
    }

    /** The row of a part of which a copy has ended; one more report goes out. */
    public static TaskRow completed(TaskRow row, MigrationCompleted fact) {
        List<String> operations = new ArrayList<>(row.operations());
        operations.remove(fact.operation());
        MigrationProgress was = row.progress();
        TaskRow.Edit task = row.edit();
        task.operations = operations;
        task.progress = new MigrationProgress(operations.size(), was.doneBlocks() + fact.doneBlocks(),
                was.failedBlocks() + fact.failedBlocks(), was.movedBytes() + fact.movedBytes());
        task.reports++;
        task.endedMs = operations.isEmpty() ? fact.envelope().timeMs() : 0;
        return task.row();
    }
}
