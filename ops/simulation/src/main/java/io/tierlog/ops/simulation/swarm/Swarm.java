/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.simulation.swarm;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;

/**
 * Runs many episodes on several threads. Each has a seed of its own, {@code seed + i}, so what an episode does depends neither on the others nor on
 * the threads. A failure is shrunk at once, by the thread that has found it.
 */
public final class Swarm {
    /** Fewer episodes than were asked for, since time was up. */
    static final String TIME_IS_UP = "--minutes are over";

    private static final String INTERRUPTED = "interrupted";
    private static final Duration PROGRESS = Duration.ofSeconds(5);

    /**
     * What to run.
     *
     * @param seed of the first episode
     * @param episodes how many, 1 or more
     * @param limit no episode but the first begins after it
     * @param allowed kinds of faults that there may be
     * @param threads 1 or more
     * @param directory where the choices of a failure are written to
     * @param shrinking how long a failure is shrunk at most
     * @param failures after so many of them no further episode begins, 1 or more
     */
    public record Config(
            long seed, long episodes, Duration limit, Set<FaultKind> allowed, int threads, Path directory, Duration shrinking,
            int failures) {}

    private final Config config;
    private final Consumer<String> progress;
    private final SimulationReport report;
    private final AtomicLong next = new AtomicLong();
    private final AtomicBoolean stopped = new AtomicBoolean();
    private final long began = System.nanoTime();
    private long shown = began;

    /** One that says now and then how far it is. */
    public Swarm(Config config, Consumer<String> progress) {
        this.config = config;
        this.progress = progress;
        this.report = new SimulationReport(config.seed(), config.episodes());
    }

    /** What came of it so far; may be asked for at any time, by any thread. */
    public SimulationReport report() {
        report.elapsed(elapsed());
        report.shortfall(shortfall());
        return report;
    }

    private String shortfall() {
        if (report.episodes() >= config.episodes()) {
            return "";
        }
        if (report.violations() >= config.failures()) {
            return report.violations() + " violations";
        }
        return stopped.get() ? INTERRUPTED : isTimeUp() ? TIME_IS_UP : "the others are still to come";
    }

    private boolean isTimeUp() {
        return elapsed().compareTo(config.limit()) >= 0;
    }

    /** No further episode begins. */
    public void stop() {
        stopped.set(true);
    }

    private Duration elapsed() {
        return Duration.ofNanos(System.nanoTime() - began);
    }

    /** Runs until all are done, time is up, or something was wrong. */
    public SimulationReport run() {
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < config.threads(); i++) {
            threads.add(Thread.ofPlatform().name("episodes-" + i).start(this::work));
        }
        try {
            for (Thread thread : threads) {
                thread.join();
            }
        } catch (InterruptedException interrupted) {
            stop();
            Thread.currentThread().interrupt();
        }
        return report();
    }

    private void work() {
        while (!stopped.get() && (next.get() == 0 || !isTimeUp())) {
            long i = next.getAndIncrement();
            if (i >= config.episodes()) {
                return;
            }
            long seed = config.seed() + i;
            try {
                work(seed);
            } catch (Throwable broken) { // a thread that ends in silence would leave a report that looks clean
                report.broken(Postmortem.broken(config, seed, broken));
                stop();
            }
            show();
        }
    }

    private void work(long seed) {
        Episode.Result result = Episode.run(Choices.drawn(seed), config.allowed(), false);
        report.add(result);
        Episode.Failure failure = result.failure();
        if (failure != null) {
            if (report.violations() >= config.failures()) {
                stop();
            }
            report.add(Postmortem.of(config, seed, failure));
        }
    }

    private synchronized void show() {
        long now = System.nanoTime();
        if (now - shown > PROGRESS.toNanos()) {
            shown = now;
            progress.accept(report().progress(config.episodes()));
        }
    }

    /** Replays a record of choices. */
    public static SimulationReport replay(Path file, Set<FaultKind> allowed) {
        SimulationReport report = new SimulationReport(0, 1);
        long began = System.nanoTime();
        try {
            Episode.Result result = Episode.run(Choices.replayed(ChoiceFile.read(file)), allowed, true);
            report.add(result);
            Episode.Failure failure = result.failure();
            if (failure != null) {
                report.add(Postmortem.replayed(file, failure));
            }
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
        report.elapsed(Duration.ofNanos(System.nanoTime() - began));
        return report;
    }
}
