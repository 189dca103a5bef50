/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app;

import static io.tierlog.agent.app.EngineMessages.load;
import static io.tierlog.agent.app.EngineMessages.page;
import static io.tierlog.agent.app.EngineMessages.submit;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.agent.app.engine.Layouts;
import io.tierlog.agent.app.log.RegistrationRefusedException;
import io.tierlog.agent.app.memory.Checksums;
import io.tierlog.agent.app.store.DirectoryStore;
import io.tierlog.agent.app.store.ObjectName;
import io.tierlog.engine.v1.FinishRequest;
import io.tierlog.engine.v1.HealthRequest;
import io.tierlog.engine.v1.KvLayer;
import io.tierlog.engine.v1.MemoryRegion;
import io.tierlog.engine.v1.Offer;
import io.tierlog.engine.v1.OfferReason;
import io.tierlog.engine.v1.PrefilledRequest;
import io.tierlog.engine.v1.RegisterBuffersRequest;
import io.tierlog.engine.v1.SealedRequest;
import io.tierlog.events.Codec;
import io.tierlog.events.KafkaAccess;
import io.tierlog.events.LogReader;
import io.tierlog.events.LogSetupException;
import io.tierlog.events.Partitions;
import io.tierlog.events.RecordStamp;
import io.tierlog.events.Schemas;
import io.tierlog.events.TopicAdmin;
import io.tierlog.events.config.LogOptions;
import io.tierlog.events.registry.RegistryLimits;
import io.tierlog.events.registry.RegistryUnavailableException;
import io.tierlog.events.topic.Topics;
import io.tierlog.ops.kafka.EmbeddedKafka;
import io.tierlog.ops.kafka.EmbeddedKafkaConfig;
import io.tierlog.schemas.BlockResult;
import io.tierlog.schemas.BlockStatus;
import io.tierlog.schemas.Layout;
import io.tierlog.schemas.LayoutKind;
import io.tierlog.schemas.PagedBlock;
import io.tierlog.schemas.RefusalReason;
import io.tierlog.schemas.RemovalReason;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.TierCapacity;
import io.tierlog.schemas.command.BackUpBlocks;
import io.tierlog.schemas.command.Command;
import io.tierlog.schemas.command.CopyBlocks;
import io.tierlog.schemas.command.FenceAgent;
import io.tierlog.schemas.command.PrefetchBlocks;
import io.tierlog.schemas.command.ResumeRequest;
import io.tierlog.schemas.command.WriteBackBlocks;
import io.tierlog.schemas.event.AgentRegistering;
import io.tierlog.schemas.event.AgentStopping;
import io.tierlog.schemas.event.BackUpDone;
import io.tierlog.schemas.event.BlocksEvicted;
import io.tierlog.schemas.event.BlocksRecovered;
import io.tierlog.schemas.event.BlocksSeenStored;
import io.tierlog.schemas.event.BlocksStored;
import io.tierlog.schemas.event.CopyDone;
import io.tierlog.schemas.event.EngineDetached;
import io.tierlog.schemas.event.Event;
import io.tierlog.schemas.event.LoadBackDone;
import io.tierlog.schemas.event.PrefetchDone;
import io.tierlog.schemas.event.RequestFinished;
import io.tierlog.schemas.event.RequestSubmitted;
import io.tierlog.schemas.event.WriteBackDone;
import java.io.IOException;
import java.net.ServerSocket;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A whole agent on a real broker, with a test that plays controller and engine. Blocks of 4,096 bytes and 2 tokens; each test has a log
 * of its own on the one broker.
 */
@Tag("slow")
class AgentAppTest {
    private static final int BLOCK = 4_096;
    private static final int PAGES = 16;
    static final String NAMESPACE = "model";
    private static final AtomicInteger LOGS = new AtomicInteger();
    private static final List<EmbeddedKafka> BROKER = new ArrayList<>();

    @TempDir
    static Path brokerDirectory;

    @TempDir
    Path directory;

    private final List<AutoCloseable> opened = new ArrayList<>();
    private KafkaAccess access = KafkaAccess.of("localhost:1");
    private Topics topics = Topics.DEFAULT;

    @BeforeAll
    static void startBroker() {
        BROKER.add(EmbeddedKafka.start(EmbeddedKafkaConfig.of(brokerDirectory)));
    }

    @AfterAll
    static void stopBroker() {
        BROKER.forEach(EmbeddedKafka::close);
        BROKER.clear();
    }

