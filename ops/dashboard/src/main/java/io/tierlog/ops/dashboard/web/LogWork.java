/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.dashboard.web;

import io.tierlog.controller.http.Problem;
import io.tierlog.ops.audit.AuditException;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Reads the log for pages: one job at a time, for at most {@value #SECONDS} s, since each needs memory and a core. Safe for use by several threads.
 */
public final class LogWork implements AutoCloseable {
    static final int SECONDS = 30;

    private final Semaphore place = new Semaphore(1);
    private final ExecutorService reader = Executors.newSingleThreadExecutor(Thread.ofPlatform().name("tierlog-log-work").daemon().factory());

    /**
     * What a job makes.
     *
     * @param instead what the caller can do when it took too long
     * @throws Problem OVERLOADED while another job runs, NOT_READY when it took too long, LOG_UNAVAILABLE when the log cannot be read
     */
    <T> T run(Callable<T> job, String instead) {
        if (!place.tryAcquire()) {
            throw new Problem(Problem.Kind.OVERLOADED, "the log is being read for another page", "retry in a moment");
        }
        try {
            return bounded(job, instead);
        } finally {
            place.release();
        }
    }

    private <T> T bounded(Callable<T> job, String instead) {
        Future<T> running = reader.submit(job);
        try {
            return running.get(SECONDS, TimeUnit.SECONDS);
        } catch (TimeoutException e) {
            throw new Problem(Problem.Kind.NOT_READY, "reading the log took longer than " + SECONDS + " s", instead);
        } catch (ExecutionException e) {
            switch (e.getCause()) {
                case AuditException audit -> throw new Problem(Problem.Kind.LOG_UNAVAILABLE, audit.getMessage(), audit.hint());
                case Problem problem -> throw problem;
                case null, default -> throw new IllegalStateException("the log cannot be read", e.getCause());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new Problem(Problem.Kind.NOT_READY, "the page is stopping", "retry in a moment");
        } finally {
            running.cancel(true);
        }
    }

    @Override
    public void close() {
        reader.shutdownNow();
    }
}
