/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.invariant;

import io.tierlog.schemas.decision.Fact;
import io.tierlog.schemas.event.Event;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The invariants over a log, record by record: an independent fold that uses neither decide nor evolve.
 *
 * <p>Records of one partition come in log order, and an event comes before the decisions it led to; how far decisions lag behind does not
 * matter, nor in which order partitions come. An audit that reads event after event, each with its decisions, and a simulator that hands over
 * every record as it is appended get the same answers. Only committed decisions count.
 *
 * <p>What the log shows of each:
 *
 * <pre>
 *   I1   leases are requested once, granted once, ended once; at rest none is left, and no agent reports a pin
 *   I2   pages named by OperationStarted are used by no other operation until the agent's terminal event
 *   I3   what a BACK_UP or COPY reads is not dropped, evicted or given away meanwhile
 *   I4   heartbeats add up; a page serves one block, a block serves in one page, inside of the capacity
 *   I5   requests take legal steps only, end once, and have no lease when their last decision is made
 *   I6   at rest no request waits, no operation runs, no event is unanswered, no cleanup of fenced rows is open
 *   I8   each placement is named, page, generation and checksum, by the Done event it answers
 *   I9   checksums only: a copy has that of its source
 *   I10  what is evicted or dropped is extended by nothing that serves on that tier
 *   I11  a drop names blocks that are recorded elsewhere; lost last copies are counted as such
 *   I12  each operation has one beginning and one end, as its agent reported, or by fencing; each migration is submitted and completed with it
 *   I13  every event is answered, in order; incarnations and time go forward
 * </pre>
 *
 * <p>I7 does not show in a log. Memory: what is live (requests, leases, operations in progress, resident copies of the nodes' tiers, events
 * that are not answered yet), never what has passed; of shared stores only the deletion in flight. Confined to one thread; partitions share
 * nothing, so an instance for each partition may run in a thread of its own.
 */
public final class LogInvariants {
    private final Consumer<Violation> listener;
    private final Map<Integer, PartitionFold> partitions = new LinkedHashMap<>();

    /** Sends every violation to {@code listener}, as soon as it shows. */
    public LogInvariants(Consumer<Violation> listener) {
        this.listener = listener;
    }

    /** The next event of a partition, at {@code offset} of the events topic. */
    public void event(int partition, long offset, Event event) {
        fold(partition).event(offset, event);
    }

    /** The next record of the events topic, which cannot be read as an event. */
    public void unreadable(int partition, long offset) {
        fold(partition).event(offset, null);
    }

    /** The next committed decision of a partition, at {@code offset} of the decisions topic. */
    public void decision(int partition, long offset, Fact decision) {
        fold(partition).decision(offset, decision);
    }

    /** Offset of the event that a decision answers; -1 when it names none. */
    public static long causeOffset(Fact decision) {
        return Cause.offsetOf(decision.envelope().cause());
    }

    /**
     * There are no more records. May be called once.
     *
     * @param atRest whether nothing is in flight any more: every event was decided, every operation had the time to end, no request goes on
     */
    public void atEnd(boolean atRest) {
        partitions.values().forEach(fold -> fold.atEnd(atRest));
    }

    /** What was counted so far. */
    public Counts counts() {
        Counts sum = new Counts(0, 0, 0, 0, 0, 0);
        for (PartitionFold fold : partitions.values()) {
            sum = sum.plus(fold.counts());
        }
        return sum;
    }

    /**
     * Operations, as decided: started = done + failed + cancelled + fenced + unfinished.
     *
     * @param started issued, or adopted when they were reported
     */
    public record Counts(long started, long done, long failed, long cancelled, long fenced, long unfinished) {
        /** The sum of both. */
        public Counts plus(Counts more) {
            return new Counts(started + more.started, done + more.done, failed + more.failed, cancelled + more.cancelled,
                    fenced + more.fenced, unfinished + more.unfinished);
        }
    }

    /**
     * Writes the state of the fold of one partition, or reads it. What an event leads to has all been seen when it is written.
     *
     * @throws IllegalStateException when an event that was folded waits for its decisions
     */
    public void state(int partition, FoldBytes io) {
        fold(partition).state(io);
    }

    private PartitionFold fold(int partition) {
        @Nullable PartitionFold known = partitions.get(partition);
        if (known == null) {
            known = new PartitionFold(partition, new Findings(listener, partition));
            partitions.put(partition, known);
        }
        return known;
    }
}
