/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.streams.api;

import io.tierlog.controller.core.table.HeapTables;
import io.tierlog.controller.core.table.RowKey;
import io.tierlog.controller.core.table.Rows;
import io.tierlog.controller.core.table.StoredRows;
import io.tierlog.controller.core.table.Table;
import io.tierlog.controller.http.Problem;
import io.tierlog.events.Causes;
import io.tierlog.events.Reading;
import io.tierlog.events.RecordReader;
import io.tierlog.schemas.WireRecord;
import io.tierlog.schemas.decision.Fact;
import io.tierlog.threads.RareWarning;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import org.apache.kafka.common.utils.Bytes;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The controller's committed decisions: the rows that responses are made of, and the facts that requests wait for.
 * Safe for use by several threads; fed by the one thread of {@link ChangelogReader}.
 *
 * <p>The rows come from the changelog of the controller's store, read committed, for all partitions: so they are what a restart would find, every
 * instance gives the same answers without asking another, and nothing of an open transaction is shown. Trade-off: each instance reads the
 * changelog of all of them, and holds nodes, namespaces, marks, migrations, clocks and the policy on its heap; of each kind up to a bound.
 */
final class CommittedState {
    private static final Logger LOG = LoggerFactory.getLogger(CommittedState.class);
    private static final int MAX_UNREADABLE = 1_000;

    /** What answers are made of; rows of other tables are passed over undecoded. */
    private static final Set<Table<?, ?>> WANTED =
            Set.of(Rows.CLOCK, Rows.POLICY, Rows.NODES, Rows.NAMESPACES, Rows.MARKS, Rows.MIGRATIONS);

    private final ApiLimits limits;
    private final int partitions;
    private final RecordReader<Fact> decisions;
    private final RareWarning warning = new RareWarning(LOG);
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private final Set<DecisionWaiter> watches = new LinkedHashSet<>();
    private final Set<Table<?, ?>> overflowed = new LinkedHashSet<>();
    private final Map<Bytes, Unreadable> unreadable = new LinkedHashMap<>();
    private HeapTables tables = new HeapTables();
    private volatile String notReady = "the state has not been read yet";

    /** A record of the changelog that is no row of its table, and where it is. */
    private record Unreadable(Table<?, ?> table, String place) {}

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

    /** Refuses answers about rows of which there are more than are held, or of which one cannot be read. */
    void requireWhole(Table<?, ?> table) {
        lock.lock();
        try {
            if (overflowed.contains(table)) {
                throw new Problem(Problem.Kind.NOT_READY, "there are more " + table.name() + " than the " + limits.viewRows() + " that are held here",
                        "audit the log, which has them all; once there are fewer, restart this instance");
            }
            for (Unreadable row : unreadable.values()) {
                if (row.table().equals(table)) {
                    throw new Problem(Problem.Kind.NOT_READY, "a row of " + table.name() + " cannot be read: " + row.place(),
                            "another program wrote it; stop the controllers and write the changelog from a snapshot (ops/tierlog snapshot restore)");
                }
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
            unreadable.clear();
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

    /** Which rows are left out since they cannot be read, for people; empty when there are none. */
    String unreadable() {
        lock.lock();
        try {
            return unreadable.isEmpty() ? "" : "the operator API leaves out " + unreadable.size()
                    + " rows that cannot be read, first: " + unreadable.values().iterator().next().place();
        } finally {
            lock.unlock();
        }
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
    void row(int partition, long offset, byte[] key, byte @Nullable [] value) {
        Table<?, ?> table = StoredRows.tableOf(key);
        if (table == null || !WANTED.contains(table)) {
            return;
        }
        try {
            copy(table, key, value);
            unreadable.remove(Bytes.wrap(key));
        } catch (RuntimeException e) {
            String place = "partition " + partition + " offset " + offset + " of the changelog: " + Causes.of(e);
            warning.warn("a row of {} is left out of the operator API, {}", table.name(), place);
            if (unreadable.size() < MAX_UNREADABLE) {
                unreadable.put(Bytes.wrap(key), new Unreadable(table, place));
            } else {
                overflowed.add(table);
            }
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
