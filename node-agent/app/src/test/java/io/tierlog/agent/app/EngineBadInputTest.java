/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app;

import static io.tierlog.agent.app.EngineMessages.load;
import static io.tierlog.agent.app.EngineMessages.page;
import static io.tierlog.agent.app.EngineMessages.submit;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.Context;
import io.grpc.ForwardingClientCall.SimpleForwardingClientCall;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.tierlog.agent.app.EngineWorld.Held;
import io.tierlog.agent.app.engine.Cable;
import io.tierlog.agent.app.engine.EngineApiLimits;
import io.tierlog.agent.core.api.AgentCounter;
import io.tierlog.agent.core.copy.Direction;
import io.tierlog.engine.v1.KvLayer;
import io.tierlog.engine.v1.LoadRequest;
import io.tierlog.engine.v1.MemoryRegion;
import io.tierlog.engine.v1.Offer;
import io.tierlog.engine.v1.RegisterBuffersRequest;
import io.tierlog.engine.v1.ReleaseRequest;
import io.tierlog.engine.v1.Released;
import io.tierlog.engine.v1.ReserveRequest;
import io.tierlog.engine.v1.SubmitRequest;
import io.tierlog.schemas.event.EngineDetached;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

/**
 * Bad input over real gRPC to a real core with an emulated device: each is a status with a reason, and afterwards as many pages are
 * free and pinned as before. Four blocks of the prompt serve on the host.
 */
class EngineBadInputTest extends WarmEngineServer {
    private static final Metadata.Key<String> REFUSAL = Metadata.Key.of("tierlog-refusal", Metadata.ASCII_STRING_MARSHALLER);
    private static final Metadata.Key<String> POSITION = Metadata.Key.of("tierlog-position", Metadata.ASCII_STRING_MARSHALLER);
    private static final Metadata.Key<String> TIMEOUT = Metadata.Key.of("grpc-timeout", Metadata.ASCII_STRING_MARSHALLER);
    private static final Held BEFORE = new Held(EngineWorld.HOST_PAGES - 4, 0, 0, 0);

    private SubmitRequest request() {
        return submit(session, "r1", 4);
    }

    private LoadRequest.Builder loadOf(Offer offer, int blocks, int firstPage) {
        return load(request(), offer, blocks, firstPage).toBuilder();
    }

    @Test
    void anOverlappingLayout() {
        TestEngine other = world.engine();
        String second = other.open("gpu1");
        RegisterBuffersRequest.Builder overlapping = world.buffers(second).setSharedMemoryPath("")
                .addRegions(MemoryRegion.newBuilder().setBase(0x1000).setBytes(16_000).setSharedMemoryPath(world.file.toString()))
                .addLayers(layer("0").setOffset(0))
                .addLayers(layer("1").setOffset(7_500));
        String why = refused(Status.Code.INVALID_ARGUMENT, "BAD_ARGUMENT", () -> other.calls().registerBuffers(overlapping.build()));
        assertTrue(why.startsWith("LAYERS_OVERLAP"), why);
        world.assertHeld(BEFORE);
    }

    private static KvLayer.Builder layer(String name) {
        return KvLayer.newBuilder().setName(name).setRegion(0).setSize(8_000).setBlocks(16).setSegmentBytes(500).setSegments(1);
    }

    @Test
    void aWrongDigest() {
        TestEngine other = world.engine();
        String second = other.open("gpu1");
        refused(Status.Code.FAILED_PRECONDITION, "LAYOUT_MISMATCH", () -> other.calls().registerBuffers(
                world.buffers(second).setLayoutDigest(ByteString.copyFrom(new byte[32])).build()));
        world.assertHeld(BEFORE);
    }

    @Test
    void aPoolOfOtherSizes() {
        TestEngine other = world.engine();
        String second = other.open("gpu1");
        refused(Status.Code.INVALID_ARGUMENT, "BAD_ARGUMENT", () -> other.calls().registerBuffers(world.buffers(second).setBlockBytes(999).build()));
        refused(Status.Code.FAILED_PRECONDITION, "LAYOUT_MISMATCH", () -> other.calls().registerBuffers(world.buffers(second).setPages(17).build()));
        world.assertHeld(BEFORE);
    }

