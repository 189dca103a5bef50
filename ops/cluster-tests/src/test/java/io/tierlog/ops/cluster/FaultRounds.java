/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.events.topic.Topics;
import io.tierlog.ops.audit.VerifyReport;
import io.tierlog.ops.engine.RunReport;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** Replays with faults in their middle on one cluster, the checks after each, and a table of how long decisions stood still. For one thread. */
final class FaultRounds implements AutoCloseable {
    private static final int REQUESTS = 80;
    private static final int RUN_SECONDS = 6;

    private final TierlogCluster cluster;
    private final DecisionWatch watch;
    private final LogOracle oracle;
    private final List<String> table = new ArrayList<>();
    private final Map<String, List<Double>> silences = new TreeMap<>();
    private long loadedBytes;

    /** A fault of one part. */
    record Strike(Fault fault, Part part) {}

    /** On a cluster that has just started; waits until it decides. */
    FaultRounds(TierlogCluster cluster) {
        this.cluster = cluster;
        this.watch = new DecisionWatch(cluster.auditor());
        this.oracle = new LogOracle(cluster.auditor(), cluster.codec(), cluster.recordKeys("master"));
        Until.holds("decisions of every partition", watch::allMoved);
    }

    /** What is done while engines work. */
    interface Change {
        void make() throws Exception;

        Change NONE = () -> {};
    }

    /**
     * A replay in whose middle something happens that decisions go on after.
     *
     * @param end brings what was taken away back; decisions have gone on without it
     * @param outage how long to wait before that end at least, when decisions cannot go on without what was taken away
     */
    private record Disturbance(Change begin, Change end, Optional<Duration> outage) {
        static Disturbance of(List<Strike> strikes, Optional<Duration> outage) {
            return new Disturbance(() -> strikes.forEach(strike -> strike.fault().strike(strike.part())), () -> {
                strikes.forEach(strike -> strike.fault().heal(strike.part()));
                strikes.forEach(strike -> strike.part().awaitReady());
            }, outage);
        }
    }

    /** A replay in whose middle the cluster is changed. */
    void round(String name, Change change) throws Exception {
        explained(name, () -> runRound(name, name, new Disturbance(change, Change.NONE, Optional.empty())));
    }

    /** A replay in whose middle all strikes happen at once; they are undone once decisions go on without what was struck. */
    void round(String name, List<Strike> strikes) throws Exception {
        round(name, name, strikes, Optional.empty());
    }

    /**
     * As the other.
     *
     * @param kind the row of {@link #summary} that it counts in
     * @param outage how long the strikes last at least, when decisions cannot go on without what is struck
     */
    void round(String name, String kind, List<Strike> strikes, Optional<Duration> outage) throws Exception {
        explained(name, () -> runRound(name, kind, Disturbance.of(strikes, outage)));
    }

    /** As a round, but its log may have records that an audit names. */
    void roundWithoutAudit(String name, List<Strike> strikes) throws Exception {
        explained(name, () -> replay(name, Disturbance.of(strikes, Optional.empty()), false));
    }

    private void explained(String name, Change round) throws Exception {
        try {
            round.make();
        } catch (Exception | Error e) {
            System.out.println(name + " failed. The last lines of every part:\n" + cluster.tails());
            throw e;
        }
    }

    /** What an audit of the log finds now. */
    VerifyReport audit() throws InterruptedException {
        return oracle.verify(false);
    }

    private void runRound(String name, String kind, Disturbance disturbance) throws Exception {
        Replayed replayed = replay(name, disturbance, true);
        silences.computeIfAbsent(kind, _ -> new ArrayList<>()).add(replayed.silence());
        // The next fault may take another replica.
        cluster.brokers().awaitInSync(Topics.DEFAULT.decisions());
        oracle.verifyAtRest();
        oracle.rerunIsTheSame();
        long events = oracle.everyEventIsThereOnce();
        table.add(String.format(Locale.ROOT, "%-44s decisions stood still for %5.1f s at most; %d events, hit ratio %.2f", name,
                replayed.silence(), events, replayed.hitRatio()));
        System.out.println(table.getLast());
    }

    /** How long decisions stood still, seconds, and what part of the blocks was found. */
    private record Replayed(double silence, double hitRatio) {}

    private Replayed replay(String name, Disturbance disturbance, boolean audited) throws Exception {
        watch.mark();
        CompletableFuture<RunReport> run = CompletableFuture.supplyAsync(() -> {
            try {
                return cluster.run(REQUESTS, RUN_SECONDS);
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        });
        watch.awaitAllMoved("load");
        watch.mark();
        disturbance.begin().make();
        watch.countAgain(); // it may have taken its time
        Optional<Duration> outage = disturbance.outage();
        if (outage.isPresent()) {
            Until.isOver(outage.get());
        } else {
            watch.awaitAllMoved(name);
        }
        double silence = watch.longestSilence();
        if (audited && outage.isEmpty()) {
            oracle.verifyWhileRunning();
        }
        disturbance.end().make();
        if (outage.isPresent()) {
            watch.awaitAllMoved(name);
        }
        RunReport report = run.get(3, TimeUnit.MINUTES);
        silence = Math.max(silence, watch.longestSilence());
        assertEquals(0, report.wrongContent(), () -> name + ": " + report.firstWrong());
        assertEquals(REQUESTS, report.requests(), () -> name + ": " + report);
        loadedBytes += report.loadedBytes();
        assertTrue(report.addsUp(), name);
        return new Replayed(silence, report.hitRatio());
    }

    /** See {@link LogOracle#askedFor()}. */
    Map<String, Set<String>> askedFor() {
        return oracle.askedFor();
    }

    /** See {@link LogOracle#raisedVersions()}. */
    Map<Integer, List<Integer>> raisedVersions() {
        return oracle.raisedVersions();
    }

    /** How many bytes came from a tier, and were compared, in all rounds. */
    long loadedBytes() {
        return loadedBytes;
    }

    /** What is on the log now holds. */
    void verify() throws InterruptedException {
        oracle.verifyWhileRunning();
    }

    /** A line for each round. */
    List<String> table() {
        return List.copyOf(table);
    }

    /** For each kind of round how often it ran and how long decisions stood still: the median and the longest, seconds. */
    List<String> summary() {
        return silences.entrySet().stream().map(row -> {
            List<Double> sorted = row.getValue().stream().sorted().toList();
            return String.format(Locale.ROOT, "%-40s %3d rounds, p50 %5.1f s, worst %5.1f s", row.getKey(), sorted.size(),
                    sorted.get((sorted.size() - 1) / 2), sorted.getLast());
        }).toList();
    }

    @Override
    public void close() {
        watch.close();
    }
}