    @BeforeEach
    void makeLog() {
        access = KafkaAccess.of(BROKER.getFirst().bootstrapServers());
        topics = new Topics("log" + LOGS.incrementAndGet());
        try (TopicAdmin admin = new TopicAdmin(access)) {
            admin.create(topics, 4, 1);
        }
    }

    @AfterEach
    void closeAll() throws Exception {
        for (AutoCloseable closeable : opened.reversed()) {
            closeable.close();
        }
    }

    /** A block of 4 layers of K and V of 512 bytes: layers 1 and 2 in one region with K and V apart, 3 and 10 in another. */
    @Test
    void aBlockOfSeveralSegmentsIsLoadedLayerByLayer() throws Exception {
        seedStore();
        List<Layout> layouts = List.of(new Layout("kv", LayoutKind.ATTENTION, 4, 2, 512, 2, "bf16", false));
        Path file = Files.writeString(directory.resolve("layouts.json"), """
                [{"name": "kv", "kind": "ATTENTION", "layers": 4, "blockTokens": 2, "segmentBytes": 512, "segments": 2, "dtype": "bf16"}]
                """);
        ScriptedController controller = controller();
        AgentApp agent = accepted(controller, config().with(AgentOptions.LAYOUTS, file));
        TestEngine engine = engine(agent);
        String session = engine.open("gpu0");
        Path low = Files.write(directory.resolve("low"), new byte[2 * PAGES * 1_024]);
        Path high = Files.write(directory.resolve("high"), new byte[PAGES * 2_048]);
        engine.calls().registerBuffers(RegisterBuffersRequest.newBuilder()
                .setSession(session)
                .setPages(PAGES)
                .setBlockBytes(BLOCK)
                .setLayoutDigest(TestEngine.bytes(Layouts.layoutDigest(layouts)))
                .addRegions(MemoryRegion.newBuilder().setBase(0x1000).setBytes(2 * PAGES * 1_024).setSharedMemoryPath(low.toString()))
                .addRegions(MemoryRegion.newBuilder().setBase(0x1000).setBytes(PAGES * 2_048).setSharedMemoryPath(high.toString()))
                .addLayers(layer("10").setRegion(1).setOffset(1_024).setSize(PAGES * 2_048 - 1_024).setSegmentStride(512).setBlockStride(2_048))
                .addLayers(layer("1").setRegion(0).setOffset(0).setSize(PAGES * 1_024).setSegmentStride(PAGES * 512))
                .addLayers(layer("3").setRegion(1).setOffset(0).setSize(PAGES * 2_048 - 1_024).setSegmentStride(512).setBlockStride(2_048))
                .addLayers(layer("2").setRegion(0).setOffset(PAGES * 1_024).setSize(PAGES * 1_024).setSegmentStride(PAGES * 512))
                .build());
        assertTrue(engine.calls().submit(submit(session, "r1", 1)).hasWaiting());
        controller.await(RequestSubmitted.class);
        controller.command("a", new PrefetchBlocks(
                ScriptedController.envelope("a", 1), controller.header(), "op1", "lease1", 10_000, "r1", 1, NAMESPACE,
                ScriptedController.key(0), List.of(ScriptedController.block(0)), List.of(Tier.STORE), List.of(), null));
        Offer offer = engine.notice().getReady().getOffer();

        assertEquals(1, engine.calls().load(load(submit(session, "r1", 1), offer, 1, 6)).getLoaded());

        ByteBuffer found = ByteBuffer.allocate(BLOCK);
        byte[] lowBytes = Files.readAllBytes(low);
        for (int part = 0; part < 4; part++) { // layer 1 K, V, layer 2 K, V
            found.put(lowBytes, (part * PAGES + 6) * 512, 512);
        }
        found.put(Files.readAllBytes(high), 6 * 2_048, 2_048);
        assertArrayEquals(content(0), found.array());
    }

    private static KvLayer.Builder layer(String name) {
        return KvLayer.newBuilder().setName(name).setBlocks(PAGES).setSegmentBytes(512).setSegments(2);
    }

