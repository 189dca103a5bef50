/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.tierlog.agent.app.Eventually;
import io.tierlog.agent.app.TestEngine;
import io.tierlog.agent.app.memory.EmulatedDevice;
import io.tierlog.agent.app.memory.EnginePool;
import io.tierlog.agent.core.api.AgentInput;
import io.tierlog.agent.core.api.AgentInput.Sealed;
import io.tierlog.agent.core.api.AgentInput.SessionClosed;
import io.tierlog.agent.core.api.AgentInput.SessionOpened;
import io.tierlog.agent.core.api.AgentInput.Submitted;
import io.tierlog.agent.core.layout.KvLayout;
import io.tierlog.agent.core.port.DeviceFault;
import io.tierlog.agent.core.port.EngineReplies.Refusal;
import io.tierlog.agent.core.port.MemoryHandle;
import io.tierlog.agent.core.port.Offer;
import io.tierlog.engine.v1.Ack;
import io.tierlog.engine.v1.BlockPage;
import io.tierlog.engine.v1.CancelRequest;
import io.tierlog.engine.v1.EvictedBlock;
import io.tierlog.engine.v1.EvictedRequest;
import io.tierlog.engine.v1.FinishRequest;
import io.tierlog.engine.v1.HealthReply;
import io.tierlog.engine.v1.HealthRequest;
import io.tierlog.engine.v1.KvLayer;
import io.tierlog.engine.v1.LoadRequest;
import io.tierlog.engine.v1.MemoryRegion;
import io.tierlog.engine.v1.OfferReason;
import io.tierlog.engine.v1.PrefilledRequest;
import io.tierlog.engine.v1.RegisterBuffersRequest;
import io.tierlog.engine.v1.SealedRequest;
import io.tierlog.engine.v1.SubmitReply;
import io.tierlog.engine.v1.SubmitRequest;
import io.tierlog.schemas.Layout;
import io.tierlog.schemas.Tier;
import io.tierlog.tls.Tls;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;

/** The engine API over real gRPC, with a list of inputs in the place of the core: blocks of 100 bytes, a pool of 8 pages, 4 calls at most. */
class EngineServerTest {
    private static final int BLOCK = 100;
    private static final int PAGES = 8;
    private static final int PENDING = 4;

    @TempDir
    Path directory;

    private final List<AgentInput> inputs = new CopyOnWriteArrayList<>();
    private final List<EnginePool> attached = new CopyOnWriteArrayList<>();
    private final EmulatedDevice device = new EmulatedDevice("engine", EmulatedDevice.Limits.DEFAULTS);
    private final EngineServer.Pools pools = new EngineServer.Pools() {
        @Override
        public EnginePool open(List<KvLayout> layouts, List<MemoryHandle> handles) throws DeviceFault {
            return EnginePool.open(device, layouts, handles);
        }

        @Override
        public void attach(EnginePool pool) {
            attached.add(pool);
        }
    };
    private final List<Layout> layouts = Layouts.opaque(BLOCK, 16);
    private final List<AutoCloseable> opened = new ArrayList<>();
    private volatile boolean full;
    private final EngineServer server = new EngineServer(
            EngineAddress.tcp(0), Tls.NONE,
            new EngineServer.Wiring(
                    "n1", new AgreedLayouts(layouts, 1), this::call, inputs::add, pools, () -> new EngineApiHealth(true, 3, 5, 7, 1, 2)),
            new EngineApiLimits(PENDING, 2, 3, 6, 20, 30_000));

    private boolean call(AgentInput input) {
        return !full && inputs.add(input);
    }

    @BeforeEach
    void start() throws IOException {
        server.start();
        Files.write(directory.resolve("device"), new byte[PAGES * BLOCK]);
    }

    @AfterEach
    void stop() throws Exception {
        for (AutoCloseable closeable : opened) {
            closeable.close();
        }
        server.close();
        attached.forEach(EnginePool::release);
        device.close();
    }

