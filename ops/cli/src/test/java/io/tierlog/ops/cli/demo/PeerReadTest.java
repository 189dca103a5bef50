/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.demo;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.agent.app.AgentApp;
import io.tierlog.agent.app.peer.DirectoryPeers;
import io.tierlog.agent.core.api.AgentCounter;
import io.tierlog.ops.cli.Main;
import io.tierlog.ops.engine.RunReport;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.TierUsage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** Two agents, one broker, one controller with its directory: prompts that node a has computed are read by node b from a. */
@Tag("slow")
@Timeout(240)
class PeerReadTest {
    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it.
    Path directory;

    @SuppressWarnings("NullAway.Init") // JUnit calls start() first.
    private PeerScene scene;

    @BeforeEach
    void start() throws InterruptedException {
        scene = new PeerScene(directory);
    }

    @AfterEach
    void close() {
        scene.close();
    }

    private void directoryKnows(long blocks) {
        PeerScene.await("the directory knows all of a", () -> scene.where.streams().blocks() >= blocks);
    }

    private void nothingIsPinned(AgentApp... agents) {
        for (AgentApp agent : agents) {
            PeerScene.await("nothing is pinned on " + agent.node(), () -> PeerScene.host(agent).pinCount() == 0);
            assertEquals(0, PeerScene.host(agent).quarantinedBlocks());
        }
    }

    private static void assertReadFromA(RunReport report, AgentApp b, long blocks) {
        assertEquals(0, report.wrongContent());
        long fetched = b.status().count(AgentCounter.FETCHED_FROM_PEERS);
        assertTrue(fetched > blocks, () -> "fetched from a: " + fetched + ", " + b.status().counters() + ", " + b.lookups());
    }

    /** Only node a has the blocks, by the directory: b can have them only from a. */
    @Test
    void promptsOfOneNodeAreReadByAnother() throws Exception {
        AgentApp a = scene.agent("a", 0);
        assertEquals(0, scene.run("a", a.enginePort()).wrongContent());
        long serving = PeerScene.host(a).servingBlocks();
        assertTrue(serving > 50);
        directoryKnows(serving);

        AgentApp b = scene.agent("b", 0);
        assertReadFromA(scene.run("b", b.enginePort()), b, 50);
        assertTrue(a.status().count(AgentCounter.SENT_BLOCKS) >= b.status().count(AgentCounter.FETCHED_FROM_PEERS));
        assertEquals(0, a.status().count(AgentCounter.PROMOTED_BLOCKS));
        DirectoryPeers.Lookups lookups = b.lookups().orElseThrow();
        assertTrue(lookups.answered() > 0 && lookups.failed() == 0 && lookups.refused() == 0, lookups::toString);
        nothingIsPinned(a, b);
    }

    /** First a's host has the blocks; then its watermarks move nearly all to its disk, and b reads from there: a promotes them before the read. */
    @Test
    void blocksThatTheServingNodeMovedToDiskAreReadFromThere() throws Exception {
        AgentApp a = scene.agent("a", PeerScene.HOST_BLOCKS);
        assertEquals(0, scene.run("a", a.enginePort()).wrongContent());
        long serving = PeerScene.host(a).servingBlocks();
        assertTrue(serving > 100);

        policy("reclaim: {host: {high: 0.002, low: 0.001}}");
        PeerScene.await("a's host has dropped nearly all", () -> PeerScene.host(a).servingBlocks() <= 8);
        assertTrue(disk(a) >= serving - 8, () -> "on a's disk: " + disk(a) + " of " + serving);
        policy("reclaim: {host: {high: 0.9, low: 0.8}}");

        AgentApp b = scene.agent("b", 0);
        assertReadFromA(scene.run("b", b.enginePort()), b, 50);
        long promoted = a.status().count(AgentCounter.PROMOTED_BLOCKS);
        assertTrue(promoted >= b.status().count(AgentCounter.FETCHED_FROM_PEERS) - 8, () -> "promoted: " + promoted + ", " + b.status().counters());
        nothingIsPinned(a, b);
    }

    private static long disk(AgentApp agent) {
        return agent.status().usage().stream().filter(use -> use.tier() == Tier.DISK).mapToLong(TierUsage::servingBlocks).sum();
    }

    private void policy(String yaml) throws IOException {
        Path file = Files.writeString(directory.resolve("policy.yaml"), yaml + "\n");
        assertEquals(0, new CommandLine(new Main())
                .execute("policy", "apply", "--bootstrap-servers", scene.access.bootstrapServers(), file.toString()));
    }

    /** The serving node ends during a transfer: the reader computes, every byte is right, and nothing is pinned. */
    @Test
    void aServingNodeThatEndsDuringATransferCostsOnlyWork() throws Exception {
        AgentApp a = scene.agent("a", 0);
        assertEquals(0, scene.run("a", a.enginePort()).wrongContent());
        directoryKnows(PeerScene.host(a).servingBlocks());

        AgentApp b = scene.agent("b", 0);
        scene.gate.closeAfter(5);
        CompletableFuture<RunReport> second = scene.runBeside(b);
        PeerScene.await("a transfer stands still", () -> scene.gate.waiting() > 0);
        a.close();

        RunReport report = second.get(120, TimeUnit.SECONDS);
        assertEquals(0, report.wrongContent());
        assertTrue(report.addsUp());
        assertFalse(b.ended().toCompletableFuture().isDone(), "the reader has ended too");
        assertTrue(b.status().count(AgentCounter.PEER_READS_FALLEN_BACK) > 0, () -> b.status().counters().toString());
        nothingIsPinned(b);
    }
}