    @Test
    void aPrefixIsFetchedAndLoadedAndWhatIsSealedIsWrittenBackAndBackedUp() throws Exception {
        DirectoryStore store = DirectoryStore.open(directory.resolve("store"), DirectoryStore.Options.DEFAULTS);
        for (int i = 0; i < 4; i++) {
            store.write(name(i), ByteBuffer.allocateDirect(BLOCK).put(0, content(i)), crc(i));
        }
        ScriptedController controller = controller();
        AgentApp agent = accepted(controller, config());
        TestEngine engine = engine(agent);
        String session = engine.open("gpu0");
        register(engine, session);

        // 11 tokens in blocks of 2: 5 whole blocks, all reusable; the store has the first 4.
        assertTrue(engine.calls().submit(submit(session, "r1", 5)).hasWaiting());
        RequestSubmitted submitted = controller.await(RequestSubmitted.class);
        assertEquals(List.of(0, 4), List.of(submitted.storeFrom(), submitted.storeBlocks()));
        assertFalse(submitted.answered());

        controller.command("a", new PrefetchBlocks(
                ScriptedController.envelope("a", 1), controller.header(), "op1", "lease1", 10_000, "r1", 1, NAMESPACE,
                ScriptedController.key(0), IntStream.range(0, 4).mapToObj(ScriptedController::block).toList(),
                Collections.nCopies(4, Tier.STORE), List.of(), null));
        Offer offer = engine.notice().getReady().getOffer();
        assertEquals(List.of(0, 4), List.of(offer.getFirstIndex(), offer.getSourcesCount()));
        assertEquals(Offer.Source.SOURCE_STORE, offer.getSources(0));
        PrefetchDone fetched = controller.await(PrefetchDone.class);
        assertEquals("lease1", fetched.lease());
        List<Integer> checksums = fetched.blocks().stream().map(BlockResult::crc32c).toList();
        assertEquals(IntStream.range(0, 4).map(AgentAppTest::crc).boxed().toList(), checksums);

        // Loaded into pages 4 to 7.
        assertEquals(4, engine.calls().load(load(submit(session, "r1", 4), offer, 4, 4)).getLoaded());
        for (int i = 0; i < 4; i++) {
            assertArrayEquals(content(i), devicePage(4 + i), "block " + i);
        }
        LoadBackDone loaded = controller.await(LoadBackDone.class);
        assertEquals(4 * BLOCK, loaded.movedBytes());

        // The engine computes block 4 into page 9, seals and finishes.
        writeDevicePage(9, content(4));
        engine.calls().prefilled(PrefilledRequest.newBuilder().setSession(session).setRequest("r1").setAttempt(1)
                .setLoadedBlocks(4).setComputedBlocks(2).build());
        engine.calls().sealed(SealedRequest.newBuilder().setSession(session).setRequest("r1").setAttempt(1).setNamespace(NAMESPACE)
                .setRoot(TestEngine.bytes(ScriptedController.key(0))).setParent(TestEngine.bytes(ScriptedController.key(3)))
                .addBlocks(page(4, 9)).build());
        engine.calls().finish(FinishRequest.newBuilder().setSession(session).setRequest("r1").setAttempt(1)
                .setOutcome(FinishRequest.Outcome.OUTCOME_COMPLETED).setGeneratedTokens(1).build());
        controller.await(RequestFinished.class);

        controller.command("a", new WriteBackBlocks(
                ScriptedController.envelope("a", 1), controller.header(), "op2", "r1", 1, NAMESPACE, ScriptedController.key(0),
                List.of(new PagedBlock(ScriptedController.block(4), 9, 1, 0)), 10_000));
        assertEquals(List.of(9), engine.notice().getReleased().getPagesList());
        BlockResult written = controller.await(WriteBackDone.class).blocks().getFirst();
        assertEquals(List.of(BlockStatus.ARRIVED, crc(4)), List.of(written.status(), written.crc32c()));

        controller.command("a", new BackUpBlocks(
                ScriptedController.envelope("a", 1), controller.header(), "op3", "op2", NAMESPACE, ScriptedController.key(0),
                List.of(new PagedBlock(ScriptedController.block(4), written.page(), written.generation(), written.crc32c()))));
        assertEquals(BlockStatus.ARRIVED, controller.await(BackUpDone.class).blocks().getFirst().status());
        BlocksStored report = controller.await(BlocksStored.class);
        assertTrue(report.envelope().aggregate().startsWith("store/"));
        assertEquals(1, report.blocks().getFirst().generation());
        ByteBuffer stored = ByteBuffer.allocateDirect(BLOCK);
        assertEquals(BlockStatus.ARRIVED, store.read(name(4), stored).status());
        byte[] bytes = new byte[BLOCK];
        stored.get(0, bytes);
        assertArrayEquals(content(4), bytes);

        engine.leave();
        assertTrue(controller.await(EngineDetached.class).orderly());
        agent.close();
        controller.await(AgentStopping.class);
        assertEquals(AgentEnd.Kind.STOPPED, agent.ended().toCompletableFuture().get().kind());
        assertChained(controller);
    }

