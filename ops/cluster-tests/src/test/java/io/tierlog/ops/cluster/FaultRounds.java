/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.events.topic.Topics;
import io.tierlog.ops.engine.RunReport;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
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

    /** A fault of one part. */
    record Strike(Fault fault, Part part) {}

    /** On a cluster that has just started; waits until it decides. */
    FaultRounds(TierlogCluster cluster) {
        this.cluster = cluster;
        this.watch = new DecisionWatch(cluster.auditor());
        this.oracle = new LogOracle(cluster.auditor(), cluster.codec());
        Until.holds("decisions of every partition", watch::allMoved);
    }

    /** A replay in whose middle all strikes happen at once; they are undone once decisions go on without what was struck. */
    void round(String name, List<Strike> strikes) throws Exception {
        try {
            runRound(name, strikes);
        } catch (Exception | Error e) {
            System.out.println(name + " failed. The last lines of every part:\n" + cluster.tails());
            throw e;
        }
    }

    private void runRound(String name, List<Strike> strikes) throws Exception {
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
        strikes.forEach(strike -> strike.fault().strike(strike.part()));
        watch.awaitAllMoved(name);
        double silence = watch.longestSilence();
        oracle.verifyWhileRunning();
        strikes.forEach(strike -> strike.fault().heal(strike.part()));
        RunReport report = run.get(3, TimeUnit.MINUTES);
        silence = Math.max(silence, watch.longestSilence());
        assertEquals(0, report.wrongContent(), () -> name + ": " + report.firstWrong());
        assertEquals(REQUESTS, report.requests() + report.rejected(), name);
        assertTrue(report.addsUp(), name);
        // The next fault may take another replica.
        cluster.brokers().awaitInSync(Topics.DEFAULT.decisions());
        oracle.verifyAtRest();
        oracle.rerunIsTheSame();
        long events = oracle.everyEventIsThereOnce();
        table.add(String.format(Locale.ROOT, "%-44s decisions stood still for %5.1f s at most; %d events, hit ratio %.2f", name, silence, events,
                report.hitRatio()));
        System.out.println(table.getLast());
    }

    /** What is on the log now holds. */
    void verify() throws InterruptedException {
        oracle.verifyWhileRunning();
    }

    /** A line for each round. */
    List<String> table() {
        return List.copyOf(table);
    }

    @Override
    public void close() {
        watch.close();
    }
}
