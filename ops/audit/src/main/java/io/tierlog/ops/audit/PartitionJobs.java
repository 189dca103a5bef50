/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.audit;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;

/** Runs the jobs of a log's partitions side by side. Without state. */
public final class PartitionJobs {
    private PartitionJobs() {}

    /**
     * Runs all jobs and returns their results in the order of the jobs.
     *
     * @param threads jobs that run at a time, 1 or more
     * @throws AuditException when a job throws it, as with every other unchecked exception of a job
     * @throws InterruptedException when the thread is interrupted; nothing is left running
     */
    public static <T> List<T> run(List<Callable<T>> jobs, int threads) throws InterruptedException {
        List<T> results = new ArrayList<>();
        try (ExecutorService pool = Executors.newFixedThreadPool(Math.min(threads, jobs.size()))) {
            List<Future<T>> running = jobs.stream().map(pool::submit).toList();
            try {
                for (Future<T> one : running) {
                    results.add(one.get());
                }
            } catch (ExecutionException e) {
                throw failure(e.getCause());
            } finally {
                pool.shutdownNow();
            }
        }
        return results;
    }

    private static RuntimeException failure(@Nullable Throwable cause) {
        if (cause instanceof RuntimeException failure) {
            return failure;
        }
        if (cause instanceof Error error) {
            throw error;
        }
        return new IllegalStateException("cannot read a partition", cause);
    }
}
