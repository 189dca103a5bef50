/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.tierlog.agent.app.engine.Layouts;
import io.tierlog.agent.app.memory.Checksums;
import io.tierlog.agent.app.memory.DeviceStreams;
import io.tierlog.agent.app.store.DirectoryStore;
import io.tierlog.agent.app.store.ObjectName;
import io.tierlog.agent.core.port.MemoryHandle;
import io.tierlog.agent.cuda.Engine;
import io.tierlog.agent.cuda.Gpu;
import io.tierlog.engine.v1.KvLayer;
import io.tierlog.engine.v1.MemoryRegion;
import io.tierlog.engine.v1.Offer;
import io.tierlog.engine.v1.RegisterBuffersRequest;
import io.tierlog.events.KafkaAccess;
import io.tierlog.events.TopicAdmin;
import io.tierlog.events.config.LogOptions;
import io.tierlog.events.topic.Topics;
import io.tierlog.ops.kafka.EmbeddedKafka;
import io.tierlog.ops.kafka.EmbeddedKafkaConfig;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.command.PrefetchBlocks;
import io.tierlog.schemas.event.AgentRegistering;
import io.tierlog.schemas.event.LoadBackDone;
import io.tierlog.schemas.event.RequestSubmitted;
import io.tierlog.threads.LoggedLines;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** /metrics and /health of a whole agent on a real broker. Blocks of 4,096 bytes and 2 tokens. */
class AgentStatusPageTest {
    private static final int BLOCK = 4_096;
    private static final int PAGES = 16;
    /** CUDA_ERROR_ILLEGAL_ADDRESS, which ends a context. */
    private static final int ILLEGAL_ADDRESS = 700;

    @TempDir
    Path directory;

    @Test
    void aLoadFromTheStoreShowsInTheMetricsAndHealthNamesItsParts() throws Exception {
        Topics topics = new Topics("log");
        try (EmbeddedKafka broker = EmbeddedKafka.start(EmbeddedKafkaConfig.of(directory.resolve("broker")));
                HttpClient http = HttpClient.newHttpClient()) {
            KafkaAccess access = KafkaAccess.of(broker.bootstrapServers());
            try (TopicAdmin admin = new TopicAdmin(access)) {
                admin.create(topics, 4, 1);
            }
            AgentConfig config = AgentConfig.of("a", broker.bootstrapServers(), directory.resolve("store"))
                    .with(Map.of(LogOptions.TOPIC_PREFIX, "log", AgentOptions.BYTES_PER_BLOCK, BLOCK + "B",
                            AgentOptions.BLOCK_TOKENS, 2, AgentOptions.HOST, "8blocks", AgentOptions.PREFETCH_WAIT_MS, 20_000,
                            AgentOptions.DISK, directory.resolve("disk"), AgentOptions.DISK_SIZE, "16blocks",
                            AgentOptions.STATUS_LISTEN, "127.0.0.1:0"));
            seed(directory.resolve("store"));
            try (ScriptedController controller = new ScriptedController(access, topics);
                    AgentApp agent = AgentApp.start(config)) {
                HttpResponse<String> before = get(http, agent, "/health");
                assertTrue(before.body().contains("\"health\":\"DEGRADED\"")
                        && before.body().contains("the controller has not accepted this process yet"), before::body);
                assertEquals(200, before.statusCode(), "engines are answered");
                controller.accept(controller.await(AgentRegistering.class), 1);
                Eventually.await("well", () -> get(http, agent, "/health").body().startsWith(
                        "{\"state\":\"ON_LOG\",\"node\":\"a\",\"incarnation\":1,\"health\":\"WELL\",\"parts\":["));

                load(controller, agent);

                for (String line : List.of(
                        "tierlog_agent_transfer_bytes_total{direction=\"from_host\",tier=\"device\"} " + 2 * BLOCK + ".0",
                        "tierlog_agent_transfer_bytes_total{direction=\"to_host\",tier=\"store\"} " + 2 * BLOCK + ".0",
                        "tierlog_agent_transfer_duration_seconds_count{direction=\"to_host\",tier=\"store\"} 1",
                        "tierlog_agent_store_probe_duration_seconds_count 1",
                        "tierlog_agent_engine_call_duration_seconds_count{method=\"Submit\",status=\"OK\"} 1",
                        "tierlog_agent_pages{state=\"serving\",tier=\"host\"} 2.0",
                        "tierlog_agent_pages{state=\"free\",tier=\"disk\"} 16.0",
                        "tierlog_agent_operations_ended_total{end=\"done\",kind=\"PREFETCH\"} 1.0",
                        "tierlog_agent_operations_ended_total{end=\"done\",kind=\"LOAD_BACK\"} 1.0",
                        "tierlog_agent_engine_sessions 1.0",
                        "tierlog_agent_phase{phase=\"ON_LOG\"} 1.0",
                        "tierlog_agent_submitted_total 1.0",
                        "tierlog_agent_loaded_blocks_total 2.0",
                        "tierlog_agent_unsent_events_limit 20000.0",
                        "tierlog_agent_inbox_inputs{sender=\"engine\"} 0.0",
                        "tierlog_agent_disk_events_total{event=\"blocks_written\"} 0.0",
                        "tierlog_health_level{part=\"registration\"} 0.0")) {
                    // What the core counts is set after its events are appended, so the end of the load is no sign of it.
                    Eventually.await(line, () -> get(http, agent, "/metrics").body().lines().anyMatch(line::equals));
                }
                assertFalse(get(http, agent, "/metrics").body().contains("model"), "no namespace is a label");
            }
        }
    }

