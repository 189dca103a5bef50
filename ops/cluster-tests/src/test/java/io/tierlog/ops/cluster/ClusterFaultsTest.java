/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.events.Topics;
import io.tierlog.ops.engine.RunReport;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Kills a broker, a controller and an agent as by {@code kill -9} while engines work, one after the other, starts each again, and checks the log and
 * the contents after each. Prints how long decisions stood still.
 */
@RequiresDocker
@Timeout(value = 8, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ClusterFaultsTest {
    private static final int REQUESTS = 80;
    private static final int RUN_SECONDS = 6;

    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it.
    private Path directory;

    private final List<String> table = new ArrayList<>();

    @Test
    void killedPartsLoseAndRepeatNothing() throws Exception {
        long start = System.nanoTime();
        try (TierlogCluster cluster = new TierlogCluster(directory);
                DecisionWatch watch = new DecisionWatch(cluster.access(), cluster.codec())) {
            Until.holds("decisions of every partition", watch::allMoved);
            System.out.printf(Locale.ROOT, "the cluster is up after %.1f s%n", (System.nanoTime() - start) / 1e9);
            LogOracle oracle = new LogOracle(cluster.access(), cluster.codec());
            round("none", cluster, watch, oracle, List.of());
            Part leader = cluster.brokers().leaderOf(new TopicPartition(Topics.DEFAULT.decisions(), 0));
            round("broker, leader of decisions 0", cluster, watch, oracle, List.of(leader));
            cluster.brokers().awaitInSync(Topics.DEFAULT.decisions());
            round("controller", cluster, watch, oracle, List.of(cluster.controller()));
            round("agent", cluster, watch, oracle, List.of(cluster.agentOf("a")));
            table.forEach(System.out::println);
        }
    }

    /** A replay in whose middle the parts are killed; they are started again once decisions go on without them. */
    private void round(String fault, TierlogCluster cluster, DecisionWatch watch, LogOracle oracle, List<Part> victims) throws Exception {
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
        victims.forEach(Part::kill);
        watch.awaitAllMoved(fault);
        double silence = watch.longestSilence();
        oracle.verifyWhileRunning();
        victims.forEach(Part::startAgain);
        victims.forEach(Part::awaitReady);
        RunReport report = run.get(3, TimeUnit.MINUTES);
        silence = Math.max(silence, watch.longestSilence());
        assertEquals(0, report.wrongContent(), () -> fault + ": " + report.firstWrong());
        assertEquals(REQUESTS, report.requests() + report.rejected(), fault);
        assertTrue(report.addsUp(), fault);
        oracle.verifyAtRest();
        oracle.rerunIsTheSame();
        long events = oracle.everyEventIsThereOnce();
        table.add(String.format(Locale.ROOT, "killed: %-30s decisions stood still for %5.1f s at most; %d events, hit ratio %.2f", fault, silence,
                events, report.hitRatio()));
        System.out.println(table.getLast());
    }
}
