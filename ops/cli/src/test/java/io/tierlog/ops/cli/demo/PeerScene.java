/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.demo;

import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import io.tierlog.agent.app.AgentApp;
import io.tierlog.agent.app.AgentConfig;
import io.tierlog.agent.app.AgentOptions;
import io.tierlog.agent.app.engine.Layouts;
import io.tierlog.agent.app.peer.PeerGate;
import io.tierlog.agent.core.api.AgentLimits;
import io.tierlog.controller.directory.DirectoryApp;
import io.tierlog.controller.directory.streams.DirectoryConfig;
import io.tierlog.controller.http.Endpoint;
import io.tierlog.controller.streams.ControllerApp;
import io.tierlog.controller.streams.ControllerConfig;
import io.tierlog.controller.streams.api.ApiConfig;
import io.tierlog.events.KafkaAccess;
import io.tierlog.events.TopicAdmin;
import io.tierlog.events.topic.Topics;
import io.tierlog.ops.cli.LogFacts;
import io.tierlog.ops.engine.EngineNode;
import io.tierlog.ops.engine.ProgressListener;
import io.tierlog.ops.engine.Replay;
import io.tierlog.ops.engine.ReplayConfig;
import io.tierlog.ops.engine.RunReport;
import io.tierlog.ops.engine.api.AgentAddress;
import io.tierlog.ops.engine.api.Timeouts;
import io.tierlog.ops.engine.workload.ConversationParameters;
import io.tierlog.ops.engine.workload.ConversationWorkload;
import io.tierlog.ops.engine.workload.Workload;
import io.tierlog.ops.kafka.EmbeddedKafka;
import io.tierlog.ops.kafka.EmbeddedKafkaConfig;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.TierUsage;
import io.tierlog.schemas.decision.Fact;
import io.tierlog.traces.TraceOptions;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/**
 * One broker, one controller and its directory, and agents that ask that directory and read from each other. Each node has a store of its own, so
 * that nothing else can bring what another node has computed; engines compare every byte. For one thread.
 */
final class PeerScene implements AutoCloseable {
    static final int BLOCK_BYTES = 4_096;
    static final int HOST_BLOCKS = 4_096;
    static final String TOKEN = "a-token-of-sixteen-characters";
    /** The first question to a directory opens a connection: that takes longer than the 20 ms of any other. */
    private static final long FIND_MS = 2_000;

    final Path directory;
    final Workload workload = ConversationWorkload.of(ConversationParameters.defaults().withRequests(60));
    final PeerGate gate = new PeerGate();
    final KafkaAccess access;
    final ControllerApp controller;
    final DirectoryApp where;
    private final Deque<AutoCloseable> opened = new ArrayDeque<>();
    private final Optional<String> collector;
    private int runs;

    PeerScene(Path directory) throws InterruptedException {
        this(directory, Optional.empty());
    }

    /** With traces of all requests, to {@code collector}. */
    PeerScene(Path directory, String collector) throws InterruptedException {
        this(directory, Optional.of(collector));
    }

    private PeerScene(Path directory, Optional<String> collector) throws InterruptedException {
        this.directory = directory;
        this.collector = collector;
        access = KafkaAccess.of(own(EmbeddedKafka.start(EmbeddedKafkaConfig.of(directory.resolve("broker")))).bootstrapServers());
        try (TopicAdmin admin = new TopicAdmin(access)) {
            admin.create(Topics.DEFAULT, 3, 1);
        }
        ControllerConfig.Builder settings = ControllerConfig.of(access, directory.resolve("controller"))
                .with().http("127.0.0.1", 0).api(ApiConfig.loopback(0));
        collector.map(TraceOptions::endpoint).ifPresent(settings::traces);
        controller = own(ControllerApp.start(settings.build()));
        DirectoryConfig config = DirectoryConfig.of(access, Topics.DEFAULT, directory.resolve("directory"));
        where = own(DirectoryApp.start(config));
        assertTrue(where.awaitRunning(Duration.ofSeconds(60)));
    }

    <T extends AutoCloseable> T own(T part) {
        opened.push(part);
        return part;
    }

