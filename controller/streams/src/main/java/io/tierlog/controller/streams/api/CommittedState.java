/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.streams.api;

import io.tierlog.controller.core.table.HeapTables;
import io.tierlog.controller.core.table.RowKey;
import io.tierlog.controller.core.table.Rows;
import io.tierlog.controller.core.table.StoredRows;
import io.tierlog.controller.core.table.Table;
import io.tierlog.controller.http.Problem;
import io.tierlog.events.Reading;
import io.tierlog.events.RecordReader;
import io.tierlog.schemas.WireRecord;
import io.tierlog.schemas.decision.Fact;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashSet;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The controller's committed decisions: the rows that responses are made of, and the facts that requests wait for.
 * Safe for use by several threads; fed by the one thread of {@link ChangelogReader}.
 *
 * <p>The rows come from the changelog of the controller's store, read committed, for all partitions: so they are what a restart would find, every
 * instance gives the same answers without asking another, and nothing of an open transaction is shown. Trade-off: each instance reads the
 * changelog of all of them, and holds nodes, namespaces, marks, migrations, clocks and the policy on its heap; of each kind up to a bound.
 */
final class CommittedState {
    /** What answers are made of; rows of other tables are passed over undecoded. */
    private static final Set<Table<?, ?>> WANTED =
            Set.of(Rows.CLOCK, Rows.POLICY, Rows.NODES, Rows.NAMESPACES, Rows.MARKS, Rows.MIGRATIONS);

    private final ApiLimits limits;
    private final int partitions;
    private final RecordReader<Fact> decisions;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private final Set<DecisionWaiter> watches = new LinkedHashSet<>();
    private final Set<Table<?, ?>> overflowed = new LinkedHashSet<>();
    private HeapTables tables = new HeapTables();
    private volatile String notReady = "the state has not been read yet";

    CommittedState(LogAccess log, ApiLimits limits) {
        this.limits = limits;
        partitions = log.partitions();
        decisions = log.codec().reader(Fact.class);
    }

    /**
     * Something of the state, as it is now.
     *
     * @throws Problem NOT_READY while the state is being read
     */
    <T> T read(Function<StateSnapshot, T> question) {
        lock.lock();
        try {
            return question.apply(glance());
        } finally {
            lock.unlock();
        }
    }

    /** Follows the facts about one aggregate from here on, until it is closed. */
    DecisionWaiter watch(String aggregate) {
        DecisionWaiter watch = new DecisionWaiter(this, aggregate, partitions, limits.factsPerRequest());
        lock.lock();
        try {
            watches.add(watch);
        } finally {
            lock.unlock();
        }
        return watch;
    }

    void forget(DecisionWaiter watch) {
        lock.lock();
        try {
            watches.remove(watch);
        } finally {
            lock.unlock();
        }
    }

    /**
     * Repeats a query after every change, until there is an answer or the deadline has passed.
     *
     * @param deadlineNs by {@link System#nanoTime}
     * @param question returns null to be repeated; an exception from it ends the wait
     * @return the answer; empty when there was none in time
     */
    <T> Optional<T> await(long deadlineNs, Function<StateSnapshot, @Nullable T> question) {
        lock.lock();
        try {
            while (true) {
                T answer = question.apply(glance());
                if (answer != null) {
                    return Optional.of(answer);
                }
                long leftNs = deadlineNs - System.nanoTime();
                if (leftNs <= 0) {
                    return Optional.empty();
                }
                // Woken too when nothing changes, so that a wait never outlives its deadline.
                long _ = changed.awaitNanos(Math.min(leftNs, TimeUnit.SECONDS.toNanos(1)));
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new Problem(Problem.Kind.NOT_READY, "the controller is stopping", "retry on another instance, or later");
        } finally {
            lock.unlock();
        }
    }

    /** Refuses answers about rows of which there are more than are held. */
    void requireWhole(Table<?, ?> table) {
        lock.lock();
        try {
            if (overflowed.contains(table)) {
                throw new Problem(Problem.Kind.NOT_READY, "there are more " + table.name() + " than the " + limits.viewRows() + " that are held here",
                        "audit the log, which has them all; once there are fewer, restart this instance");
            }
        } finally {
            lock.unlock();
        }
    }

    private StateSnapshot glance() {
        if (!notReady.isEmpty()) {
            throw new Problem(Problem.Kind.NOT_READY, notReady, "ask again in a moment");
        }
        return new StateSnapshot(tables, partitions);
    }

    /** Begins from nothing: the feed reads from the start. */
    void restart(String why) {
        lock.lock();
        try {
            tables = new HeapTables();
            overflowed.clear();
            notReady = why;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** Why there are no answers yet; empty when there are. Does not wait for the feed. */
    String notReady() {
        return notReady;
    }

    /** All that was there when the feed began has been read: from here on there are answers. */
    void ready() {
        lock.lock();
        try {
            notReady = "";
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** Runs the change under the lock, so that no reader sees a part of it. */
    void batch(Runnable changes) {
        lock.lock();
        try {
            changes.run();
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** A record of the changelog; within {@link #batch}. */
    void row(byte[] key, byte @Nullable [] value) {
        Table<?, ?> table = StoredRows.tableOf(key);
        if (table != null && WANTED.contains(table)) {
            copy(table, key, value);
        }
    }

    private <K extends RowKey<K>, V extends WireRecord> void copy(Table<K, V> table, byte[] key, byte @Nullable [] value) {
        // A full table takes no more rows, and queries of it are refused from then on: an answer without some rows would be wrong.
        if (value != null && tables.rows(table).size() >= limits.viewRows()) {
            overflowed.add(table);
            return;
        }
        StoredRows.copy(tables, table, key, value);
    }

    /** A record of the decisions topic; within {@link #batch}. */
    void decision(int partition, byte @Nullable [] key, byte @Nullable [] value) {
        if (watches.isEmpty() || key == null) {
            return;
        }
        String aggregate = new String(key, StandardCharsets.UTF_8);
        if (watches.stream().noneMatch(watch -> watch.wants(partition, aggregate))) {
            return;
        }
        if (decisions.read(value) instanceof Reading.Decoded<Fact>(Fact fact)) {
            watches.stream().filter(watch -> watch.wants(partition, aggregate)).forEach(watch -> watch.take(fact));
        }
    }
}
