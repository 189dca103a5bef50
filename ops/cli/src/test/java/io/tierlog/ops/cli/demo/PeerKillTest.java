/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.demo;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.agent.app.AgentApp;
import io.tierlog.agent.core.api.AgentCounter;
import io.tierlog.events.Codec;
import io.tierlog.events.Schemas;
import io.tierlog.events.topic.Topics;
import io.tierlog.ops.audit.ClusterLog;
import io.tierlog.ops.audit.LogSource;
import io.tierlog.ops.audit.Verifier;
import io.tierlog.ops.audit.VerifyReport;
import io.tierlog.ops.engine.RunReport;
import io.tierlog.schemas.decision.Fact;
import io.tierlog.schemas.decision.NodeEnded;
import io.tierlog.schemas.decision.PeerReadClosed;
import io.tierlog.schemas.decision.PeerReadGranted;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * The agent of node a is a process of its own, that of the command line, and sends 64 KiB a second: a unit of 32 blocks takes two. In the middle of
 * one it is killed as by kill -9.
 */
@Tag("slow")
@Timeout(300)
class PeerKillTest {
    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it.
    Path directory;

    /** The agent of node a, in a process of its own. */
    static ChildProcess servingNode(PeerScene scene, Path directory) throws Exception {
        Path token = Files.writeString(directory.resolve("peer-token"), PeerScene.TOKEN + "\n");
        return scene.own(ChildProcess.service("a", directory, List.of(
                "agent",
                "--bootstrap-servers", scene.access.bootstrapServers(),
                "--node", "a",
                "--store", directory.resolve("store-a").toString(),
                "--host", PeerScene.HOST_BLOCKS + "blocks",
                "--bytes-per-block", PeerScene.BLOCK_BYTES + "B",
                "--block-tokens", String.valueOf(scene.workload.blockTokens()),
                "--port", "0",
                "--peer-listen", "127.0.0.1:0",
                "--peer-token-file", token.toString(),
                "--peer-bytes-per-second", "64KiB",
                "--directory", scene.directoryAddress(),
                "--format", "json")));
    }

    @Test
    void aKilledServingNodeLeavesNothingPinned() throws Exception {
        try (PeerScene scene = new PeerScene(directory)) {
            ChildProcess a = servingNode(scene, directory);
            assertEquals(0, scene.run("a", a.awaitReady().path("port").asInt()).wrongContent());
            PeerScene.await("the directory knows what a has", () -> scene.where.streams().blocks() > 50);

            AgentApp b = scene.agent("b", 0);
            CompletableFuture<RunReport> second = scene.runBeside(b);
            PeerScene.await("bytes of a unit have come, and not all", () -> b.peerTraffic().received() > 0 && b.peerTraffic().inFlight() > 0);
            a.kill();

            RunReport report = second.get(200, TimeUnit.SECONDS);
            assertEquals(0, report.wrongContent());
            assertTrue(report.addsUp());
            assertTrue(report.nodes().getFirst().computedBlocks() > 0);
            assertFalse(b.ended().toCompletableFuture().isDone(), "the reader has ended too");
            assertTrue(b.status().count(AgentCounter.PEER_READS_FALLEN_BACK) > 0, () -> b.status().counters().toString());
            PeerScene.await("nothing is pinned on b", () -> PeerScene.host(b).pinCount() == 0 && b.peerTraffic().inFlight() == 0);
            assertEquals(0, PeerScene.host(b).quarantinedBlocks());
            b.close(); // its heartbeats stop: a log at rest is one in which nothing waits for an answer
            nothingIsLeftOnTheLog(scene);
        }
    }

    private static VerifyReport verify(PeerScene scene) throws InterruptedException {
        try (LogSource log = new ClusterLog(scene.access)) {
            return new Verifier(log, Topics.DEFAULT, new Codec(Schemas.bundled()), new Verifier.Options(2, true, true, true)).verify();
        }
    }

    /** Ten ticks after its last word a has ended; then every grant that it ever had is closed, and every lease, request and operation over. */
    private static void nothingIsLeftOnTheLog(PeerScene scene) throws InterruptedException {
        PeerScene.await("the life of a is over", () -> scene.decisions().stream()
                .anyMatch(fact -> fact instanceof NodeEnded ended && ended.envelope().aggregate().equals("node/a")));
        Set<String> open = new LinkedHashSet<>();
        PeerScene.await("its grants are closed", () -> {
            open.clear();
            List<Fact> all = scene.decisions();
            all.forEach(fact -> {
                if (fact instanceof PeerReadGranted granted) {
                    open.add(granted.grant());
                }
            });
            assertFalse(open.isEmpty(), "no read was ever granted");
            all.forEach(fact -> {
                if (fact instanceof PeerReadClosed closed) {
                    open.remove(closed.grant());
                }
            });
            return open.isEmpty();
        });
        assertLogHolds(scene);
    }

    /** The log of a scene whose agents have ended keeps the invariants, once the controller has answered the last events. */
    static void assertLogHolds(PeerScene scene) throws InterruptedException {
        VerifyReport report = verify(scene);
        for (int i = 0; i < 5 && !report.holds(); i++) { // the last words may not be answered yet
            PeerScene.within(1, () -> false);
            report = verify(scene);
        }
        assertTrue(report.holds(), report.first() + " " + report.findings());
    }
}
