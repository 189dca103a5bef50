/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench.transfer;

import io.tierlog.agent.core.api.AgentInput.UnitResult;
import io.tierlog.ops.bench.report.BenchException;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/**
 * A closed loop around one of the agent's ports: a fixed number of units in flight, the next one as soon as one has ended, each timed from its call
 * to its completion. One thread calls {@link #run}; completions come from any.
 */
final class Window {
    /** Longer than any unit takes on a disk that is not broken. */
    private static final long LONGEST_WAIT_S = 120;

    /** Begins a unit. */
    interface Begin {
        void unit(long id, int number);
    }

    /** Checks the results of a unit; returns what is wrong, or null. */
    interface Judge {
        @Nullable String wrong(int number, List<UnitResult> results);
    }

    /** How long a run took, and each of its units, in nanoseconds. */
    record Times(long nanos, Histogram unitNanos) {}

    /** The present run; the semaphore publishes its times. */
    private static final class Running {
        private final long firstId;
        private final Judge judge;
        private final long[] began;
        private final Histogram took = Sample.times();
        private final Semaphore slots;

        Running(long firstId, int units, int depth, Judge judge) {
            this.firstId = firstId;
            this.judge = judge;
            this.began = new long[units];
            this.slots = new Semaphore(depth);
        }
    }

    private final AtomicReference<@Nullable String> failure = new AtomicReference<>();
    private volatile @Nullable Running running;
    private long nextId = 1;

    /**
     * Runs units, numbered from 0.
     *
     * @throws BenchException when one fails, or does not end
     */
    Times run(int units, int depth, Begin begin, Judge judge) throws InterruptedException {
        Running now = new Running(nextId, units, depth, judge);
        nextId += units;
        running = now;
        long start = System.nanoTime();
        for (int number = 0; number < units; number++) {
            await(now.slots, 1);
            now.began[number] = System.nanoTime();
            begin.unit(now.firstId + number, number);
        }
        await(now.slots, depth);
        long nanos = System.nanoTime() - start;
        check();
        return new Times(nanos, now.took);
    }

    /** A completion. */
    void ended(long id, List<UnitResult> results) {
        Running now = running;
        int number = now == null ? -1 : (int) (id - now.firstId);
        if (now == null || number < 0 || number >= now.began.length) {
            failure.compareAndSet(null, "unit " + id + " ended, which did not begin");
            return;
        }
        now.took.recordValue(System.nanoTime() - now.began[number]);
        String wrong = now.judge.wrong(number, results);
        if (wrong != null) {
            failure.compareAndSet(null, wrong);
        }
        now.slots.release();
    }

    private void await(Semaphore slots, int permits) throws InterruptedException {
        if (!slots.tryAcquire(permits, LONGEST_WAIT_S, TimeUnit.SECONDS)) {
            check();
            throw BenchException.failed(
                    "a transfer has not ended within " + LONGEST_WAIT_S + " s", "look at the disk, and at the log with --verbose");
        }
        check();
    }

    private void check() {
        String wrong = failure.get();
        if (wrong != null) {
            throw BenchException.failed("a transfer went wrong: " + wrong, "the numbers would mean nothing; run again with --verbose");
        }
    }
}
