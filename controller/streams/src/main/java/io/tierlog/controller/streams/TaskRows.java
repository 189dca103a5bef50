/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.streams;

import io.tierlog.controller.core.table.OrderedBytes;
import io.tierlog.controller.core.table.PlacementRuns;
import io.tierlog.controller.core.table.RunTables;
import io.tierlog.controller.core.table.Table;
import io.tierlog.controller.core.table.Tables;
import io.tierlog.controller.core.table.WriteBehindTables;
import java.time.Duration;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.streams.processor.Cancellable;
import org.apache.kafka.streams.processor.PunctuationType;
import org.apache.kafka.streams.processor.api.ProcessorContext;
import org.jspecify.annotations.Nullable;

/**
 * The rows of one task: kept decoded between inputs, written behind while the task is idle, and written out before each commit. One for each
 * initialisation of a task, so that nothing kept survives an abort. Only for the task's stream thread.
 *
 * <p>Trade-off: a commit writes the rows of the last {@value #PERIOD_MS} to 100 ms, and on a busy thread all that the periods did not get to.
 */
final class TaskRows {
    private static final int PERIOD_MS = 10;

    /** Fewer than a millisecond's worth of writes. */
    private static final int LEAST_ROWS = 100;

    private final ProcessorContext<?, ?> context;
    private final RunTables stored;
    private final WriteBehindTables tables;
    private final SequenceStamper stamper;
    private @Nullable Cancellable periods;
    private boolean closed;

    TaskRows(ProcessorContext<?, ?> context, RowStore store) {
        this.context = context;
        StoreBytes bytes = new StoreBytes(store.wrapped());
        stored = new RunTables(bytes);
        tables = new WriteBehindTables(stored, WriteBehindTables.KEPT);
        stamper = new SequenceStamper(bytes);
        store.beforeCommit(this::writeOut);
    }

    /** The core's tables over a store. */
    static WriteBehindTables over(OrderedBytes bytes) {
        return new WriteBehindTables(new RunTables(bytes), WriteBehindTables.KEPT);
    }

    /**
     * Reads all placements, before the first input: later the first input about each node or shard of the store would wait for that.
     *
     * @throws ControllerException.StateUnusable when another version wrote them, or there are more than are held in memory
     * @throws Table.Unreadable when they are damaged
     */
    void load() {
        try {
            stored.placements().loadAll();
        } catch (KafkaException e) {
            throw e; // Streams deals with its own
        } catch (PlacementRuns.TooMany | PlacementRuns.OtherForm e) {
            throw unusable(e);
        } catch (RuntimeException e) {
            throw new Table.Unreadable("a run of placements", e);
        }
    }

    /** What the placements refuse is a reason to stop, with what to do. */
    private void write(Runnable step) {
        try {
            step.run();
        } catch (PlacementRuns.TooMany | PlacementRuns.OtherForm e) {
            throw unusable(e);
        }
    }

    /** The placements cannot be held in memory: the partition is not decided any further. */
    ControllerException.StateUnusable unusable(RuntimeException why) {
        return new ControllerException.StateUnusable(context.taskId().partition(), why);
    }

    /** The placements in memory. */
    PlacementRuns.Size placements() {
        return stored.placements().size();
    }

    /** The core's tables. */
    Tables tables() {
        return tables;
    }

    /** The numbers of records. */
    SequenceStamper stamper() {
        return stamper;
    }

    /** The event at that offset, with this value, is decided: its rows will be written soon. */
    void inputDone(long offset, byte @Nullable [] value) {
        stamper.inputDone(offset, value);
        if (periods == null && tables.unwritten() > 0) {
            periods = context.schedule(Duration.ofMillis(PERIOD_MS), PunctuationType.WALL_CLOCK_TIME, this::period);
        }
    }

    /** Not scheduled while there is nothing to write: a period makes Streams commit. */
    private void period(long nowMs) {
        if (closed) {
            return;
        }
        write(() -> tables.writeBehind(LEAST_ROWS));
        if (tables.unwritten() == 0) {
            endPeriods();
        }
    }

    /** The task has ended. What is not written yet belongs to a transaction that was aborted, and is never written. */
    void close() {
        closed = true;
        endPeriods();
    }

    private void endPeriods() {
        if (periods != null) {
            periods.cancel();
            periods = null;
        }
    }

    private void writeOut() {
        if (closed) {
            return;
        }
        write(tables::flush);
        stamper.flush();
    }
}