    @Test
    void everyCallReachesTheCoreAndItsAnswerTheEngine() throws Exception {
        TestEngine engine = engine();
        String session = open(engine, "gpu0");
        attach(engine, session);
        assertEquals(8, attached.getFirst().blocks());
        CompletableFuture<SubmitReply> reply = later(() -> engine.calls().submit(submit(session).build()));
        Submitted submitted = await(Submitted.class);
        assertEquals(session, submitted.attempt().session());
        assertEquals(2, submitted.keys().size());
        server.replies().offer(submitted.call(), new Offer(1, List.of(Tier.HOST, Tier.STORE), Offer.Reason.FETCHED, "lease1"));
        var offer = reply.get(20, TimeUnit.SECONDS).getOffer();
        assertEquals(OfferReason.OFFER_REASON_FETCHED, offer.getReason());
        assertEquals("lease1", offer.getLease());
        assertEquals(List.of(1, 2), List.of(offer.getFirstIndex(), offer.getSourcesCount()));

        server.replies().ready(session, "r1", 1, Offer.none(0, Offer.Reason.WAIT_EXPIRED));
        assertEquals(OfferReason.OFFER_REASON_WAIT_EXPIRED, engine.notice().getReady().getOffer().getReason());
        server.replies().released(session, "r1", 1, List.of(3, 4));
        assertEquals(List.of(3, 4), engine.notice().getReleased().getPagesList());
        HealthReply health = engine.calls().health(HealthRequest.getDefaultInstance());
        assertEquals(List.of(3L, 5, 7, 1, 2), List.of(
                health.getIncarnation(), health.getHostFreeBlocks(), health.getDiskFreeBlocks(), health.getWaitingRequests(),
                health.getActiveOperations()));
    }

    /** 6 blocks of a prompt are taken: of the 7 of the Submit call, and of blocks 5 and 6 of the Sealed call. The core cuts, the answers say it. */
    @Test
    void answersSayHowManyBlocksAreTaken() throws Exception {
        TestEngine engine = engine();
        String session = open(engine, "gpu0");
        attach(engine, session);
        SubmitRequest seven = submit(session).setPromptTokens(70).clearKeys()
                .addAllKeys(Stream.iterate(1, i -> i + 1).limit(7).map(i -> key(i)).toList()).build();
        CompletableFuture<SubmitReply> reply = later(() -> engine.calls().submit(seven));
        Submitted submitted = await(Submitted.class);
        assertEquals(7, submitted.keys().size());
        server.replies().waiting(submitted.call());
        assertEquals(6, reply.get(20, TimeUnit.SECONDS).getTakenBlocks());
        BlockPage page = BlockPage.newBuilder().setIndex(5).setKey(key(6)).setPage(0).setGeneration(1).build();
        CompletableFuture<Ack> sealed = later(() -> engine.calls().sealed(SealedRequest.newBuilder()
                .setSession(session).setRequest("r1").setAttempt(1).setNamespace("ns").setRoot(key(1)).setParent(key(5))
                .addBlocks(page).addBlocks(page.toBuilder().setIndex(6).setKey(key(7)).setPage(1)).build()));
        Sealed both = await(Sealed.class);
        assertEquals(2, both.blocks().size());
        server.replies().done(both.call());
        assertEquals(1, sealed.get(20, TimeUnit.SECONDS).getTakenBlocks());
    }

