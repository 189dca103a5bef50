/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import io.tierlog.agent.app.AgentApp;
import io.tierlog.agent.app.AgentConfig;
import io.tierlog.agent.app.Layouts;
import io.tierlog.agent.app.peer.PeerAddress;
import io.tierlog.agent.app.peer.PeerGate;
import io.tierlog.agent.app.peer.PeerLimits;
import io.tierlog.agent.app.peer.PeerToken;
import io.tierlog.agent.core.AgentCounter;
import io.tierlog.agent.core.AgentInput;
import io.tierlog.agent.core.AgentInput.PeersFound;
import io.tierlog.agent.core.AgentLimits;
import io.tierlog.agent.core.port.PeerFinder;
import io.tierlog.controller.streams.ControllerApp;
import io.tierlog.controller.streams.ControllerConfig;
import io.tierlog.events.Codec;
import io.tierlog.events.KafkaAccess;
import io.tierlog.events.LogReader;
import io.tierlog.events.Reading;
import io.tierlog.events.Schemas;
import io.tierlog.events.TopicAdmin;
import io.tierlog.events.Topics;
import io.tierlog.ops.engine.EngineNode;
import io.tierlog.ops.engine.ProgressListener;
import io.tierlog.ops.engine.Replay;
import io.tierlog.ops.engine.ReplayConfig;
import io.tierlog.ops.engine.RunReport;
import io.tierlog.ops.engine.door.Door;
import io.tierlog.ops.engine.workload.ConversationParameters;
import io.tierlog.ops.engine.workload.ConversationWorkload;
import io.tierlog.ops.engine.workload.Workload;
import io.tierlog.ops.kafka.EmbeddedKafka;
import io.tierlog.ops.kafka.EmbeddedKafkaConfig;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.TierUsage;
import io.tierlog.schemas.directory.NodeLife;
import io.tierlog.schemas.directory.Placement;
import io.tierlog.schemas.directory.Published;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Two agents, one broker, one controller: prompts that node a has computed are read by node b from a's host. Each node has a store of its own, so
 * that nothing else can bring them; engines compare every byte. Who has what is read from the topic of placements, as directories do.
 */
@Timeout(240)
class PeerReadTest {
    private static final int BLOCK_BYTES = 4_096;
    private static final PeerToken TOKEN = PeerToken.of("a-token-of-sixteen-characters");

    @TempDir
    Path directory;

    private final List<AutoCloseable> opened = new ArrayList<>();
    private final Workload workload = ConversationWorkload.of(ConversationParameters.defaults().withRequests(60));
    private final PeerGate gate = new PeerGate();
    private KafkaAccess access = KafkaAccess.of("127.0.0.1:1");

    @BeforeEach
    void startLog() {
        EmbeddedKafka kafka = EmbeddedKafka.start(EmbeddedKafkaConfig.of(directory.resolve("broker")));
        opened.add(kafka);
        access = KafkaAccess.of(kafka.bootstrapServers());
        try (TopicAdmin admin = new TopicAdmin(access)) {
            admin.create(Topics.DEFAULT, 3, 1);
        }
        opened.add(ControllerApp.start(ControllerConfig.of(access, directory.resolve("controller")).with().http("127.0.0.1", 0).build()));
    }

    @AfterEach
    void close() throws Exception {
        for (AutoCloseable one : opened.reversed()) {
            one.close();
        }
    }

    private AgentApp agent(String node, PlacementsFinder placements) throws Exception {
        AgentConfig config = AgentConfig.of(node, access, directory.resolve("store-" + node))
                .with()
                .memory(4_096, Layouts.opaque(BLOCK_BYTES, workload.blockTokens()))
                .doorPort(0)
                .times(new AgentConfig.Times(Duration.ofSeconds(30), Duration.ofMillis(500)))
                .limits(AgentLimits.defaults().withPrefetchWaitMs(5_000))
                .peers(new AgentConfig.Peers(
                        Optional.of(PeerAddress.parse("127.0.0.1:0")), Optional.of(TOKEN), Optional.empty(), PeerLimits.DEFAULTS))
                .build();
        AgentApp agent = AgentApp.start(config, placements::finder, gate);
        opened.add(agent);
        agent.registered().toCompletableFuture().get(60, TimeUnit.SECONDS);
        return agent;
    }

    private RunReport run(AgentApp agent) throws Exception {
        Path memory = Files.createDirectories(directory.resolve("memory-" + agent.node()));
        ByteString digest = ByteString.copyFrom(Layouts.layoutDigest(Layouts.opaque(BLOCK_BYTES, workload.blockTokens())).asByteBuffer());
        ReplayConfig config = ReplayConfig.of(
                        "run-" + agent.node(), workload, List.of(new EngineNode(agent.node(), new Door.Address("127.0.0.1", agent.doorPort()))),
                        new ReplayConfig.Device(memory, 600, BLOCK_BYTES, false), new ReplayConfig.Identity("model", digest))
                .withPacing(new ReplayConfig.Pacing(2, java.util.OptionalDouble.empty(), 20));
        return Replay.run(config, ProgressListener.none());
    }

    private static void await(String what, BooleanSupplier condition) {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
        while (!condition.getAsBoolean()) {
            assertFalse(System.nanoTime() > end, () -> "not within 30 s: " + what);
            LockSupport.parkNanos(5_000_000);
        }
    }

