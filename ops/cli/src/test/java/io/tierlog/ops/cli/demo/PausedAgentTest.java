/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.demo;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.ops.engine.RunReport;
import io.tierlog.ops.engine.api.Timeouts;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.decision.AgentAccepted;
import io.tierlog.schemas.decision.BlocksPlaced;
import io.tierlog.schemas.decision.Fact;
import io.tierlog.schemas.decision.NodeEnded;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The agent of the command line is stopped by SIGSTOP until its node counts as lost, and goes on: the same process speaks for the node again. */
@Tag("slow")
@Timeout(300)
class PausedAgentTest {
    /** An engine that waits for longer than the agent is stopped. */
    private static final Timeouts PATIENT = new Timeouts(120_000, 120_000, 120_000, 120_000, 15_000, 15_000, 15_000, 50, 2_000);

    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it.
    Path directory;

    private static void signal(ChildProcess process, String name) throws Exception {
        assertEquals(0, new ProcessBuilder("kill", "-" + name, String.valueOf(process.pid())).start().waitFor());
    }

    private static <F extends Fact> List<F> ofA(PeerScene scene, Class<F> type) {
        return scene.decisions().stream()
                .filter(fact -> fact.envelope().aggregate().equals("node/a"))
                .filter(type::isInstance).map(type::cast).toList();
    }

    @Test
    void anAgentThatWasStoppedForLongerThanItsNodeTimeoutServesWhatItHeld() throws Exception {
        try (PeerScene scene = new PeerScene(directory)) {
            ChildProcess a = PeerKillTest.servingNode(scene, directory);
            int port = a.awaitReady().path("port").asInt();
            CompletableFuture<RunReport> run = CompletableFuture.supplyAsync(() -> replay(scene, port));
            PeerScene.await("its blocks are on the host", () -> scene.where.streams().blocks() > 10);

            signal(a, "STOP");
            PeerScene.await("its node is lost", () -> !ofA(scene, NodeEnded.class).isEmpty());
            assertFalse(run.isDone(), "the engine waits");
            signal(a, "CONT");
            PeerScene.await("it is accepted again", () -> ofA(scene, AgentAccepted.class).size() == 2);
            List<AgentAccepted> accepted = ofA(scene, AgentAccepted.class);
            assertEquals(accepted.getFirst().processId(), accepted.getLast().processId());
            long incarnation = accepted.getLast().newIncarnation();
            PeerScene.await("what it held serves", () -> ofA(scene, BlocksPlaced.class).stream()
                    .anyMatch(placed -> placed.tier() == Tier.HOST && placed.operation() == null && placed.envelope().incarnation() == incarnation));

            RunReport report = run.get(200, TimeUnit.SECONDS);
            assertTrue(report.addsUp());
            assertEquals(List.of(0L, 0), List.of(report.wrongContent(), report.nodes().getFirst().lostSessions()));
            a.close();
            PeerKillTest.assertLogHolds(scene);
        }
    }

    private static RunReport replay(PeerScene scene, int port) {
        try {
            return scene.run("a", port, PATIENT);
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }
}
