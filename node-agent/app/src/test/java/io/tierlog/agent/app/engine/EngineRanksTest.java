/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import io.grpc.Context;
import io.grpc.ManagedChannel;
import io.grpc.Status;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.stub.StreamObserver;
import io.tierlog.agent.app.Eventually;
import io.tierlog.agent.app.TestEngine;
import io.tierlog.agent.app.memory.EmulatedDevice;
import io.tierlog.agent.app.memory.EnginePool;
import io.tierlog.agent.core.api.AgentInput;
import io.tierlog.agent.core.layout.KvLayout;
import io.tierlog.agent.core.port.DeviceFault;
import io.tierlog.agent.core.port.EngineReplies.Refusal;
import io.tierlog.agent.core.port.MemoryHandle;
import io.tierlog.engine.v1.BlockPage;
import io.tierlog.engine.v1.EngineServiceGrpc;
import io.tierlog.engine.v1.JoinRequest;
import io.tierlog.engine.v1.KvLayer;
import io.tierlog.engine.v1.LoadReply;
import io.tierlog.engine.v1.LoadRequest;
import io.tierlog.engine.v1.MemoryRegion;
import io.tierlog.engine.v1.Notice;
import io.tierlog.engine.v1.RegisterBuffersRequest;
import io.tierlog.schemas.Layout;
import io.tierlog.tls.Tls;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Two ranks join the session of their engine over real gRPC, each with 50 of the 100 bytes of a block; the core is a list of inputs. */
class EngineRanksTest {
    private static final int PAGES = 8;

    @TempDir
    Path directory;

    private final List<AgentInput> inputs = new CopyOnWriteArrayList<>();
    private final List<EnginePool> attached = new CopyOnWriteArrayList<>();
    private final EmulatedDevice device = new EmulatedDevice("ranks", EmulatedDevice.Limits.DEFAULTS);
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
    private final List<Layout> layouts = Layouts.opaque(100, 16);
    private final EngineServer server = new EngineServer(
            EngineAddress.tcp(0), Tls.NONE,
            new EngineServer.Wiring(
                    "n1", new AgreedLayouts(layouts, 2), inputs::add, inputs::add, pools, () -> new EngineApiHealth(true, 3, 5, 7, 1, 2)),
            new EngineApiLimits(16, 2, 8, 6, 20, 30_000));
    private final List<AutoCloseable> opened = new ArrayList<>();
    private String session = "";

