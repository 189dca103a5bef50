/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench.control;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * How fast an application works off what waits for it: the records are in the topic before it starts, so that nobody competes with it for
 * the machine but the broker. Static and without state.
 *
 * <p>Timed by its own commits, from the first to the last but one: not the start, and not the pause before the last commit, when nothing is
 * left to do. A run of fewer than four commits has neither, and is timed as it is; more records give better numbers.
 */
final class Throughput {
    private static final int COMMITS_FOR_A_STRETCH = 4;

    private Throughput() {}

    /** An application with a backlog. */
    interface Loaded {
        Application start();

        Backlog backlog();

        /** Called about a hundred times a second while it works. */
        void meanwhile();
    }

    /**
     * What was seen.
     *
     * @param records worked off between two commits
     * @param nanos time between these
     */
    record Seen(long records, long nanos) {
        static final Seen NOTHING = new Seen(0, 0);

        Seen plus(Seen other) {
            return new Seen(records + other.records, nanos + other.nanos);
        }

        double perSecond() {
            return nanos == 0 ? 0 : records * (double) TimeUnit.SECONDS.toNanos(1) / nanos;
        }
    }

    private record Commit(long nanos, long records) {}

    /** Starts the application, waits until it has worked off what is there now, and stops it. */
    static Seen measure(Loaded loaded) throws InterruptedException {
        Backlog backlog = loaded.backlog();
        long end = backlog.end();
        long deadline = Backlog.deadline();
        List<Commit> commits = new ArrayList<>();
        commits.add(new Commit(System.nanoTime(), backlog.committed()));
        try (Application started = loaded.start()) {
            while (commits.getLast().records() < end) {
                long committed = backlog.committed();
                if (committed != commits.getLast().records()) {
                    commits.add(new Commit(System.nanoTime(), committed));
                }
                loaded.meanwhile();
                backlog.pause(started, deadline);
            }
        }
        return between(commits);
    }

    /** The first entry is the moment before the start, the others are commits. */
    private static Seen between(List<Commit> commits) {
        boolean stretch = commits.size() > COMMITS_FOR_A_STRETCH;
        Commit first = commits.get(stretch ? 1 : 0);
        Commit last = commits.get(stretch ? commits.size() - 2 : commits.size() - 1);
        return new Seen(last.records() - first.records(), last.nanos() - first.nanos());
    }
}