    /** The first copy to the memory of an engine with a GPU breaks the context, as an error of its memory does. */
    @Test
    void aDeviceThatIsLostIsNamed() throws Exception {
        Gpu gpu = Gpu.load();
        assumeTrue(gpu.fake().isPresent(), "a real GPU is not broken");
        Topics topics = new Topics("log");
        seed(directory.resolve("store"));
        try (EmbeddedKafka broker = EmbeddedKafka.start(EmbeddedKafkaConfig.of(directory.resolve("broker")));
                Engine process = new Engine(gpu);
                LoggedLines lines = new LoggedLines(DeviceStreams.class)) {
            KafkaAccess access = KafkaAccess.of(broker.bootstrapServers());
            try (TopicAdmin admin = new TopicAdmin(access)) {
                admin.create(topics, 4, 1);
            }
            AgentConfig config = AgentConfig.of("a", broker.bootstrapServers(), directory.resolve("store"))
                    .with(Map.of(LogOptions.TOPIC_PREFIX, "log", AgentOptions.BYTES_PER_BLOCK, BLOCK + "B", AgentOptions.BLOCK_TOKENS, 2,
                            AgentOptions.HOST, "8blocks", AgentOptions.PREFETCH_WAIT_MS, 20_000, AgentOptions.DEVICE, "cuda",
                            AgentOptions.STATUS_LISTEN, "127.0.0.1:0"));
            try (ScriptedController controller = new ScriptedController(access, topics);
                    AgentApp agent = AgentApp.start(config)) {
                controller.accept(controller.await(AgentRegistering.class), 1);
                StatusReader.awaitPart(agent, "registration", "WELL"); // before that a request does not wait for a fetch
                StatusReader.awaitPart(agent, "device", "WELL");
                TestEngine engine = new TestEngine(agent.enginePort());
                String session = engine.open("gpu0");
                Engine.Memory memory = process.allocate((long) PAGES * BLOCK);
                engine.calls().registerBuffers(ofGpu(session, memory));
                Offer offer = fetched(controller, engine, session);
                gpu.fake().orElseThrow().failOperation(1, ILLEGAL_ADDRESS);
                assertEquals(0, engine.calls().load(EngineMessages.load(EngineMessages.submit(session, "r1", 2), offer, 2, 4)).getLoaded());
                StatusReader.awaitPart(agent, "device", "FAILED");
                assertEquals(503, StatusReader.get(agent, "/health").statusCode());
                StatusReader.awaitMetric(agent, "tierlog_agent_device_lost 1.0");
                assertEquals(1, lines.with("the device is lost, copies fail from here on"), lines::toString);
            }
        }
    }