    @BeforeEach
    void start() throws Exception {
        server.start();
        for (int rank = 0; rank < 2; rank++) {
            Files.write(directory.resolve("rank" + rank), new byte[PAGES * 50]);
        }
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

    /** The process of one rank. */
    private final class Rank implements AutoCloseable {
        final List<Notice> received = new CopyOnWriteArrayList<>();
        final CompletableFuture<Status> end = new CompletableFuture<>();
        private final ManagedChannel channel = NettyChannelBuilder.forAddress("127.0.0.1", server.port()).usePlaintext().build();
        private final Context.CancellableContext stream = Context.current().withCancellation();

        Rank(JoinRequest join) {
            opened.add(this);
            stream.run(() -> EngineServiceGrpc.newStub(channel).join(join, new StreamObserver<>() {
                @Override
                public void onNext(Notice notice) {
                    received.add(notice);
                }

                @Override
                public void onError(Throwable error) {
                    end.complete(Status.fromThrowable(error));
                }

                @Override
                public void onCompleted() {
                    end.complete(Status.OK);
                }
            }));
        }

        Status end() throws Exception {
            return end.get(20, TimeUnit.SECONDS);
        }

        CompletableFuture<LoadReply> load(LoadRequest load) {
            return CompletableFuture.supplyAsync(
                    () -> EngineServiceGrpc.newBlockingStub(channel).withDeadlineAfter(20, TimeUnit.SECONDS).load(load),
                    Thread::startVirtualThread);
        }

        void leave() {
            stream.cancel(null);
        }

        @Override
        public void close() {
            channel.shutdownNow();
        }
    }

    private JoinRequest.Builder join(int rank) {
        RegisterBuffersRequest buffers = RegisterBuffersRequest.newBuilder()
                .setPages(PAGES)
                .addRegions(MemoryRegion.newBuilder().setBase(0x1000).setBytes(PAGES * 50)
                        .setSharedMemoryPath(directory.resolve("rank" + rank).toString()))
                .addLayers(KvLayer.newBuilder().setName("l").setRegion(0).setSize(PAGES * 50).setBlocks(PAGES)
                        .setSegmentBytes(50).setSegments(1))
                .build();
        return JoinRequest.newBuilder().setInstance("gpu0").setRank(rank).setBuffers(buffers).setLayout("bf16 NHD");
    }

    private TestEngine open() {
        TestEngine engine = new TestEngine(server.port());
        opened.add(engine);
        CompletableFuture<Void> core = CompletableFuture.runAsync(() -> {
            Eventually.await("the session", () -> inputs.stream().anyMatch(AgentInput.SessionOpened.class::isInstance));
            server.replies().done(((AgentInput.SessionOpened) inputs.getFirst()).call());
        });
        session = engine.open("gpu0");
        core.join();
        return engine;
    }

    private <T extends AgentInput> T await(Class<T> type) {
        Eventually.await("a " + type.getSimpleName(), () -> inputs.stream().anyMatch(type::isInstance));
        return type.cast(inputs.stream().filter(type::isInstance).findFirst().orElseThrow());
    }

    private List<Rank> joined() {
        List<Rank> ranks = List.of(new Rank(join(1).build()), new Rank(join(0).build()));
        server.replies().done(await(AgentInput.BuffersRegistered.class).call());
        ranks.forEach(rank -> Eventually.await("the rank receives that all are there", () -> !rank.received.isEmpty()));
        return ranks;
    }

    @Test
    void theMemoryOfAllRanksIsOnePool() {
        TestEngine engine = open();
        List<Rank> ranks = joined();

        AgentInput.BuffersRegistered registered = await(AgentInput.BuffersRegistered.class);
        assertEquals(session, registered.session());
        assertEquals(100, registered.blockBytes());
        assertEquals(Layouts.layoutDigest(layouts), registered.layoutDigest());
        assertEquals(List.of("rank0.l", "rank1.l"), attached.getFirst().layout().layers().stream().map(KvLayout.Layer::name).toList());
        Notice there = engine.notice();
        assertEquals(PAGES, there.getRegistered().getPages());
        assertEquals("bf16 NHD", there.getRegistered().getLayout());
        assertEquals(session, ranks.getFirst().received.getFirst().getOpened().getSession());

        server.replies().released(session, "r", 1, List.of(3));
        assertEquals(List.of(3), engine.notice().getReleased().getPagesList());
        ranks.forEach(rank -> Eventually.await("every rank receives it", () -> rank.received.size() == 2 && rank.received.get(1).hasReleased()));
    }

    /** Each of two ranks that join at once may find both there: one registers their memory, and after a rank has left, one does again. */
    @Test
    void oneOfTheRanksThatJoinAtOnceRegistersTheirMemory() {
        EngineRanks ranks = new EngineRanks();
        EngineSession last = new EngineSession("s", new TestCaller<>(), 1);
        ranks.add(join(0).build(), new EngineSession("s", new TestCaller<>(), 1), 2);
        assertFalse(ranks.completes(2));
        ranks.add(join(1).build(), last, 2);
        assertTrue(ranks.completes(2));
        assertFalse(ranks.completes(2));
        ranks.remove(last);
        ranks.add(join(1).build(), last, 2);
        assertTrue(ranks.completes(2));
    }

    @Test
    void aLoadBeginsWhenEveryRankHasAskedForItAndAllReceiveTheAnswer() throws Exception {
        open();
        List<Rank> ranks = joined();
        LoadRequest.Builder load = LoadRequest.newBuilder().setSession(session).setRequest("r").setAttempt(1).setNamespace("ns").setLease("l")
                .addBlocks(BlockPage.newBuilder().setKey(ByteString.copyFrom(new byte[8])).setPage(2).setGeneration(1));

        CompletableFuture<LoadReply> first = ranks.get(0).load(load.setRank(1).build());
        assertThrows(TimeoutException.class, () -> first.get(50, TimeUnit.MILLISECONDS));
        assertFalse(inputs.stream().anyMatch(AgentInput.LoadCalled.class::isInstance), "rank 0 may still use the pages");
        CompletableFuture<LoadReply> second = ranks.get(1).load(load.setRank(0).build());
        AgentInput.LoadCalled called = await(AgentInput.LoadCalled.class);
        server.replies().loaded(called.call(), 1, "");

        assertEquals(1, first.get(20, TimeUnit.SECONDS).getLoaded());
        assertEquals(1, second.get(20, TimeUnit.SECONDS).getLoaded());
        assertEquals(1, inputs.stream().filter(AgentInput.LoadCalled.class::isInstance).count());
        assertEquals("INVALID_ARGUMENT", Status.fromThrowable(ranks.get(0).load(load.setRank(2).build()).handle((any, e) -> e.getCause()).get())
                .getCode().name());
    }

    @Test
    void aLoadOfAnUnknownSessionIsRefusedBeforeTheOtherRankAsks() throws Exception {
        open();
        LoadRequest load = LoadRequest.newBuilder().setSession("gpu0-0123456789abcdef").setRequest("r").setAttempt(1).setRank(1).build();

        Throwable refused = joined().getFirst().load(load).handle((_, e) -> e.getCause()).get(10, TimeUnit.SECONDS);
        assertEquals(Status.Code.NOT_FOUND, Status.fromThrowable(refused).getCode());
    }

    @Test
    void aRankThatLeavesEndsTheSessionAndTheSessionItsRanks() throws Exception {
        TestEngine engine = open();
        List<Rank> ranks = joined();

        ranks.get(1).leave();

        assertEquals(session, await(AgentInput.SessionClosed.class).session());
        Eventually.await("the session ends", () -> engine.streamEnd() != null);
        assertEquals(Status.Code.ABORTED, ranks.get(0).end().getCode());
        assertEquals(1, inputs.stream().filter(AgentInput.SessionClosed.class::isInstance).count());
    }

    @Test
    void whatCannotJoinIsRefusedWithTheReason() throws Exception {
        Status early = new Rank(join(0).build()).end();
        assertEquals(Status.Code.NOT_FOUND, early.getCode());
        open();
        List<Rank> twice = List.of(new Rank(join(0).build()), new Rank(join(0).build()));
        Status taken = (Status) CompletableFuture.anyOf(twice.get(0).end, twice.get(1).end).get(20, TimeUnit.SECONDS);
        assertEquals(Status.Code.ALREADY_EXISTS, taken.getCode());
        Rank first = twice.get(twice.get(0).end.isDone() ? 1 : 0);
        assertTrue(new Rank(join(2).build()).end().getDescription().contains("--ranks"));
        Status other = new Rank(join(1).setLayout("bf16 HND").build()).end();
        assertEquals(Status.Code.FAILED_PRECONDITION, other.getCode());
        assertFalse(inputs.stream().anyMatch(AgentInput.BuffersRegistered.class::isInstance));

        new Rank(join(1).build());
        server.replies().refused(await(AgentInput.BuffersRegistered.class).call(), Refusal.LAYOUT_MISMATCH, "blocks differ", false);
        assertEquals("blocks differ", first.end().getDescription());
        new Rank(join(0).build());
        Rank again = new Rank(join(1).build());
        Eventually.await("they may try again", () -> inputs.stream().filter(AgentInput.BuffersRegistered.class::isInstance).count() == 2);
        server.close("the agent stops");
        assertEquals(Status.Code.ABORTED, again.end().getCode());
    }
}