    @Test
    void badArgumentsEndAtTheApi() {
        TestEngine engine = engine();
        String session = open(engine, "gpu0");
        attach(engine, session);
        int before = inputs.size();
        ByteString key = key(1);
        ByteString tooLong = ByteString.copyFrom(new byte[33]);
        Stream.<Consumer<SubmitRequest.Builder>>of(
                        r -> r.setKeys(1, ByteString.copyFrom(new byte[7])),
                        r -> r.setKeys(0, tooLong),
                        r -> r.addKeys(key),
                        r -> r.setPromptTokens(-5),
                        r -> r.setPromptTokens(0),
                        r -> r.setBlockTokens(0),
                        r -> r.setDeviceBlocks(-1),
                        r -> r.setDeviceBlocks(3),
                        r -> r.setAttempt(0),
                        r -> r.setRequest(""),
                        r -> r.setRequest("x".repeat(257)),
                        r -> r.setNamespace(""),
                        r -> r.setNamespace("n".repeat(21)),
                        r -> r.setPromptTokens(70).clearKeys().addAllKeys(Stream.generate(() -> key).limit(5).toList()))
                .forEach(change -> {
                    SubmitRequest.Builder request = submit(session);
                    change.accept(request);
                    refused(Status.Code.INVALID_ARGUMENT, () -> engine.calls().submit(request.build()));
                });
        BlockPage page = BlockPage.newBuilder().setIndex(2).setKey(key).setPage(0).setGeneration(1).build();
        Stream.of(
                        List.<BlockPage>of(),
                        List.of(page.toBuilder().setPage(PAGES).build()),
                        List.of(page.toBuilder().setPage(-1).build()),
                        List.of(page.toBuilder().setIndex(-1).build()),
                        List.of(page.toBuilder().setGeneration(-1).build()),
                        List.of(page.toBuilder().setKey(tooLong).build()),
                        List.of(page, page.toBuilder().setPage(1).build()),
                        List.of(page, page.toBuilder().setIndex(4).setPage(1).build()))
                .forEach(blocks -> {
                    refused(Status.Code.INVALID_ARGUMENT, () -> engine.calls().load(LoadRequest.newBuilder()
                            .setSession(session).setRequest("r").setAttempt(1).setNamespace("ns").setLease("l").addAllBlocks(blocks).build()));
                    refused(Status.Code.INVALID_ARGUMENT, () -> engine.calls().sealed(SealedRequest.newBuilder()
                            .setSession(session).setRequest("r").setAttempt(1).setNamespace("ns").setRoot(key).setParent(key)
                            .addAllBlocks(blocks).build()));
                });
        Stream.<Consumer<SealedRequest.Builder>>of(
                        r -> r.clearParent(),
                        r -> r.clearRoot(),
                        r -> r.setBlocks(0, page.toBuilder().setIndex(0)),
                        r -> r.setBlocks(0, page.toBuilder().setIndex(0)).clearParent().setRoot(key(2)))
                .forEach(change -> {
                    SealedRequest.Builder request = SealedRequest.newBuilder().setSession(session).setRequest("r").setAttempt(1)
                            .setNamespace("ns").setRoot(key).setParent(key).addBlocks(page);
                    change.accept(request);
                    refused(Status.Code.INVALID_ARGUMENT, () -> engine.calls().sealed(request.build()));
                });
        refused(Status.Code.INVALID_ARGUMENT, () -> engine.calls().finish(
                FinishRequest.newBuilder().setSession(session).setRequest("r").setAttempt(1).build()));
        refused(Status.Code.INVALID_ARGUMENT, () -> engine.calls().finish(FinishRequest.newBuilder().setSession(session).setRequest("r")
                .setAttempt(1).setOutcome(FinishRequest.Outcome.OUTCOME_COMPLETED).setGeneratedTokens(-1).build()));
        refused(Status.Code.INVALID_ARGUMENT, () -> engine.calls().prefilled(PrefilledRequest.newBuilder().setSession(session)
                .setRequest("r").setAttempt(1).setComputedBlocks(-1).build()));
        refused(Status.Code.INVALID_ARGUMENT, () -> engine.calls().cancel(
                CancelRequest.newBuilder().setSession(session).setRequest("r").setAttempt(-1).build()));
        refused(Status.Code.INVALID_ARGUMENT, () -> engine.calls().evicted(EvictedRequest.newBuilder().setSession(session)
                .setNamespace("ns").addBlocks(EvictedBlock.newBuilder().setIndex(1).setKey(key).setPage(1)).build()));
        List<AgentInput> reached = List.copyOf(inputs).subList(before, inputs.size());
        assertTrue(reached.stream().allMatch(AgentInput.LeaseReleased.class::isInstance), () -> "only the leases of refused loads end: " + reached);
        assertEquals(8, reached.size());
    }