    /** One layer in one allocation. */
    private static RegisterBuffersRequest ofGpu(String session, Engine.Memory memory) {
        MemoryHandle.CudaIpc handle = (MemoryHandle.CudaIpc) memory.handle();
        return RegisterBuffersRequest.newBuilder()
                .setSession(session)
                .setPages(PAGES)
                .setBlockBytes(BLOCK)
                .setLayoutDigest(TestEngine.bytes(Layouts.layoutDigest(Layouts.opaque(BLOCK, 2))))
                .addRegions(MemoryRegion.newBuilder().setBase(0x7f00_0000).setBytes(memory.bytes()).setIpcHandle(TestEngine.bytes(handle.handle())))
                .addLayers(KvLayer.newBuilder().setName("layer.0").setSize((long) PAGES * BLOCK).setBlocks(PAGES).setSegmentBytes(BLOCK)
                        .setSegments(1))
                .build();
    }

    /** The store holds blocks 0 and 1. */
    private static void seed(Path directory) throws Exception {
        DirectoryStore store = DirectoryStore.open(directory, DirectoryStore.Options.DEFAULTS);
        for (int i = 0; i < 2; i++) {
            byte[] bytes = new byte[BLOCK];
            bytes[0] = (byte) i;
            store.write(new ObjectName(ObjectName.digest(AgentAppTest.NAMESPACE), ScriptedController.key(i)),
                    ByteBuffer.allocateDirect(BLOCK).put(0, bytes), Checksums.crc32c(bytes, 0, BLOCK));
        }
    }

    /** A request whose first two blocks are fetched from the store and loaded to the device. */
    private void load(ScriptedController controller, AgentApp agent) throws Exception {
        TestEngine engine = new TestEngine(agent.enginePort());
        String session = engine.open("gpu0");
        Path device = Files.write(directory.resolve("device"), new byte[PAGES * BLOCK]);
        engine.calls().registerBuffers(RegisterBuffersRequest.newBuilder()
                .setSession(session)
                .setSharedMemoryPath(device.toString())
                .setPages(PAGES)
                .setBlockBytes(BLOCK)
                .setLayoutDigest(TestEngine.bytes(Layouts.layoutDigest(Layouts.opaque(BLOCK, 2))))
                .build());
        Offer offer = fetched(controller, engine, session);
        assertEquals(2, engine.calls().load(EngineMessages.load(EngineMessages.submit(session, "r1", 2), offer, 2, 4)).getLoaded());
        controller.await(LoadBackDone.class);
    }

    /** The same up to its offer. */
    private static Offer fetched(ScriptedController controller, TestEngine engine, String session) {
        assertTrue(engine.calls().submit(EngineMessages.submit(session, "r1", 2)).hasWaiting());
        controller.await(RequestSubmitted.class);
        controller.command("a", new PrefetchBlocks(
                ScriptedController.envelope("a", 1), controller.header(), "fetch", "lease", 10_000, "r1", 1, AgentAppTest.NAMESPACE,
                ScriptedController.key(0), IntStream.range(0, 2).mapToObj(ScriptedController::block).toList(),
                Collections.nCopies(2, Tier.STORE), List.of(), null));
        return engine.notice().getReady().getOffer();
    }

    private static HttpResponse<String> get(HttpClient http, AgentApp agent, String path) {
        try {
            return http.send(HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + agent.statusPort() + path)).build(), BodyHandlers.ofString());
        } catch (IOException | InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
