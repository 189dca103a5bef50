/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench.control;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.regex.Pattern;

/**
 * How fast an application processes a backlog: the records are in the topic before it starts, so that only the broker competes with it for the
 * machine. Static and without state.
 *
 * <p>Timed by its own commits, from the first to the last but one: without the start, and without the pause before the last commit, when nothing
 * is left to do. A run of fewer than four commits is timed as a whole; more records give better numbers.
 */
final class Throughput {
    private static final int COMMITS_FOR_A_STRETCH = 4;
    private static final Pattern STREAM_THREAD = Pattern.compile("-StreamThread-[0-9]+$");

    private Throughput() {}

    /**
     * An application with a backlog.
     *
     * @param application its application id, with which the names of its threads begin
     * @param backlog what it has to process
     * @param starter starts it
     * @param meanwhile runs about a hundred times a second while it works
     */
    record Loaded(String application, Backlog backlog, Supplier<Application> starter, Runnable meanwhile) {}

    /**
     * The speed between two commits.
     *
     * @param records processed between them
     * @param nanos time between them
     * @param cpuNanos processor time of its stream threads between them
     */
    record Speed(long records, long nanos, long cpuNanos) {
        static final Speed NOTHING = new Speed(0, 0, 0);

        Speed plus(Speed other) {
            return new Speed(records + other.records, nanos + other.nanos, cpuNanos + other.cpuNanos);
        }

        /** Processor time of the stream threads for one record, in microseconds: other work on the machine hardly changes it. */
        double cpuMicrosPerRecord() {
            return records == 0 ? 0 : cpuNanos / (double) TimeUnit.MICROSECONDS.toNanos(1) / records;
        }

        double perSecond() {
            return nanos == 0 ? 0 : records * (double) TimeUnit.SECONDS.toNanos(1) / nanos;
        }
    }

    private record Commit(long nanos, long records, long cpuNanos) {
        static Commit now(long records, String application) {
            return new Commit(System.nanoTime(), records, streamThreadNanos(application));
        }
    }

    /** Starts the application, waits until it has processed the present backlog, and stops it. */
    static Speed measure(Loaded loaded) throws InterruptedException {
        Backlog backlog = loaded.backlog();
        long end = backlog.end();
        long deadline = Backlog.deadline();
        List<Commit> commits = new ArrayList<>();
        commits.add(new Commit(System.nanoTime(), backlog.committed(), 0));
        try (Application started = loaded.starter().get()) {
            while (commits.getLast().records() < end) {
                long committed = backlog.committed();
                if (committed != commits.getLast().records()) {
                    commits.add(Commit.now(committed, loaded.application()));
                }
                loaded.meanwhile().run();
                backlog.pause(started, deadline);
            }
        }
        return between(commits);
    }

    /** The first entry is the moment before the start, the others are commits. */
    private static Speed between(List<Commit> commits) {
        boolean stretch = commits.size() > COMMITS_FOR_A_STRETCH;
        Commit first = commits.get(stretch ? 1 : 0);
        Commit last = commits.get(stretch ? commits.size() - 2 : commits.size() - 1);
        return new Speed(last.records() - first.records(), last.nanos() - first.nanos(), last.cpuNanos() - first.cpuNanos());
    }

    private static long streamThreadNanos(String application) {
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        return Arrays.stream(threads.getThreadInfo(threads.getAllThreadIds()))
                .filter(thread -> thread != null && isStreamThread(thread.getThreadName(), application))
                .mapToLong(thread -> threads.getThreadCpuTime(thread.getThreadId()))
                .sum();
    }

    private static boolean isStreamThread(String thread, String application) {
        return thread.startsWith(application + "-") && STREAM_THREAD.matcher(thread).find();
    }
}