    @Test
    void whatWasCopiedToTheDiskIsThereAfterARestartAndADamagedBlockIsNotServed() throws Exception {
        DirectoryStore store = DirectoryStore.open(directory.resolve("store"), DirectoryStore.Options.DEFAULTS);
        for (int i = 0; i < 4; i++) {
            store.write(name(i), ByteBuffer.allocateDirect(BLOCK).put(0, content(i)), crc(i));
        }
        AgentConfig config = config().with(Map.of(AgentOptions.DISK, directory.resolve("disk"), AgentOptions.DISK_SIZE, "16blocks"));
        ScriptedController controller = controller();
        AgentApp first = accepted(controller, config);
        AgentRegistering asked = controller.await(AgentRegistering.class);
        assertEquals(new TierCapacity(Tier.DISK, 16, BLOCK), asked.tiers().getLast());
        fetch(controller, first, 1, Tier.STORE);
        PrefetchDone fetched = controller.await(PrefetchDone.class);
        controller.command("a", new CopyBlocks(
                ScriptedController.envelope("a", 1), controller.header(), "copy", Tier.HOST, Tier.DISK, NAMESPACE,
                fetched.blocks().reversed().stream()
                        .map(b -> new PagedBlock(b.block(), b.page(), b.generation(), b.crc32c()))
                        .toList(), null));
        CopyDone copied = controller.await(CopyDone.class);
        assertTrue(copied.blocks().stream().allMatch(block -> block.status() == BlockStatus.ARRIVED && block.page() == -1));
        assertEquals(12, first.status().usage().getLast().freeBlocks());
        assertEquals(4, first.diskStatus().orElseThrow().blocks());
        first.close();

        // Block 2 is damaged where it lies; the store, which could replace it, has only the first two.
        assertEquals(1, damage(content(2)));
        for (int i = 2; i < 4; i++) {
            Files.delete(stored(i));
        }
        AgentApp second = start(config);
        controller.accept(controller.await(AgentRegistering.class, again -> asked.processId().equals(again.replaces())), 2);
        BlocksRecovered recovered = controller.await(BlocksRecovered.class);
        assertEquals(List.of(2L, 0L), List.of(recovered.envelope().incarnation(), recovered.remainingBlocks()));
        assertEquals(
                List.of(0, 1, 2, 3), recovered.blocks().stream().map(block -> block.block().index()).toList());
        assertEquals(
                Set.of(ScriptedController.block(0), ScriptedController.block(1)),
                Set.copyOf(controller.await(BlocksSeenStored.class).blocks()));
        Offer offer = fetch(controller, second, 2, Tier.DISK);
        assertEquals(List.of(Offer.Source.SOURCE_DISK, Offer.Source.SOURCE_DISK), offer.getSourcesList(), "what is before block 2");
        for (int i = 0; i < 2; i++) {
            assertArrayEquals(content(i), devicePage(4 + i), "block " + i);
        }
        BlocksEvicted evicted = controller.await(BlocksEvicted.class);
        assertEquals(List.of(Tier.DISK, RemovalReason.CHECKSUM), List.of(evicted.tier(), evicted.reason()));
        assertEquals(ScriptedController.block(2), evicted.blocks().getFirst().block());
        Eventually.await("the damaged copy leaves", () -> second.status().usage().getLast().freeBlocks() == 13);
    }

    @Test
    void aDiskThatIsInUseIsReportedAtOnce() {
        AgentConfig config = config().with(Map.of(AgentOptions.DISK, directory.resolve("disk"), AgentOptions.DISK_SIZE, "16blocks"));
        start(config);
        DiskUnavailableException inUse = assertThrows(DiskUnavailableException.class, () -> AgentApp.start(config));
        assertTrue(String.valueOf(inUse.getMessage()).contains("open in this process already"), inUse::getMessage);
    }

