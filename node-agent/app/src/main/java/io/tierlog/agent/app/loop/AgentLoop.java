/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.loop;

import io.tierlog.agent.core.api.AgentInput;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The one thread that owns the core, and its inbox: one queue in order of arrival, with a bound per kind of sender.
 *
 * <pre>
 *   engines      offer   refused when {@code calls} of them wait: the caller answers BUSY
 *   the log      put     waits for space
 *   completions  post    never waits and never fails: there are at most as many as units under way, which the ports bound
 * </pre>
 *
 * <p>Those three may be called from any thread; post also from the core's own. Trade-off of one queue: a completion stands behind the calls
 * that came before it, at most {@code calls} of them.
 */
public final class AgentLoop implements AutoCloseable {
    private static final int BATCH = 256;

    /** What the loop drives. All calls come from the loop's thread. */
    public interface Machine {
        /** Takes one input. */
        void on(AgentInput input, long nowMs);

        /** When the machine next wants TimePassed, by the loop's clock; Long.MAX_VALUE when never. */
        long nextDeadlineMs();

        /** A batch of inputs has been taken; a place to look at the state from. */
        void rested();
    }

    private enum Sender {
        ENGINE,
        LOG,
        PORT
    }

    private record Entry(Sender sender, AgentInput input) {}

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition arrived = lock.newCondition();
    private final Condition notFull = lock.newCondition();
    private final ArrayDeque<Entry> inbox = new ArrayDeque<>();
    private final int calls;
    private final int records;
    private final LongSupplier nowMs;
    private final Consumer<Throwable> fatal;
    private final String name;
    private @Nullable Thread thread;
    /** Written under the lock, read by those who watch the loop: they never wait for it, and it never waits for them. */
    private final AtomicInteger waitingCalls = new AtomicInteger();
    private final AtomicInteger waitingRecords = new AtomicInteger();
    private final AtomicInteger waitingCompletions = new AtomicInteger();
    /** When the batch in work began, by the loop's clock; -1 while there is none. */
    private volatile long batchSinceMs = -1;
    private boolean closed;

    /**
     * @param name of the thread
     * @param calls engine calls that may wait
     * @param records records of the log that may wait
     * @param nowMs a monotonic clock
     * @param fatal receives an exception of the machine; the loop has ended then
     */
    public AgentLoop(String name, int calls, int records, LongSupplier nowMs, Consumer<Throwable> fatal) {
        this.name = name;
        this.calls = calls;
        this.records = records;
        this.nowMs = nowMs;
        this.fatal = fatal;
    }

    /** Starts the thread; what came before waits in the inbox. */
    public void start(Machine machine) {
        lock.lock();
        try {
            thread = Thread.ofPlatform().name(name).daemon().start(() -> run(machine));
        } finally {
            lock.unlock();
        }
    }

    /** An engine's call: false when too many wait already or the loop has ended. */
    public boolean offer(AgentInput call) {
        lock.lock();
        try {
            if (closed || waitingCalls.get() >= calls) {
                return false;
            }
            add(Sender.ENGINE, call);
            return true;
        } finally {
            lock.unlock();
        }
    }

    /** A record of the log: waits for space; false when the loop has ended. */
    public boolean put(AgentInput record) throws InterruptedException {
        lock.lockInterruptibly();
        try {
            while (!closed && waitingRecords.get() >= records) {
                notFull.await();
            }
            if (!closed) {
                add(Sender.LOG, record);
            }
            return !closed;
        } finally {
            lock.unlock();
        }
    }

    /** A completion, or the end of something: always taken; after the end of the loop it is nothing. */
    public void post(AgentInput completion) {
        lock.lock();
        try {
            if (!closed) {
                add(Sender.PORT, completion);
            }
        } finally {
            lock.unlock();
        }
    }

    /** Calls of engines that wait. */
    public int waitingCalls() {
        return waitingCalls.get();
    }

    /** Records of the log that wait. */
    public int waitingRecords() {
        return waitingRecords.get();
    }

    /** Completions that wait. */
    public int waitingCompletions() {
        return waitingCompletions.get();
    }

    /** How long the batch in work has taken so far, ms; 0 when there is none. */
    public long busyMs() {
        long since = batchSinceMs;
        return since < 0 ? 0 : Math.max(0, nowMs.getAsLong() - since);
    }

    /** Ends the loop after the input at hand; what still waits is forgotten. */
    @Override
    public void close() {
        Thread running;
        lock.lock();
        try {
            closed = true;
            inbox.clear();
            arrived.signalAll();
            notFull.signalAll();
            running = thread;
        } finally {
            lock.unlock();
        }
        if (running != null && running != Thread.currentThread()) {
            try {
                running.join();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private void add(Sender sender, AgentInput input) {
        inbox.add(new Entry(sender, input));
        count(sender, 1);
        arrived.signal();
    }

    private void count(Sender sender, int more) {
        switch (sender) {
            case ENGINE -> waitingCalls.addAndGet(more);
            case LOG -> waitingRecords.addAndGet(more);
            case PORT -> waitingCompletions.addAndGet(more); // bounded by the ports
        }
    }

    private void run(Machine machine) {
        try {
            List<AgentInput> batch = new ArrayList<>(BATCH);
            while (take(machine, batch)) {
                batchSinceMs = nowMs.getAsLong();
                for (AgentInput input : batch) {
                    machine.on(input, nowMs.getAsLong());
                }
                batch.clear();
                if (nowMs.getAsLong() >= machine.nextDeadlineMs()) {
                    machine.on(new AgentInput.TimePassed(), nowMs.getAsLong());
                }
                machine.rested();
                batchSinceMs = -1;
            }
        } catch (InterruptedException e) {
            fatal.accept(new IllegalStateException("the loop's thread was interrupted", e));
        } catch (RuntimeException | Error e) {
            // The state of the core is not to be trusted any more.
            lock.lock();
            try {
                closed = true;
                inbox.clear();
                notFull.signalAll();
            } finally {
                lock.unlock();
            }
            fatal.accept(e);
        }
    }

    /** Waits for inputs or the machine's deadline; false when the loop shall end. */
    private boolean take(Machine machine, List<AgentInput> batch) throws InterruptedException {
        lock.lock();
        try {
            while (inbox.isEmpty() && !closed) {
                long deadline = machine.nextDeadlineMs();
                if (deadline == Long.MAX_VALUE) {
                    arrived.await();
                } else {
                    long leftMs = deadline - nowMs.getAsLong();
                    if (leftMs <= 0) {
                        return true;
                    }
                    arrived.await(leftMs, TimeUnit.MILLISECONDS);
                }
            }
            for (int i = 0; i < BATCH && !inbox.isEmpty(); i++) {
                Entry entry = inbox.remove();
                count(entry.sender(), -1);
                batch.add(entry.input());
            }
            notFull.signalAll();
            return !closed;
        } finally {
            lock.unlock();
        }
    }
}