    @Test
    void aPrefillCostThatCannotBe() {
        for (long wrong : new long[] {-1, 1_000_000_001}) {
            String why = refused(Status.Code.INVALID_ARGUMENT, "BAD_ARGUMENT",
                    () -> engine.calls().submit(request().toBuilder().setPrefillNsPerToken(wrong).build()));
            assertEquals("prefill_ns_per_token is " + wrong + ", must be 0 (not known) to 1000000000", why);
        }
        world.assertHeld(BEFORE);
    }

    @Test
    void moreDestinationsThanOffered() {
        Offer offer = world.offered(engine, request());
        LoadRequest.Builder five = loadOf(offer, 4, 4).addBlocks(page(4, 8));
        String why = refused(Status.Code.INVALID_ARGUMENT, "BAD_ARGUMENT", () -> engine.calls().load(five.build()));
        assertTrue(why.contains("another key than in the prompt"), why);
        world.assertHeld(BEFORE);
    }

    @Test
    void aBlockOfThePromptThatIsNotOffered() {
        SubmitRequest longer = submit(session, "r1", 6);
        Offer offer = world.offered(engine, longer);
        assertEquals(4, offer.getSourcesCount());
        refused(Status.Code.FAILED_PRECONDITION, "NOT_OFFERED", () -> engine.calls().load(load(longer, offer, 6, 4)));
        world.assertHeld(BEFORE);
    }

    @Test
    void aDestinationThatIsNamedTwice() {
        Offer offer = world.offered(engine, request());
        refused(Status.Code.INVALID_ARGUMENT, "BAD_ARGUMENT", () -> engine.calls().load(loadOf(offer, 4, 4).setBlocks(3, page(3, 4)).build()));
        world.assertHeld(BEFORE);
    }

    @Test
    void aDestinationOutsideOfThePool() {
        Offer offer = world.offered(engine, request());
        refused(Status.Code.INVALID_ARGUMENT, "BAD_ARGUMENT", () -> engine.calls().load(loadOf(offer, 4, EngineWorld.PAGES - 3).build()));
        refused(Status.Code.NOT_FOUND, "UNKNOWN_LEASE", () -> giveUp(offer.getLease()));
        world.assertHeld(BEFORE);
    }

    @Test
    void anUnknownLease() {
        Offer offer = world.offered(engine, request());
        refused(Status.Code.NOT_FOUND, "UNKNOWN_LEASE", () -> engine.calls().load(loadOf(offer, 4, 4).setLease("a/lease/1/99").build()));
        refused(Status.Code.NOT_FOUND, "UNKNOWN_LEASE", () -> giveUp("a/lease/1/99"));
        refused(Status.Code.INVALID_ARGUMENT, "BAD_ARGUMENT", () -> engine.calls().load(loadOf(offer, 4, 4).clearLease().build()));
        assertEquals(4, engine.calls().load(loadOf(offer, 4, 4).build()).getLoaded());
        refused(Status.Code.NOT_FOUND, "UNKNOWN_LEASE", () -> engine.calls().load(loadOf(offer, 4, 8).build()));
        refused(Status.Code.NOT_FOUND, "UNKNOWN_LEASE", () -> giveUp(offer.getLease()));
        world.assertHeld(BEFORE);
    }

    @Test
    void aReservationOfWhatIsNotThere() {
        StatusRuntimeException missing = assertThrows(StatusRuntimeException.class, () -> engine.calls().reserve(
                ReserveRequest.newBuilder().setSession(session).setNamespace(AgentAppTest.NAMESPACE).addAllKeys(request().getKeysList())
                        .addKeys(TestEngine.bytes(ScriptedController.key(7))).build()));
        assertEquals(Status.Code.NOT_FOUND, missing.getStatus().getCode());
        Metadata trailers = missing.getTrailers();
        assertNotNull(trailers);
        assertEquals(List.of("NOT_HELD", "4"), List.of(trailers.get(REFUSAL), trailers.get(POSITION)));
        world.assertHeld(BEFORE);
    }

