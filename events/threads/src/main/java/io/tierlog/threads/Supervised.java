/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.threads;

import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Starts threads that no fault ends: what a task throws, an {@link Error} too, goes to {@link ThreadFaults}, and the work goes on. For work that may
 * go on after any fault. Where it may not, a plain thread hands its fault to the part that ends; what it does not catch ends the process.
 */
public final class Supervised {
    /** Between a fault of a task and its next run, ms. */
    static final long PAUSE_MS = 1_000;

    private Supervised() {}

    /** What a thread does until it returns. */
    public interface Task {
        /**
         * Runs until the work is over. Runs again, {@value #PAUSE_MS} ms later, when it throws.
         *
         * @throws InterruptedException when the thread was interrupted, which ends it
         */
        void run() throws InterruptedException;
    }

    /** A daemon thread that has not started. Interrupted while it pauses, it runs the task once more, with its flag set. */
    public static Thread unstarted(String name, Task task) {
        return Thread.ofPlatform().name(name).daemon().unstarted(() -> supervise(name, task));
    }

    /** A daemon thread that runs {@code task}. */
    public static Thread start(String name, Task task) {
        Thread thread = unstarted(name, task);
        thread.start();
        return thread;
    }

    /** Makes the threads of a pool: what their tasks throw is counted under {@code name}, and the pool replaces the thread. */
    public static ThreadFactory pool(String name) {
        return counting(Thread.ofPlatform().daemon(), name).name(name + "-", 0).factory();
    }

    /** Makes virtual threads, each for one task: what a task throws ends that task alone, and is counted under {@code name}. */
    public static ThreadFactory tasks(String name) {
        return counting(Thread.ofVirtual(), name).name(name + "-", 0).factory();
    }

    private static <B extends Thread.Builder> Thread.Builder counting(B builder, String name) {
        return builder.uncaughtExceptionHandler((_, fault) -> ThreadFaults.ofProcess().met(name, fault));
    }

    /**
     * One daemon thread for tasks at their times. A task that throws is counted under {@code name}; one that repeats goes on. What was handed in as a
     * Callable reports to its future alone; the future of another task does not tell of its faults. A task that is cancelled is forgotten at once.
     */
    public static ScheduledThreadPoolExecutor scheduler(String name) {
        ScheduledThreadPoolExecutor scheduler = new Scheduler(name);
        scheduler.setRemoveOnCancelPolicy(true);
        return scheduler;
    }

    private static void supervise(String name, Task task) {
        boolean again = true;
        while (again) {
            try {
                task.run();
                return;
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return;
            } catch (RuntimeException | Error fault) {
                ThreadFaults.ofProcess().met(name, fault);
            }
            // After an interrupt the task sees its end once more, and no fault may make it spin.
            again = !Thread.currentThread().isInterrupted();
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(PAUSE_MS));
        }
    }

    private static final class Scheduler extends ScheduledThreadPoolExecutor {
        private final String name;

        Scheduler(String name) {
            super(1, Thread.ofPlatform().name(name).daemon().factory());
            this.name = name;
        }

        /** All that throws: {@link #execute} and the submit of a Runnable come here too. */
        private Runnable guarded(Runnable task) {
            return () -> {
                try {
                    task.run();
                } catch (RuntimeException | Error fault) {
                    ThreadFaults.ofProcess().met(name, fault);
                }
            };
        }

        @Override
        public ScheduledFuture<?> schedule(Runnable task, long delay, TimeUnit unit) {
            return super.schedule(guarded(task), delay, unit);
        }

        @Override
        public ScheduledFuture<?> scheduleAtFixedRate(Runnable task, long first, long period, TimeUnit unit) {
            return super.scheduleAtFixedRate(guarded(task), first, period, unit);
        }

        @Override
        public ScheduledFuture<?> scheduleWithFixedDelay(Runnable task, long first, long delay, TimeUnit unit) {
            return super.scheduleWithFixedDelay(guarded(task), first, delay, unit);
        }
    }
}
