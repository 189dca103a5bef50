/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.audit;

import io.tierlog.events.UnknownTypeException;
import io.tierlog.events.registry.RegistryException;
import io.tierlog.ops.audit.AuditException;
import io.tierlog.ops.audit.ClusterLog;
import io.tierlog.ops.audit.DirectoryLog;
import io.tierlog.ops.audit.WatchedLog;
import io.tierlog.ops.cli.command.CliError;
import io.tierlog.ops.cli.command.ClusterOptions;
import java.io.Console;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Which log a command reads, and how: the flags and errors that all these commands share. */
public class LogChoice {
    private static final long PROGRESS_EVERY_MS = 2_000;

    @Option(
            names = "--log",
            paramLabel = "DIR",
            description = "Read files instead of a cluster: the data directory of a stopped broker or of demo --keep, or an archive.")
    @Nullable Path log;

    @Option(
            names = "--threads",
            paramLabel = "N",
            description = "Partitions read at a time (default: the number of cores, and 4 more for a cluster, since reads wait for it).")
    @Nullable Integer threads;

    /** Work on a log. */
    interface Job<T> {
        T run(WatchedLog source) throws Exception;
    }

    /** Work that fails with {@code E}. */
    @FunctionalInterface
    public interface Work<T, E extends Exception> {
        /** Does it. */
        T call() throws E;
    }

    /** Runs {@code job} on the log; when it cannot be read, the error gives a hint and the exit code {@link CliError#BAD_INPUT}. */
    <T> T read(ClusterOptions cluster, Job<T> job) throws Exception {
        return hinting(() -> {
            try (WatchedLog source = new WatchedLog(log == null ? new ClusterLog(cluster.kafka()) : new DirectoryLog(log))) {
                return job.run(source);
            }
        });
    }

    /** Runs work on a log; when it cannot be read, the error gives a hint and the exit code {@link CliError#BAD_INPUT}. */
    public static <T, E extends Exception> T hinting(Work<T, E> work) throws E {
        try {
            return work.call();
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

    /** Runs {@code reading} of {@code source}, and prints its progress on {@code err} while it takes more than two seconds. */
    static <T> T withProgress(PrintWriter err, WatchedLog source, Reading<T> reading) throws InterruptedException {
        CountDownLatch done = new CountDownLatch(1);
        ReadProgress line = new ReadProgress(err, isTerminal());
        Thread progress = Thread.ofPlatform().daemon().name("tierlog-audit-progress").start(() -> print(line, source, done));
        try {
            return reading.run();
        } finally {
            done.countDown();
            progress.join();
        }
    }

    private static boolean isTerminal() {
        Console console = System.console();
        return Objects.nonNull(console) && console.isTerminal();
    }

    private static void print(ReadProgress progress, WatchedLog source, CountDownLatch done) {
        long startNs = System.nanoTime();
        try {
            while (!done.await(PROGRESS_EVERY_MS, TimeUnit.MILLISECONDS)) {
                progress.print(source.read(), source.total(), (System.nanoTime() - startNs) / 1_000_000);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        progress.end();
    }
}
