/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.streams;

import io.tierlog.controller.core.invariant.Invariant;
import io.tierlog.controller.core.invariant.TableInvariants;
import io.tierlog.controller.core.invariant.Violation;
import io.tierlog.controller.core.table.Tables;
import io.tierlog.schemas.MalformedRecordException;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Looks over the tables of a task while it works: every few ticks a bounded number of rows, going round. What does not hold is counted,
 * logged and shown by {@link Health}; it never stops the controller, since deciding on is better than not deciding. Only for the task's stream
 * thread. Trade-off: some gets per row, on the thread that decides.
 */
final class Sampler {
    private static final Logger LOG = LoggerFactory.getLogger(Sampler.class);

    private final Shared shared;
    private final int partition;
    private TableInvariants.Cursor cursor = TableInvariants.Cursor.START;
    private int ticks;

    /**
     * The state that all tasks of the instance share.
     *
     * @param everyTicks ticks between two samples; 0 for no samples
     * @param rows most rows of a sample
     */
    record Shared(int everyTicks, int rows, ControllerMetrics metrics, Health health) {}

    Sampler(Shared shared, int partition) {
        this.shared = shared;
        this.partition = partition;
    }

    /** A tick has been decided; what was decided is in the tables. */
    void tick(Tables tables) {
        if (shared.everyTicks() == 0 || ++ticks < shared.everyTicks()) {
            return;
        }
        ticks = 0;
        try {
            TableInvariants.Sample sample = TableInvariants.sample(tables, partition, cursor, shared.rows());
            cursor = sample.next();
            shared.metrics().sampled(sample.rows());
            found(sample.violations());
        } catch (MalformedRecordException | IllegalStateException e) {
            // The next sample goes on elsewhere, for this one would stumble over the same row.
            cursor = TableInvariants.Cursor.START;
            found(List.of(new Violation(Invariant.I13, Violation.STATE, partition, -1, "a row cannot be read: " + e.getMessage())));
        } finally {
            // Nothing was changed: this gives back what was read.
            tables.inputDone();
        }
    }

    private void found(List<Violation> violations) {
        for (Violation violation : violations) {
            shared.metrics().violated(violation.invariant());
        }
        if (!violations.isEmpty()) {
            Violation first = violations.getFirst();
            shared.health().violated(first.toString());
            LOG.error("the tables do not hold what they must, {} times in this sample; deciding goes on. Keep the log and the state directory, and"
                    + " run: tierlog audit verify. First: {}", violations.size(), first);
        }
    }
}