    @Test
    void anExpiredDeadlineOnArrivalStartsNothing() {
        long submitted = world.status().count(AgentCounter.SUBMITTED);
        StatusRuntimeException late = assertThrows(StatusRuntimeException.class, () -> engine.calls().withDeadline(null)
                .withInterceptors(timeout("1n")).submit(request()));
        assertTrue(List.of(Status.Code.DEADLINE_EXCEEDED, Status.Code.CANCELLED).contains(late.getStatus().getCode()), late::toString);
        world.offered(engine, submit(session, "r2", 4)); // whatever had come before would have been taken by now
        Eventually.await("r2 is counted", () -> world.status().count(AgentCounter.SUBMITTED) > submitted);
        assertEquals(submitted + 1, world.status().count(AgentCounter.SUBMITTED));
        engine.leave();
        world.assertHeld(BEFORE);
    }

    /** Says a deadline that the client does not watch. */
    private static ClientInterceptor timeout(String value) {
        return new ClientInterceptor() {
            @Override
            public <Q, R> ClientCall<Q, R> interceptCall(MethodDescriptor<Q, R> method, CallOptions options, Channel next) {
                return new SimpleForwardingClientCall<>(next.newCall(method, options)) {
                    @Override
                    public void start(Listener<R> listener, Metadata headers) {
                        headers.put(TIMEOUT, value);
                        super.start(listener, headers);
                    }
                };
            }
        };
    }

    @Test
    void aDeadlineThatPassesInMidLoadKeepsThePagesUntilTheStreamIsIdle() {
        Offer offer = world.offered(engine, request());
        world.gate(Direction.LOAD).pauseAfter(0);
        StatusRuntimeException late = assertThrows(StatusRuntimeException.class, () -> engine.calls()
                .withDeadlineAfter(300, TimeUnit.MILLISECONDS).load(loadOf(offer, 4, 4).build()));
        assertEquals(Status.Code.DEADLINE_EXCEEDED, late.getStatus().getCode());
        Eventually.await("the API has noticed", () -> world.server.waitingCalls() == 0);
        assertMoving();
        assertFalse(engine.hasNotice(), "nothing is released while it moves");
        refused(Status.Code.NOT_FOUND, "UNKNOWN_LEASE", () -> giveUp(offer.getLease()));

        world.gate(Direction.LOAD).resume();
        Released released = engine.notice().getReleased();
        assertEquals(List.of("r1", 1, List.of(4, 5, 6, 7)), List.of(released.getRequest(), released.getAttempt(), released.getPagesList()));
        world.assertHeld(BEFORE);
    }

    private void assertMoving() {
        assertTrue(world.gate(Direction.LOAD).holds());
        Eventually.await("its pages are pinned", () -> world.held().devicePins() == 4 && world.held().hostPins() >= 4);
    }

    @Test
    void theApisOwnDeadlineEndsACallWithoutOne() throws Exception {
        restart(new EngineApiLimits(16, 4, 100, 100, 100, 400));
        Offer offer = world.offered(engine, request());
        world.gate(Direction.LOAD).pauseAfter(0);
        String why = refused(Status.Code.DEADLINE_EXCEEDED, "EXPIRED", () -> engine.calls().withDeadline(null).load(loadOf(offer, 4, 4).build()));
        assertTrue(why.contains("400 ms"), why);
        assertMoving();
        world.gate(Direction.LOAD).resume();
        assertEquals(4, engine.notice().getReleased().getPagesCount());
        world.assertHeld(BEFORE);
    }

    @Test
    void aSecondSessionOfTheInstance() {
        String why = refused(Status.Code.ALREADY_EXISTS, "INSTANCE_TAKEN", () -> world.engine().open("gpu0"));
        assertTrue(why.contains("gpu0"), why);
        TestEngine other = world.engine();
        String second = other.open("gpu1");
        refused(Status.Code.ALREADY_EXISTS, "INSTANCE_TAKEN", () -> other.calls().registerBuffers(world.buffers(second).build()));
        world.assertHeld(BEFORE);
        engine.leave();
        Eventually.await("the instance is free again", () -> {
            try {
                return !world.engine().open("gpu0").isEmpty();
            } catch (StatusRuntimeException e) {
                return false;
            }
        });
    }