    /** Submits the prompt of 5 blocks, fetches 4 of them and loads what is offered into pages from 4 on. */
    private Offer fetch(ScriptedController controller, AgentApp agent, long incarnation, Tier source) {
        TestEngine engine = engine(agent);
        String session = engine.open("gpu0");
        register(engine, session);
        String request = "r" + incarnation;
        assertTrue(engine.calls().submit(submit(session, request, 5)).hasWaiting());
        controller.await(RequestSubmitted.class, said -> said.request().equals(request)
                && said.diskIndexes().size() == (source == Tier.DISK ? 4 : 0));
        controller.command("a", new PrefetchBlocks(
                ScriptedController.envelope("a", incarnation), controller.header(), "fetch" + incarnation, "lease" + incarnation, 10_000,
                request, 1, NAMESPACE, ScriptedController.key(0), IntStream.range(0, 4).mapToObj(ScriptedController::block).toList(),
                Collections.nCopies(4, source), List.of(), null));
        Offer offer = engine.notice().getReady().getOffer();
        assertEquals(offer.getSourcesCount(), engine.calls().load(load(submit(session, request, 5), offer, offer.getSourcesCount(), 4)).getLoaded());
        return offer;
    }

    /** Flips a bit in every place of the disk where that content lies; returns how many those were. */
    private int damage(byte[] content) throws IOException {
        int found = 0;
        try (var files = Files.list(directory.resolve("disk"))) {
            for (Path file : files.filter(path -> path.toString().endsWith(".segment")).toList()) {
                byte[] bytes = Files.readAllBytes(file);
                for (int at = 0; at + content.length <= bytes.length; at += BLOCK) {
                    if (java.util.Arrays.mismatch(content, 0, BLOCK, bytes, at, at + BLOCK) == -1) {
                        bytes[at + 99] ^= 1;
                        found++;
                    }
                }
                Files.write(file, bytes);
            }
        }
        return found;
    }

    private Path stored(int index) throws IOException {
        String key = ScriptedController.key(index).hex();
        try (var files = Files.walk(directory.resolve("store"))) {
            return files.filter(path -> path.getFileName().toString().contains(key)).findFirst().orElseThrow();
        }
    }

    @Test
    void withoutAControllerRequestsGoOnWithWhatIsHere() {
        AgentApp agent = start(config());
        TestEngine engine = engine(agent);
        String session = engine.open("gpu0");
        register(engine, session);
        assertFalse(engine.calls().health(HealthRequest.getDefaultInstance()).getOnTheLog());
        assertEquals(OfferReason.OFFER_REASON_AGENT_BUSY, engine.calls().submit(submit(session, "r1", 5)).getOffer().getReason());
    }

    @Test
    void aWaitWithoutAnEndExpires() {
        ScriptedController controller = controller();
        AgentApp agent = accepted(controller, config().with(AgentOptions.PREFETCH_WAIT_MS, 50));
        seedStore();
        TestEngine engine = engine(agent);
        String session = engine.open("gpu0");
        register(engine, session);
        assertTrue(engine.calls().submit(submit(session, "r1", 5)).hasWaiting());
        assertEquals(OfferReason.OFFER_REASON_WAIT_EXPIRED, engine.notice().getReady().getOffer().getReason());
    }

    @Test
    void aDuplicateAsksAgainUntilTheOtherProcessIsGone() throws Exception {
        ScriptedController controller = controller();
        AgentApp agent = start(config());
        controller.refuse(controller.await(AgentRegistering.class), RefusalReason.DUPLICATE_NODE, "another process is alive");
        AgentRegistering second = controller.await(AgentRegistering.class, asked -> asked.envelope().sequence() == 2);
        assertEquals(agent.processId(), second.processId());
        controller.accept(second, 7);
        assertEquals(7L, agent.registered().toCompletableFuture().get(20, TimeUnit.SECONDS));
    }

    @Test
    void aDuplicateThatStaysEndsTheAgentWithTheReason() throws Exception {
        ScriptedController controller = controller();
        AgentApp agent = start(config().with(AgentOptions.REGISTRATION_TIMEOUT, 0));
        controller.refuse(controller.await(AgentRegistering.class), RefusalReason.DUPLICATE_NODE, "process p1 is alive, stop it first");
        assertRefused(agent, RefusalReason.DUPLICATE_NODE, "process p1 is alive, stop it first");
    }

