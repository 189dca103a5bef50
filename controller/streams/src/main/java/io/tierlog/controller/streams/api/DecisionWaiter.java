/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.streams.api;

import io.tierlog.controller.core.invariant.LogInvariants;
import io.tierlog.events.Partitions;
import io.tierlog.schemas.decision.Fact;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;

/**
 * The committed facts about one aggregate while a request about it waits. Guarded by the lock of its {@link CommittedState}.
 *
 * <p>A fact names its cause, AGGREGATE@OFFSET, and facts of a partition follow the order of its inputs. So the facts of an input
 * can be separated from others. A fact of a later input, a tick at the latest, shows that the input has been decided, even if it led to
 * nothing.
 */
final class DecisionWaiter implements AutoCloseable {
    private static final long UNKNOWN = Long.MAX_VALUE;

    private final CommittedState view;
    private final String aggregate;
    private final String clock;
    private final int partition;
    private final int mostFacts;
    /** Until the offset of the input is known, the last ones about the aggregate; then those of the input. */
    private final Deque<Fact> facts = new ArrayDeque<>();
    private long decidedThrough = -1;
    private long offset = UNKNOWN;

    DecisionWaiter(CommittedState view, String aggregate, int partitions, int mostFacts) {
        this.view = view;
        this.aggregate = aggregate;
        this.mostFacts = mostFacts;
        partition = Partitions.of(aggregate, partitions);
        clock = Partitions.clock(partition);
    }

    /** Sets the offset of the input that is waited for. */
    void input(long itsOffset) {
        view.batch(() -> {
            offset = itsOffset;
            facts.removeIf(fact -> !isConsequence(fact));
        });
    }

    private boolean isConsequence(Fact fact) {
        return (aggregate + "@" + offset).equals(fact.envelope().cause());
    }

    /** Facts that the input itself has led to, so far; the first ones, if there are too many. */
    List<Fact> consequences() {
        return offset == UNKNOWN ? List.of() : List.copyOf(facts);
    }

    /** Whether the input has been decided, and all that it led to has been seen. */
    boolean settled() {
        return decidedThrough > offset;
    }

    boolean wants(int ofPartition, String ofAggregate) {
        return ofPartition == partition && (ofAggregate.equals(aggregate) || ofAggregate.equals(clock));
    }

    void take(Fact fact) {
        if (fact.envelope().aggregate().equals(aggregate) && (offset == UNKNOWN || isConsequence(fact))) {
            if (offset == UNKNOWN && facts.size() == mostFacts) {
                facts.removeFirst();
            }
            if (facts.size() < mostFacts) {
                facts.addLast(fact);
            }
        }
        decidedThrough = Math.max(decidedThrough, LogInvariants.causeOffset(fact));
    }

    @Override
    public void close() {
        view.forget(this);
    }
}