    @Test
    void aClientThatVanishesInMidLoad() throws Exception {
        engine.leave();
        world.await(EngineDetached.class);
        try (Cable cable = new Cable(world.server.port())) {
            TestEngine vanishing = world.engine(cable.port());
            session = world.attach(vanishing);
            Offer offer = world.offered(vanishing, request());
            world.gate(Direction.LOAD).pauseAfter(0);
            CompletableFuture<?> call = later(() -> vanishing.calls().load(loadOf(offer, 4, 4).build()));
            Eventually.await("the load moves", () -> world.gate(Direction.LOAD).holds());
            cable.cut();
            assertThrows(Exception.class, () -> call.get(20, TimeUnit.SECONDS));
        }
        Eventually.await("its session ends", () -> world.events.stream().filter(EngineDetached.class::isInstance).count() == 2);
        assertTrue(world.held().hostPins() >= 4, "host pages stay pinned while bytes may move");
        assertEquals(1, world.held().operations());
        world.gate(Direction.LOAD).resume();
        world.assertHeld(BEFORE);
    }

    @Test
    void aCallThatIsCancelledInMidLoad() {
        Offer offer = world.offered(engine, request());
        world.gate(Direction.LOAD).pauseAfter(0);
        Context.CancellableContext caller = Context.current().withCancellation();
        CompletableFuture<?> call = later(() -> {
            try {
                return caller.call(() -> engine.calls().load(loadOf(offer, 4, 4).build()));
            } catch (StatusRuntimeException e) {
                throw e;
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        });
        Eventually.await("the load moves", () -> world.gate(Direction.LOAD).holds());
        caller.cancel(null);
        assertThrows(Exception.class, () -> call.get(20, TimeUnit.SECONDS));
        Eventually.await("the API has noticed", () -> world.server.waitingCalls() == 0);
        world.gate(Direction.LOAD).resume();
        assertEquals(List.of(4, 5, 6, 7), engine.notice().getReleased().getPagesList());
        world.assertHeld(BEFORE);
    }

    @Test
    void aReservationThatIsLoadedOutsideOfRequestsHoldsNothingAfterwards() throws Exception {
        var reserved = engine.calls().reserve(ReserveRequest.newBuilder().setSession(session).setNamespace(AgentAppTest.NAMESPACE)
                .addAllKeys(request().getKeysList()).setLeaseMs(10_000).build());
        assertEquals(10_000, reserved.getLeaseMs());
        Eventually.await("all are pinned", () -> world.held().hostPins() == 4);
        LoadRequest load = loadOf(Offer.getDefaultInstance(), 4, 8).clearRequest().clearAttempt().setLease(reserved.getLease()).build();
        assertEquals(4, engine.calls().load(load).getLoaded());
        for (int i = 0; i < 4; i++) {
            world.assertOnDevice(i, 8 + i);
        }
        refused(Status.Code.NOT_FOUND, "UNKNOWN_LEASE", () -> engine.calls().load(load));
        world.assertHeld(BEFORE);
    }

    private void giveUp(String lease) {
        engine.calls().release(ReleaseRequest.newBuilder().setSession(session).setLease(lease).build());
    }

    private static String refused(Status.Code code, String reason, Executable call) {
        StatusRuntimeException refusal = assertThrows(StatusRuntimeException.class, call);
        String description = String.valueOf(refusal.getStatus().getDescription());
        assertEquals(code, refusal.getStatus().getCode(), description);
        Metadata trailers = refusal.getTrailers();
        assertNotNull(trailers);
        assertEquals(reason, trailers.get(REFUSAL));
        assertFalse(description.isBlank());
        return description;
    }

    static <T> CompletableFuture<T> later(Supplier<T> call) {
        return CompletableFuture.supplyAsync(call, command -> Thread.ofPlatform().daemon().start(command));
    }
}