    @Test
    void aLayoutThatCannotBeServedEndsTheAgentAtOnce() throws Exception {
        Path file = Files.writeString(directory.resolve("layouts.json"), """
                [{"name": "mamba", "kind": "STATE_SPACE", "layers": 2, "blockTokens": 2,
                  "segmentBytes": 1024, "segments": 2, "dtype": "bf16"}]
                """);
        ScriptedController controller = controller();
        AgentApp agent = start(config().with(AgentOptions.LAYOUTS, file));
        AgentRegistering asked = controller.await(AgentRegistering.class);
        assertEquals(Layouts.layoutDigest(asked.layouts()), asked.layoutDigest());
        controller.refuse(asked, RefusalReason.LAYOUT_UNSUPPORTED, "state-space layers cannot be served");
        assertRefused(agent, RefusalReason.LAYOUT_UNSUPPORTED, "state-space layers cannot be served");
    }

    @Test
    void aFencedAgentTellsItsEnginesAndEnds() throws Exception {
        ScriptedController controller = controller();
        AgentApp agent = accepted(controller, config());
        TestEngine engine = engine(agent);
        engine.open("gpu0");
        controller.command("a", new FenceAgent(
                ScriptedController.envelope("a", 1), new io.tierlog.schemas.command.CommandHeader("node/a@9.0", 0), 2));
        assertEquals(AgentEnd.Kind.FENCED, agent.ended().toCompletableFuture().get(20, TimeUnit.SECONDS).kind());
        assertTrue(engine.notice().getClosing().getReason().contains("incarnation 1"));
    }

    @Test
    void aCommandThatCannotBeReadIsADeadLetterAndTheNextIsRun() throws Exception {
        ScriptedController controller = controller();
        AgentApp agent = accepted(controller, config());
        seedStore();
        TestEngine engine = engine(agent);
        String session = engine.open("gpu0");
        register(engine, session);
        assertTrue(engine.calls().submit(submit(session, "r1", 5)).hasWaiting());
        byte[] noAvro = {9, 9, 9, 9, 9, 9};
        String neighbour = IntStream.range(0, 100).mapToObj(i -> "b" + i)
                .filter(node -> Partitions.of("node/" + node, 4) == Partitions.of("node/a", 4))
                .findFirst()
                .orElseThrow();
        controller.send(topics.commands(), neighbour, noAvro);
        controller.send(topics.commands(), "a", noAvro);
        controller.command("a", new ResumeRequest(ScriptedController.envelope("a", 1), controller.header(), "r1", 1,
                io.tierlog.schemas.RequestReason.BELOW_THRESHOLD));
        assertEquals(OfferReason.OFFER_REASON_BELOW_THRESHOLD, engine.notice().getReady().getOffer().getReason());
        assertEquals(1, agent.unreadableCommands(), "those of other nodes are theirs");
        List<String> reasons = new ArrayList<>();
        try (LogReader<Command> letters = new LogReader<>(access, new Codec(Schemas.bundled()),
                new LogReader.Source<>(topics.deadLetters(), Command.class, LogReader.Isolation.ALL))) {
            Eventually.await("a dead letter", () -> {
                letters.poll(Duration.ofMillis(50), entry -> reasons.add(
                        new String(entry.headers().lastHeader("tierlog.reason").value(), StandardCharsets.UTF_8)));
                return !reasons.isEmpty();
            });
        }
        assertEquals(List.of("NOT_AVRO"), reasons);
    }

    @Test
    void anUnreachableServiceIsReportedWithinTheTimeOut() throws IOException {
        int unused = freePort();
        AgentConfig gone = AgentConfig.of("a", "127.0.0.1:" + unused, directory.resolve("store")).with(LogOptions.CONNECT_TIMEOUT, 1);
        String broker = String.valueOf(assertThrows(
                LogSetupException.BrokerUnreachable.class,
                () -> AgentApp.start(gone)).getMessage());
        assertTrue(broker.contains("127.0.0.1:" + unused), broker);
        String noRegistry = String.valueOf(assertThrows(
                RegistryUnavailableException.class, () -> AgentApp.start(config()
                        .with(AgentConfig.Tuning.DEFAULTS.with(new RegistryLimits(200, 200, 500, 2, 1, 50, 1 << 20, 10, 0)))
                        .with(LogOptions.REGISTRY_URL, "http://127.0.0.1:" + unused))).getMessage());
        assertTrue(noRegistry.contains(String.valueOf(unused)), noRegistry);
        assertThrows(LogSetupException.TopicsMissing.class, () -> AgentApp.start(config().with(LogOptions.TOPIC_PREFIX, "missing")));
    }

    // --- the parts