    private static long pins(AgentApp agent) {
        return agent.status().usage().stream().filter(use -> use.tier() == Tier.HOST).mapToLong(TierUsage::pinCount).sum();
    }

    @Test
    void promptsOfOneNodeAreReadByAnother() throws Exception {
        try (PlacementsFinder placements = new PlacementsFinder(access)) {
            AgentApp a = agent("a", placements);
            RunReport first = run(a);
            assertEquals(0, first.wrongContent());
            long serving = a.status().usage().getFirst().servingBlocks();
            assertTrue(serving > 0);
            await("all of a is published", () -> placements.copies("a") == serving);

            AgentApp b = agent("b", placements);
            RunReport second = run(b);

            assertEquals(0, second.wrongContent());
            long fetched = b.status().count(AgentCounter.FETCHED_FROM_PEERS);
            assertTrue(fetched > 50, () -> "fetched from a: " + fetched + ", " + b.status().counters());
            assertTrue(a.status().count(AgentCounter.SENT_BLOCKS) >= fetched);
            await("nothing is pinned on either side", () -> pins(a) == 0 && pins(b) == 0);
        }
    }

    /** The lender ends while its pages are on their way: the reader computes, every byte is right, and nothing is pinned. */
    @Test
    void aLenderThatEndsInMidTransferCostsNothingButWork() throws Exception {
        try (PlacementsFinder placements = new PlacementsFinder(access)) {
            AgentApp a = agent("a", placements);
            assertEquals(0, run(a).wrongContent());
            long serving = a.status().usage().getFirst().servingBlocks();
            await("all of a is published", () -> placements.copies("a") == serving);

            AgentApp b = agent("b", placements);
            gate.closeAfter(5);
            CompletableFuture<RunReport> second = CompletableFuture.supplyAsync(() -> {
                try {
                    return run(b);
                } catch (Exception e) {
                    throw new IllegalStateException(e);
                }
            });
            await("a transfer stands still", () -> gate.waiting() > 0);
            a.close();

            RunReport report = second.get(120, TimeUnit.SECONDS);
            assertEquals(0, report.wrongContent());
            assertTrue(report.addsUp());
            assertFalse(b.ended().toCompletableFuture().isDone(), "the reader has ended too");
            assertTrue(b.status().count(AgentCounter.PEER_READS_FALLEN_BACK) > 0, () -> b.status().counters().toString());
            await("nothing is pinned", () -> pins(b) == 0);
            assertEquals(0, b.status().usage().stream().mapToLong(TierUsage::quarantinedBlocks).sum());
        }
    }

    /** What the topic of placements says, read by a thread of its own. Safe for use by several threads. */
    private static final class PlacementsFinder implements AutoCloseable {
        private final Map<Bytes, Placement> copies = new LinkedHashMap<>();
        private final Map<String, NodeLife> lives = new LinkedHashMap<>();
        private final LogReader<Published> reader;
        private final Thread thread;
        private volatile boolean closed;

        PlacementsFinder(KafkaAccess access) {
            reader = new LogReader<>(access, new Codec(Schemas.bundled()),
                    new LogReader.Source<>(Topics.DEFAULT.placements(), Published.class, LogReader.Isolation.COMMITTED));
            thread = Thread.ofPlatform().name("placements").start(() -> {
                while (!closed) {
                    reader.poll(Duration.ofMillis(20), this::take);
                }
            });
        }

        private synchronized void take(LogReader.Entry<Published> entry) {
            Bytes key = entry.key();
            if (key == null) {
                return;
            }
            copies.remove(key);
            if (entry.reading() instanceof Reading.Decoded<Published>(Placement placement)) {
                copies.put(key, placement);
            } else if (entry.reading() instanceof Reading.Decoded<Published>(NodeLife life)) {
                lives.put(life.node(), life);
            }
        }

        synchronized long copies(String node) {
            return copies.values().stream().filter(one -> one.location().equals("node/" + node) && one.tier() == Tier.HOST).count();
        }

        PeerFinder finder(Consumer<AgentInput> completions) {
            return (unit, namespace, keys) -> completions.accept(new PeersFound(unit, holders(namespace, keys)));
        }

        private synchronized List<PeerFinder.Holder> holders(String namespace, List<Bytes> keys) {
            Map<String, Set<Bytes>> held = new LinkedHashMap<>();
            for (Placement one : copies.values()) {
                if (one.namespace().equals(namespace) && one.tier() == Tier.HOST) {
                    held.computeIfAbsent(one.location().substring("node/".length()), any -> new LinkedHashSet<>()).add(one.block().key());
                }
            }
            List<PeerFinder.Holder> holders = new ArrayList<>();
            held.forEach((node, blocks) -> {
                int run = 0;
                while (run < keys.size() && blocks.contains(keys.get(run))) {
                    run++;
                }
                NodeLife life = lives.get(node);
                String address = life == null || !life.alive() ? null : life.peerAddress();
                if (run > 0 && address != null) {
                    holders.add(new PeerFinder.Holder(node, address, Tier.HOST, run));
                }
            });
            return holders;
        }

        @Override
        public void close() {
            closed = true;
            try {
                thread.join();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            reader.close();
        }
    }
}
