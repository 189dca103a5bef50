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
final class LastResort implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(LastResort.class);
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private final CompletableFuture<Throwable> met = new CompletableFuture<>();
    private final CountDownLatch closed = new CountDownLatch(1);
    private final Duration patience;
    private final IntConsumer halt;
    private final UncaughtExceptionHandler handler = this::ends;
    private final @Nullable UncaughtExceptionHandler before = Thread.getDefaultUncaughtExceptionHandler();

    LastResort() {
        this(PATIENCE, Runtime.getRuntime()::halt);
    }

    /** For tests: halts by {@code halt}, which receives the exit code. */
    LastResort(Duration patience, IntConsumer halt) {
        this.patience = patience;
        this.halt = halt;
        Thread.setDefaultUncaughtExceptionHandler(handler);
    }

    /** The first end of both: by a fault of a thread, or the service's own. */
    CompletionStage<Throwable> or(CompletionStage<? extends Throwable> ended) {
        CompletableFuture<Throwable> first = met.copy();
        ended.whenComplete((why, failure) -> first.complete(failure == null ? why : failure));
        return first;
    }

    /** Runs on the thread that ends, and needs no other: there may be no memory for one. */
    private void ends(Thread thread, Throwable fault) {
        try {
            LOG.error("the thread {} has ended by a fault that nothing expects, and the process ends for it", thread.getName(), fault);
            met.complete(new CliError("the thread " + thread.getName() + " has ended by a fault that nothing expects: " + fault,
                    "look at the log, and start again", CliError.FAILURE, fault));
            if (closed.await(patience.toMillis(), TimeUnit.MILLISECONDS)) {
                return;
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (RuntimeException | Error e) {
            fault.addSuppressed(e);
        }
        halt.accept(CliError.FAILURE);
    }

    /** The service has closed. */
    @Override
    public void close() {
        closed.countDown();
        if (Thread.getDefaultUncaughtExceptionHandler() == handler) {
            Thread.setDefaultUncaughtExceptionHandler(before);
        }
    }
}