    @Test
    void aPoolThatDoesNotFitIsRefused() throws IOException {
        TestEngine engine = engine();
        String session = open(engine, "gpu0");
        String device = directory.resolve("device").toString();
        refused(Status.Code.INVALID_ARGUMENT, () -> engine.calls().registerBuffers(buffers(session, device).setPages(0).build()));
        refused(Status.Code.INVALID_ARGUMENT, () -> engine.calls().registerBuffers(buffers(session, device).setBlockBytes(99).build()));
        refused(Status.Code.INVALID_ARGUMENT, () -> engine.calls().registerBuffers(
                buffers(session, device).setLayoutDigest(ByteString.copyFrom(new byte[31])).build()));
        String tooSmall = refused(Status.Code.FAILED_PRECONDITION,
                () -> engine.calls().registerBuffers(buffers(session, device).setPages(PAGES + 1).build()));
        assertTrue(tooSmall.contains("800 bytes"), tooSmall);
        refused(Status.Code.FAILED_PRECONDITION, () -> engine.calls().registerBuffers(buffers(session, "device").build()));
        refused(Status.Code.FAILED_PRECONDITION, () -> engine.calls().registerBuffers(buffers(session, device + "x").build()));
        String layout = refused(Status.Code.INVALID_ARGUMENT, () -> engine.calls().registerBuffers(buffers(session, "").addRegions(
                MemoryRegion.newBuilder().setBase(0x1000).setBytes(800).setSharedMemoryPath(device)).build()));
        assertTrue(layout.startsWith("NO_LAYERS: "), layout);
        String both = refused(Status.Code.INVALID_ARGUMENT, () -> engine.calls().registerBuffers(buffers(session, device).addRegions(
                MemoryRegion.newBuilder().setBase(0x1000).setBytes(800).setSharedMemoryPath(device)).build()));
        assertTrue(both.contains("one or the other"), both);
        String longName = refused(Status.Code.INVALID_ARGUMENT, () -> engine.calls().registerBuffers(buffers(session, "").addLayers(
                KvLayer.newBuilder().setName("n".repeat(20_000))).build()));
        assertTrue(longName.endsWith("n..."), "cut, since a client takes 8 KiB: " + longName);
        assertEquals(1, inputs.size(), "only the session reached the core");

        // What the core refuses is not attached.
        CompletableFuture<?> reply = later(() -> engine.calls().registerBuffers(buffers(session, device).build()));
        server.replies().refused(await(AgentInput.BuffersRegistered.class).call(), Refusal.LAYOUT_MISMATCH, "other layouts", false);
        assertEquals(Status.Code.FAILED_PRECONDITION, statusOf(reply).getCode());
        assertEquals(List.of(), attached);
    }

    @Test
    void everyRefusalOfTheCoreHasItsStatusAndReason() {
        TestEngine engine = engine();
        String session = open(engine, "gpu0");
        for (Refusal refusal : Refusal.values()) {
            CompletableFuture<?> reply = later(() -> engine.calls().submit(submit(session).build()));
            server.replies().refused(await(Submitted.class).call(), refusal, "because of " + refusal, refusal == Refusal.BUSY);
            Status status = statusOf(reply);
            assertEquals("because of " + refusal, status.getDescription());
            Status.Code expected = switch (refusal) {
                case UNKNOWN_SESSION, UNKNOWN_REQUEST, UNKNOWN_LEASE -> Status.Code.NOT_FOUND;
                case INSTANCE_TAKEN -> Status.Code.ALREADY_EXISTS;
                case LAYOUT_MISMATCH, NOT_OFFERED, NOT_REGISTERED -> Status.Code.FAILED_PRECONDITION;
                case BAD_ARGUMENT -> Status.Code.INVALID_ARGUMENT;
                case BUSY -> Status.Code.RESOURCE_EXHAUSTED;
                case CLOSING, NOT_ON_THE_LOG -> Status.Code.UNAVAILABLE;
            };
            assertEquals(expected, status.getCode());
            inputs.removeIf(Submitted.class::isInstance);
        }
    }