    /** Where the directory is asked, HOST:PORT. */
    String directoryAddress() {
        return new Endpoint("127.0.0.1", where.grpcPort()).toString();
    }

    /** An agent in this process, once it is registered. */
    AgentApp agent(String node, int diskBlocks) throws Exception {
        AgentLimits limits = AgentLimits.defaults();
        AgentLimits.Peers p = limits.peers();
        AgentConfig.Tuning tuning = AgentConfig.Tuning.DEFAULTS.withStop(Duration.ofMillis(500))
                .with(limits.with(new AgentLimits.Peers(FIND_MS, p.retryMs(), p.grants(), p.reads(), p.refusalMs(), p.units())));
        Map<String, Object> options = new HashMap<>(Map.of(
                AgentOptions.HOST, HOST_BLOCKS + "blocks", AgentOptions.BYTES_PER_BLOCK, BLOCK_BYTES + "B",
                AgentOptions.BLOCK_TOKENS, workload.blockTokens(), AgentOptions.PREFETCH_WAIT_MS, 5_000,
                AgentOptions.REGISTRATION_TIMEOUT, 60, AgentOptions.PEER_LISTEN, "127.0.0.1:0",
                AgentOptions.PEER_TOKEN_FILE, Files.writeString(directory.resolve("token-" + node), TOKEN),
                AgentOptions.DIRECTORY, directoryAddress()));
        collector.ifPresent(url -> options.put(TraceOptions.OTLP_ENDPOINT, url));
        if (diskBlocks > 0) {
            options.put(AgentOptions.DISK, directory.resolve("disk-" + node));
            options.put(AgentOptions.DISK_SIZE, diskBlocks + "blocks");
        }
        AgentConfig config = AgentConfig.of(node, access.bootstrapServers(), directory.resolve("store-" + node)).with(options).with(tuning);
        AgentApp agent = own(AgentApp.start(config, gate));
        agent.registered().toCompletableFuture().get(60, TimeUnit.SECONDS);
        return agent;
    }

    /** Replays the workload on one node. */
    RunReport run(String node, int enginePort) throws Exception {
        return run(node, enginePort, Timeouts.defaults());
    }

    RunReport run(String node, int enginePort, Timeouts timeouts) throws Exception {
        Path memory = Files.createDirectories(directory.resolve("memory-" + node + "-" + ++runs));
        ByteString digest = ByteString.copyFrom(Layouts.layoutDigest(Layouts.opaque(BLOCK_BYTES, workload.blockTokens())).asByteBuffer());
        ReplayConfig config = ReplayConfig.of(
                        "run-" + node + "-" + runs, workload, List.of(new EngineNode(node, new AgentAddress.HostPort("127.0.0.1", enginePort))),
                        new ReplayConfig.Device(memory, 600, BLOCK_BYTES, false), new ReplayConfig.Identity("model", digest))
                .withPacing(new ReplayConfig.Pacing(2, OptionalDouble.empty(), 0)) // states no cost: waits for as long as it may
                .withTimeouts(timeouts)
                .withTraced(collector.isPresent());
        return Replay.run(config, ProgressListener.none());
    }

    CompletableFuture<RunReport> runBeside(AgentApp agent) {
        return CompletableFuture.supplyAsync(() -> {
            try {
                return run(agent.node(), agent.enginePort());
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        });
    }

    static void await(String what, BooleanSupplier condition) {
        assertTrue(within(60, condition), () -> "not within 60 s: " + what);
    }

    /** Whether it comes about within so many seconds. */
    static boolean within(long seconds, BooleanSupplier condition) {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() > end) {
                return false;
            }
            LockSupport.parkNanos(5_000_000);
        }
        return true;
    }

    static TierUsage host(AgentApp agent) {
        return agent.status().usage().stream().filter(use -> use.tier() == Tier.HOST).findFirst().orElseThrow();
    }

    /** All decisions on the log by now. */
    List<Fact> decisions() {
        return LogFacts.read(access);
    }

    @Override
    public void close() {
        while (!opened.isEmpty()) {
            try {
                opened.pop().close();
            } catch (Exception e) {
                throw new IllegalStateException("a part of the scene did not close cleanly", e);
            }
        }
    }
}
