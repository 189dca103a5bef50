/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench.control;

import io.tierlog.ops.bench.report.BenchException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * How fast an application processes a backlog: the records are in the topic before it starts, so that only the broker competes with it for the
 * machine. Static and without state.
 *
 * <p>Timed by its own commits: from the first after the warm-up, which is never the start, to the last but one, since nothing is left to do in the
 * pause before the last. Too few commits give no speed at all.
 *
 * <pre>
 *   start | warm-up ... first commit | timed ............ last but one | last
 * </pre>
 */
final class Throughput {
    private static final Duration PATIENCE = Duration.ofMinutes(3);
    private static final long LOOK_MS = 25;

    private Throughput() {}

    /**
     * An application with a backlog.
     *
     * @param application its application id, with which the names of its threads begin
     * @param progress in what it has to process
     * @param starter starts it
     * @param meanwhile runs some times a second while it works
     */
    record Loaded(String application, Progress progress, Supplier<Application> starter, Runnable meanwhile) {}

    /**
     * What is timed.
     *
     * @param warmUp records at the beginning that are not
     * @param nanos it is stopped after so long; 0 when it must process everything
     * @param log the log whose topics are weighed; empty for none
     * @param observer sees when the time begins and ends
     */
    record Stretch(long warmUp, long nanos, String log, Observer observer) {
        static final Stretch ALL = new Stretch(0, 0, "", Observer.NONE);
    }

    /** Watches what is timed. */
    interface Observer {
        Observer NONE = new Observer() {};

        /** The time begins. */
        default void begin() {}

        /** It has ended. */
        default void end() {}
    }

    /**
     * The speed between two commits.
     *
     * @param records processed between them
     * @param nanos time between them
     * @param cpu processor time between them
     * @param written to the topics of the log between them
     */
    record Speed(long records, long nanos, CpuTimes cpu, TopicSizes written) {
        static final Speed NOTHING = new Speed(0, 0, CpuTimes.NONE, TopicSizes.NOTHING);

        Speed plus(Speed other) {
            return new Speed(records + other.records, nanos + other.nanos, cpu.plus(other.cpu), written.plus(other.written));
        }

        /** Microseconds of so much processor time for one record. */
        double microsPerRecord(long cpuNanos) {
            return records == 0 ? 0 : cpuNanos / (double) TimeUnit.MICROSECONDS.toNanos(1) / records;
        }

        double perSecond() {
            return nanos == 0 ? 0 : records * (double) TimeUnit.SECONDS.toNanos(1) / nanos;
        }

        double seconds() {
            return nanos / (double) TimeUnit.SECONDS.toNanos(1);
        }
    }

    /** The application has committed: so many records were done at this time. */
    record Commit(long nanos, long records, CpuTimes cpu, TopicSizes written) {}

    /** Starts the application, waits until it has processed the present backlog or has been timed long enough, and stops it. */
    static Speed measure(Environment environment, Loaded loaded, Stretch stretch) throws InterruptedException {
        Progress progress = loaded.progress();
        long begin = progress.done();
        long end = progress.end();
        long deadline = System.nanoTime() + PATIENCE.toNanos() + stretch.nanos();
        List<Commit> commits = new ArrayList<>();
        try (Application started = loaded.starter().get()) {
            long last = begin;
            while (last < end && !isLongEnough(commits, stretch.nanos())) {
                long done = progress.done();
                if (done != last && done - begin >= stretch.warmUp()) {
                    if (commits.isEmpty()) {
                        stretch.observer().begin();
                    }
                    TopicSizes written = stretch.log().isEmpty() ? TopicSizes.NOTHING : TopicSizes.of(environment.admin(), stretch.log());
                    commits.add(new Commit(System.nanoTime(), done, CpuTimes.now(loaded.application(), environment), written));
                }
                last = done;
                loaded.meanwhile().run();
                started.check();
                if (System.nanoTime() > deadline) {
                    throw Progress.stuck(loaded.application(), done, end);
                }
                TimeUnit.MILLISECONDS.sleep(LOOK_MS);
            }
            stretch.observer().end();
        }
        return between(commits);
    }

    private static boolean isLongEnough(List<Commit> commits, long nanos) {
        return nanos > 0 && commits.size() > 2 && commits.get(commits.size() - 2).nanos() - commits.getFirst().nanos() >= nanos;
    }

    /** From the first commit to the last but one: no start, no end. */
    static Speed between(List<Commit> commits) {
        if (commits.size() < 3) {
            return Speed.NOTHING;
        }
        Commit first = commits.getFirst();
        Commit last = commits.get(commits.size() - 2);
        return new Speed(
                last.records() - first.records(),
                last.nanos() - first.nanos(),
                last.cpu().minus(first.cpu()),
                last.written().minus(first.written()));
    }

    /** A measurement of so many records. */
    interface Measurement<R> {
        R of(int records) throws InterruptedException;
    }

    /** Finds how many records give enough time, from the speed of the last measurement. Kept by its user between rounds. */
    static final class Sizer {
        private static final int ATTEMPTS = 12;
        private static final int GROWTH = 4;
        private static final double SPARE = 1.2;
        private static final int COMMITS_AT_ENDS = 3;
        private final double endsS;
        private int next;

        /** @param commitIntervalMs what is between two commits: some at both ends are not timed */
        Sizer(int first, int commitIntervalMs) {
            this.next = first;
            this.endsS = COMMITS_AT_ENDS * commitIntervalMs / (double) TimeUnit.SECONDS.toMillis(1);
        }

        /** The records for the next measurement, when so many seconds are lacking. */
        int next() {
            return next;
        }

        /** Learns from a measurement of {@link #next} records: whether that was enough, and what would have been. */
        void learn(Speed speed, double lackingS, int most) {
            double wanted = speed.nanos() == 0 ? (double) next * GROWTH : speed.perSecond() * (lackingS * SPARE + endsS);
            next = (int) Math.clamp(wanted, Math.min(most, next / GROWTH + 1), most);
        }

        /** Refuses to go on for ever. */
        static void checkAttempt(int attempt, String what) {
            if (attempt > ATTEMPTS) {
                throw BenchException.failed(
                        what + " was not timed long enough in " + ATTEMPTS + " attempts",
                        "give less --work, or a shorter --commit-interval-ms");
            }
        }
    }
}