    private AgentConfig config() {
        return AgentConfig.of("a", access.bootstrapServers(), directory.resolve("store")).with(Map.of(
                LogOptions.TOPIC_PREFIX, topics.prefix(), AgentOptions.HOST, "8blocks", AgentOptions.BYTES_PER_BLOCK, BLOCK + "B",
                AgentOptions.BLOCK_TOKENS, 2, AgentOptions.PREFETCH_WAIT_MS, 15_000));
    }

    private ScriptedController controller() {
        ScriptedController controller = new ScriptedController(access, topics);
        opened.add(controller);
        return controller;
    }

    private AgentApp start(AgentConfig config) {
        AgentApp agent = AgentApp.start(config);
        opened.add(agent);
        return agent;
    }

    private AgentApp accepted(ScriptedController controller, AgentConfig config) {
        AgentApp agent = start(config);
        controller.accept(controller.await(AgentRegistering.class), 1);
        Eventually.await("the agent is on the log", () -> agent.status().onTheLog());
        return agent;
    }

    private TestEngine engine(AgentApp agent) {
        TestEngine engine = new TestEngine(agent.enginePort());
        opened.add(engine);
        return engine;
    }

    private void seedStore() {
        DirectoryStore.open(directory.resolve("store"), DirectoryStore.Options.DEFAULTS)
                .write(name(0), ByteBuffer.allocateDirect(BLOCK).put(0, content(0)), crc(0));
    }

    private void register(TestEngine engine, String session) {
        try {
            Files.write(directory.resolve("device"), new byte[PAGES * BLOCK]);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
        engine.calls().registerBuffers(RegisterBuffersRequest.newBuilder()
                .setSession(session)
                .setSharedMemoryPath(directory.resolve("device").toString())
                .setPages(PAGES)
                .setBlockBytes(BLOCK)
                .setLayoutDigest(TestEngine.bytes(Layouts.layoutDigest(Layouts.opaque(BLOCK, 2))))
                .build());
    }

    /** Each event's number and checksum fit the one before of the same sender to the same aggregate, and it lies where its key says. */
    private static void assertChained(ScriptedController controller) {
        Map<String, RecordStamp> stamps = new HashMap<>();
        int stores = 0;
        for (int i = 0; i < controller.events().size(); i++) {
            Event event = controller.events().get(i);
            String aggregate = event.envelope().aggregate();
            RecordStamp before = stamps.getOrDefault(aggregate, RecordStamp.NONE);
            assertTrue(before.precedes(event.envelope()), before + " before " + event);
            stamps.put(aggregate, before.after(Codec.avro(event)));
            assertEquals(Partitions.of(aggregate, 4), controller.partitions().get(i));
            stores += aggregate.startsWith("store/") ? 1 : 0;
        }
        assertEquals(2, stores, "a read that began, and blocks that were stored");
    }

    private static void assertRefused(AgentApp agent, RefusalReason reason, String detail) throws Exception {
        ExecutionException failure =
                assertThrows(ExecutionException.class, () -> agent.registered().toCompletableFuture().get(20, TimeUnit.SECONDS));
        RegistrationRefusedException refused = (RegistrationRefusedException) failure.getCause();
        assertNotNull(refused);
        assertEquals(reason, refused.reason());
        AgentEnd end = agent.ended().toCompletableFuture().get(20, TimeUnit.SECONDS);
        assertEquals(AgentEnd.Kind.REFUSED, end.kind());
        assertTrue(end.detail().contains(detail), end.detail());
    }

    private static ObjectName name(int index) {
        return new ObjectName(ObjectName.digest(NAMESPACE), ScriptedController.key(index));
    }

    private static byte[] content(int index) {
        byte[] bytes = new byte[BLOCK];
        new Random(index).nextBytes(bytes);
        return bytes;
    }

    private static int crc(int index) {
        return Checksums.crc32c(content(index), 0, BLOCK);
    }

    private byte[] devicePage(int page) throws IOException {
        byte[] all = Files.readAllBytes(directory.resolve("device"));
        return java.util.Arrays.copyOfRange(all, page * BLOCK, (page + 1) * BLOCK);
    }

    private void writeDevicePage(int page, byte[] bytes) throws IOException {
        try (FileChannel device = FileChannel.open(directory.resolve("device"), StandardOpenOption.WRITE)) {
            device.write(ByteBuffer.wrap(bytes), (long) page * BLOCK);
        }
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0)) {
            return socket.getLocalPort();
        }
    }
}
