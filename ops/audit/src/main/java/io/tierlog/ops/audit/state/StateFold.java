/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.audit.state;

import io.tierlog.controller.core.Core;
import io.tierlog.controller.core.api.IllegalHistory;
import io.tierlog.controller.core.invariant.LogInvariants;
import io.tierlog.controller.core.table.HeapTables;
import io.tierlog.controller.core.table.Tables;
import io.tierlog.events.Codec;
import io.tierlog.events.Reading;
import io.tierlog.events.RecordReader;
import io.tierlog.events.topic.Topics;
import io.tierlog.ops.audit.AuditException;
import io.tierlog.ops.audit.LogEntry;
import io.tierlog.ops.audit.LogSource;
import io.tierlog.ops.audit.Moment;
import io.tierlog.ops.audit.PartitionStart;
import io.tierlog.ops.audit.RecordCursor;
import io.tierlog.ops.audit.TrimmedLog;
import io.tierlog.schemas.decision.Fact;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The decisions of one partition, folded by the controller's own core from the first one up to a moment, and on to a later one. Confined to one
 * thread. Memory: the tables of the partition, on the heap.
 */
final class StateFold implements AutoCloseable {
    private final LogSource source;
    private final Topics topics;
    private final int partition;
    private final RecordReader<Fact> facts;
    private final RecordCursor decisions;
    private final HeapTables tables;
    private final long earliest;
    private Folded last;

    /** The partition of a log. */
    record Job(LogSource source, Topics topics, Codec codec, int partition, Optional<PartitionStart> start) {}

    /**
     * The decision that was folded last.
     *
     * @param offset its offset, -1 before the first
     * @param timeMs when it was appended, milliseconds since 1970
     * @param cause offset of the event that it answers, -1 for none
     */
    record Folded(long offset, long timeMs, long cause) {}

    /** Sees each decision before it is folded. */
    @FunctionalInterface
    interface Listener {
        void next(long offset, Fact fact);
    }

    StateFold(Job job) {
        this.source = job.source();
        this.topics = job.topics();
        this.partition = job.partition();
        this.facts = job.codec().reader(Fact.class);
        Optional<PartitionStart.At> start = job.start().map(PartitionStart::at);
        this.tables = job.start().map(PartitionStart::tables).orElseGet(HeapTables::new);
        this.last = start.map(at -> new Folded(at.lastDecision(), at.lastTimeMs(), at.lastEvent())).orElse(new Folded(-1, 0, -1));
        this.earliest = last.offset();
        this.decisions = start.isPresent()
                ? new RecordCursor(source, topics.decisions(), partition, start.get().nextDecision())
                : new RecordCursor(source, topics.decisions(), partition);
        if (start.isEmpty() && decisions.begin() > 0) {
            decisions.close();
            throw TrimmedLog.beginsAt(topics.decisions(), partition, decisions.begin());
        }
    }

    /** The tables as they are now. */
    HeapTables tables() {
        return tables;
    }

    /** Where the fold stands. */
    Folded last() {
        return last;
    }

    /** The partition. */
    int partition() {
        return partition;
    }

    /**
     * Folds up to {@code moment}.
     *
     * @throws AuditException when the log ends before it, goes back from where the fold stands, or cannot be read or folded
     */
    void advance(Moment moment) {
        advance(moment, tables, (_, _) -> {});
    }

    /** As the other, through tables that write into {@link #tables}. */
    void advance(Moment moment, Tables into, Listener listener) {
        moment.requireIn(source, topics, partition);
        if (last.offset() >= 0 && !moment.includes(last.offset(), last.timeMs(), last.cause())) {
            throw last.offset() == earliest
                    ? new AuditException(moment + " is before the snapshot, which ends with " + new Moment.Decision(partition, earliest),
                            "give an earlier snapshot with --snapshot; snapshot list shows what there is")
                    : new AuditException(moment + " is before " + new Moment.Decision(partition, last.offset()), "give the earlier moment first");
        }
        // What comes after the moment may be damaged: it is not decoded, and where the moment is an offset, not read.
        while (!moment.endsAt(last.offset())) {
            LogEntry.Data data = decisions.peek();
            if (data == null || moment.isBefore(data.offset(), data.timestampMs())) {
                return;
            }
            Fact fact = decoded(data);
            Folded next = new Folded(data.offset(), data.timestampMs(), LogInvariants.causeOffset(fact));
            if (!moment.includes(next.offset(), next.timeMs(), next.cause())) {
                return;
            }
            listener.next(next.offset(), fact);
            try {
                Core.evolve(into, fact);
            } catch (IllegalHistory e) {
                throw damaged(next.offset(), "does not fit the state that the decisions before it made: " + e.getMessage(), e);
            }
            last = next;
            decisions.next();
        }
    }

    private Fact decoded(LogEntry.Data data) {
        return switch (facts.read(data.value())) {
            case Reading.Decoded<Fact>(Fact fact) -> fact;
            case Reading.Unreadable<Fact> bad -> throw damaged(data.offset(), "cannot be decoded: " + bad.detail(), null);
        };
    }

    private AuditException damaged(long offset, String what, @Nullable Throwable cause) {
        String message = "the decision at " + new Moment.Decision(partition, offset) + " " + what;
        String hint = "audit verify says what else is wrong; a moment before it can be shown";
        return cause == null ? new AuditException(message, hint) : new AuditException(message, hint, cause);
    }

    @Override
    public void close() {
        decisions.close();
    }
}
