/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.command;

import java.lang.Thread.UncaughtExceptionHandler;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * While open, a fault that ends a thread ends the process: a service with a part that is gone must not look well. Threads that may go on after a
 * fault are started by {@link io.tierlog.threads.Supervised} and do not come here; those of Kafka's clients log their faults themselves.
 *
 * <pre>
 *   fault --> one line in the log --> the service is closed as for any fault of it --> exit code 1
 *                                 \--> not closed within 30 s: the process ends as it is, with the same code
 * </pre>
 */
final class UncaughtFaults implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(UncaughtFaults.class);
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private final CompletableFuture<Throwable> met = new CompletableFuture<>();
    private final CountDownLatch tripped = new CountDownLatch(1);
    private final CountDownLatch closed = new CountDownLatch(1);
    private final Duration patience;
    private final IntConsumer halt;
    private final UncaughtExceptionHandler handler = this::ends;
    private final @Nullable UncaughtExceptionHandler before = Thread.getDefaultUncaughtExceptionHandler();

    UncaughtFaults() {
        this(PATIENCE, Runtime.getRuntime()::halt);
    }

    /** For tests: halts by {@code halt}, which receives the exit code. */
    UncaughtFaults(Duration patience, IntConsumer halt) {
        this.patience = patience;
        this.halt = halt;
        Thread.setDefaultUncaughtExceptionHandler(handler);
        // Now: after a fault there may be no memory for a thread.
        Thread _ = Thread.ofPlatform().daemon().name("tierlog-uncaught-faults").start(this::watch);
    }

    /** The first end of both: by a fault of a thread, or the service's own. */
    CompletableFuture<Throwable> or(CompletionStage<? extends Throwable> ended) {
        CompletableFuture<Throwable> first = met.copy();
        ended.whenComplete((why, failure) -> first.complete(failure == null ? why : failure));
        return first;
    }

    /** On the thread that ends: it waits for nothing, since the service may join it while it closes. */
    private void ends(Thread thread, Throwable fault) {
        tripped.countDown();
        try {
            LOG.error("the thread {} has ended by a fault that nothing expects, and the process ends for it", thread.getName(), fault);
            met.complete(new CliError("the thread " + thread.getName() + " has ended by a fault that nothing expects: " + fault,
                    "look at the log, and start again", CliError.FAILURE, fault));
        } catch (RuntimeException | Error e) {
            // Memory is short: the process ends without the line.
            met.complete(fault);
        }
    }

    private void watch() {
        try {
            tripped.await();
            if (!closed.await(patience.toMillis(), TimeUnit.MILLISECONDS)) {
                halt.accept(CliError.FAILURE);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** The service has closed. */
    @Override
    public void close() {
        closed.countDown();
        tripped.countDown();
        if (Thread.getDefaultUncaughtExceptionHandler() == handler) {
            Thread.setDefaultUncaughtExceptionHandler(before);
        }
    }
}