    @Test
    void aRefusalSaysForProgramsWhetherToTryAgain() {
        TestEngine engine = engine();
        String session = open(engine, "gpu0");
        full = true;
        StatusRuntimeException busy =
                assertThrows(StatusRuntimeException.class, () -> engine.calls().submit(submit(session).build()));
        assertEquals(Status.Code.RESOURCE_EXHAUSTED, busy.getStatus().getCode());
        Metadata trailers = busy.getTrailers();
        assertNotNull(trailers);
        assertEquals(List.of("BUSY", "true"), List.of(trailers.get(EngineErrors.REFUSAL), trailers.get(EngineErrors.RETRY)));
    }

    @Test
    void anUnknownSessionAndASecondOneOfTheInstanceAreRefused() {
        TestEngine engine = engine();
        refused(Status.Code.NOT_FOUND, () -> engine.calls().submit(submit("unknown").build()));
        open(engine, "gpu0");
        TestEngine second = engine();
        CompletableFuture<?> taken = later(() -> second.open("gpu0"));
        Eventually.await("the second session is asked for", () -> count(SessionOpened.class) == 2);
        server.replies().refused(((SessionOpened) inputs.getLast()).call(), Refusal.INSTANCE_TAKEN, "gpu0 has a session", true);
        assertEquals(Status.Code.ALREADY_EXISTS, statusOf(taken).getCode());
        refused(Status.Code.INVALID_ARGUMENT, () -> engine().open("bad name"));
        open(engine(), "gpu1");
        String third = refused(Status.Code.RESOURCE_EXHAUSTED, () -> engine().open("gpu2"));
        assertTrue(third.contains("2 sessions"), third);
        assertEquals(0, count(SessionClosed.class), "a session that never was does not end");
    }

    @Test
    void theEndOfAStreamIsTheEndOfItsSession() throws IOException {
        TestEngine orderly = engine();
        String left = open(orderly, "gpu0");
        orderly.leave();
        assertEquals(new SessionClosed(left, true), await(SessionClosed.class));
        Cable cable = new Cable(server.port());
        opened.add(cable);
        TestEngine broken = new TestEngine(cable.port());
        opened.add(broken);
        String vanished = open(broken, "gpu1");
        cable.cut();
        Eventually.await("the other end", () -> count(SessionClosed.class) == 2);
        assertEquals(new SessionClosed(vanished, false), inputs.getLast());
        refused(Status.Code.NOT_FOUND, () -> engine().calls().submit(submit(vanished).build()));
    }

    @Test
    void callsThatWaitAreBoundedAndForgottenAtTheirDeadline() {
        TestEngine engine = engine();
        String session = open(engine, "gpu0");
        List<CompletableFuture<?>> waiting = new ArrayList<>();
        for (int i = 0; i < PENDING; i++) {
            waiting.add(later(() -> engine.calls().withDeadlineAfter(300, TimeUnit.MILLISECONDS).submit(submit(session).build())));
        }
        Eventually.await("all wait", () -> count(Submitted.class) == PENDING);
        String busy = refused(Status.Code.RESOURCE_EXHAUSTED, () -> engine.calls().submit(submit(session).build()));
        assertTrue(busy.contains("4 calls"), busy);
        for (CompletableFuture<?> call : waiting) {
            assertEquals(Status.Code.DEADLINE_EXCEEDED, statusOf(call).getCode());
        }
        List<AgentInput> forgotten = List.copyOf(inputs);
        inputs.clear();
        Eventually.await("space for one more call", () -> {
            CompletableFuture<?> next =
                    later(() -> engine.calls().withDeadlineAfter(50, TimeUnit.MILLISECONDS).submit(submit(session).build()));
            return statusOf(next).getCode() == Status.Code.DEADLINE_EXCEEDED && count(Submitted.class) > 0;
        });
        inputs.clear();
        CompletableFuture<SubmitReply> last = later(() -> engine.calls().submit(submit(session).build()));
        long call = await(Submitted.class).call();
        // Late answers to forgotten calls go nowhere; the one that waits gets its own.
        forgotten.stream().filter(Submitted.class::isInstance).map(Submitted.class::cast)
                .forEach(late -> server.replies().offer(late.call(), Offer.none(0, Offer.Reason.NO_ROOM)));
        server.replies().waiting(call);
        assertTrue(last.orTimeout(20, TimeUnit.SECONDS).join().hasWaiting());
    }

