/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.audit;

import io.tierlog.events.UnknownTypeException;
import io.tierlog.events.registry.RegistryException;
import io.tierlog.ops.audit.AuditException;
import io.tierlog.ops.audit.ClusterLog;
import io.tierlog.ops.audit.DirectoryLog;
import io.tierlog.ops.audit.LogSource;
import io.tierlog.ops.cli.command.CliError;
import io.tierlog.ops.cli.command.ClusterOptions;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Which log a command reads, and how: the flags and errors that all these commands share. */
public class LogChoice {
    private static final long PROGRESS_EVERY_MS = 2_000;

    @Option(
            names = "--log",
            paramLabel = "DIR",
            description = "Read the files of a stopped broker instead of a cluster: its data directory, or that of demo --keep.")
    @Nullable Path log;

    @Option(
            names = "--threads",
            paramLabel = "N",
            description = "Partitions read at a time (default: the number of cores, and 4 more for a cluster, since reads wait for it).")
    @Nullable Integer threads;

    /** Work on a log. */
    interface Job<T> {
        T run(LogSource source) throws Exception;
    }

    /** Runs {@code job} on the log; when it cannot be read, the error gives a hint and the exit code {@link CliError#BAD_INPUT}. */
    <T> T read(ClusterOptions cluster, Job<T> job) throws Exception {
        try (LogSource source = log == null ? new ClusterLog(cluster.kafka()) : new DirectoryLog(log)) {
            return job.run(source);
        } catch (AuditException e) {
            throw new CliError(e.getMessage(), e.hint(), CliError.BAD_INPUT, e);
        } catch (UnknownTypeException e) {
            throw new CliError(e.getMessage(), "use the version that wrote the log, or a later one", CliError.BAD_INPUT, e);
        } catch (RegistryException e) {
            throw new CliError(e.getMessage(), "look at --registry-url: it must be the registry of the log's writers", CliError.BAD_INPUT, e);
        }
    }

    /** Partitions to read at a time. */
    int threads() {
        int cores = Runtime.getRuntime().availableProcessors();
        return threads != null ? threads : log == null ? cores + 4 : cores;
    }

    /** Reads that can be interrupted. */
    interface Reading<T> {
        T run() throws InterruptedException;
    }

    /** Runs {@code reading}, and prints its progress on {@code err} while it takes more than two seconds. */
    static <T> T withProgress(PrintWriter err, LongSupplier recordsSoFar, Reading<T> reading) throws InterruptedException {
        CountDownLatch done = new CountDownLatch(1);
        Thread progress = Thread.ofPlatform().daemon().name("tierlog-audit-progress").start(() -> print(err, recordsSoFar, done));
        try {
            return reading.run();
        } finally {
            done.countDown();
            progress.join();
        }
    }

    private static void print(PrintWriter err, LongSupplier recordsSoFar, CountDownLatch done) {
        long seconds = 0;
        try {
            while (!done.await(PROGRESS_EVERY_MS, TimeUnit.MILLISECONDS)) {
                seconds += PROGRESS_EVERY_MS / 1_000;
                err.println(recordsSoFar.getAsLong() + " records after " + seconds + " s");
                err.flush();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