    @Test
    void aServerThatClosesReportsIt() {
        TestEngine engine = engine();
        String session = open(engine, "gpu0");
        CompletableFuture<?> waiting = later(() -> engine.calls().submit(submit(session).build()));
        await(Submitted.class);
        server.close("maintenance at noon");
        assertEquals("maintenance at noon", engine.notice().getClosing().getReason());
        assertEquals(Status.Code.UNAVAILABLE, statusOf(waiting).getCode());
        assertEquals(0, count(SessionClosed.class));
    }

    @Test
    void aPortInUseIsReported() {
        EngineServer second = new EngineServer(
                EngineAddress.tcp(server.port()), Tls.NONE,
                new EngineServer.Wiring(
                        "n1", new AgreedLayouts(layouts, 1), inputs::add, inputs::add, pools, () -> new EngineApiHealth(false, 0, 0, 0, 0, 0)),
                EngineApiLimits.DEFAULTS);
        String message = String.valueOf(assertThrows(EngineServerException.class, second::start).getMessage());
        assertTrue(message.contains(String.valueOf(server.port())), message);
        second.close();
    }

    private TestEngine engine() {
        TestEngine engine = new TestEngine(server.port());
        opened.add(engine);
        return engine;
    }

    private String open(TestEngine engine, String instance) {
        CompletableFuture<String> session = later(() -> engine.open(instance));
        Eventually.await("the core is asked", () -> inputs.stream()
                .anyMatch(input -> input instanceof SessionOpened asked && asked.instance().equals(instance)));
        inputs.stream()
                .filter(input -> input instanceof SessionOpened asked && asked.instance().equals(instance))
                .forEach(input -> server.replies().done(((SessionOpened) input).call()));
        return session.orTimeout(20, TimeUnit.SECONDS).join();
    }

    private void attach(TestEngine engine, String session) {
        RegisterBuffersRequest pool = buffers(session, directory.resolve("device").toString()).build();
        CompletableFuture<?> reply = later(() -> engine.calls().registerBuffers(pool));
        server.replies().done(await(AgentInput.BuffersRegistered.class).call());
        reply.orTimeout(20, TimeUnit.SECONDS).join();
    }

    private <I extends AgentInput> I await(Class<I> type) {
        Eventually.await("a " + type.getSimpleName(), () -> count(type) > 0);
        return type.cast(inputs.stream().filter(type::isInstance).findFirst().orElseThrow());
    }

    private long count(Class<? extends AgentInput> type) {
        return inputs.stream().filter(type::isInstance).count();
    }

    private static String refused(Status.Code code, Executable call) {
        StatusRuntimeException refusal = assertThrows(StatusRuntimeException.class, call);
        assertEquals(code, refusal.getStatus().getCode(), String.valueOf(refusal.getStatus().getDescription()));
        String description = String.valueOf(refusal.getStatus().getDescription());
        assertFalse(description.isBlank());
        return description;
    }

    private static Status statusOf(CompletableFuture<?> call) {
        Throwable failure = assertThrows(Exception.class, () -> call.get(20, TimeUnit.SECONDS)).getCause();
        return Status.fromThrowable(failure);
    }

    private static <T> CompletableFuture<T> later(java.util.function.Supplier<T> call) {
        return CompletableFuture.supplyAsync(call, command -> Thread.ofPlatform().daemon().start(command));
    }

    private static ByteString key(int seed) {
        return ByteString.copyFromUtf8("key-%04d".formatted(seed));
    }

    private static SubmitRequest.Builder submit(String session) {
        return SubmitRequest.newBuilder().setSession(session).setRequest("r1").setAttempt(1).setNamespace("ns")
                .setPromptTokens(25).setBlockTokens(10).addKeys(key(0)).addKeys(key(1)).setReuseEligible(true);
    }

    private static RegisterBuffersRequest.Builder buffers(String session, String path) {
        return RegisterBuffersRequest.newBuilder().setSession(session).setSharedMemoryPath(path).setPages(PAGES).setBlockBytes(BLOCK)
                .setLayoutDigest(ByteString.copyFrom(new byte[32]));
    }
}
