/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.google.protobuf.ByteString;
import io.grpc.Context;
import io.grpc.Metadata;
import io.grpc.StatusRuntimeException;
import io.tierlog.agent.app.Eventually;
import io.tierlog.agent.app.memory.EnginePool;
import io.tierlog.agent.core.api.AgentInput;
import io.tierlog.agent.core.layout.KvLayout;
import io.tierlog.agent.core.port.DeviceFault;
import io.tierlog.agent.core.port.EngineReplies.Refusal;
import io.tierlog.agent.core.port.MemoryHandle;
import io.tierlog.engine.v1.BlockPage;
import io.tierlog.engine.v1.LoadReply;
import io.tierlog.engine.v1.LoadRequest;
import io.tierlog.engine.v1.Notice;
import io.tierlog.engine.v1.OpenRequest;
import io.tierlog.engine.v1.Opened;
import io.tierlog.schemas.Bytes;
import java.util.ArrayList;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What becomes of a load's pages when its caller goes, at moments that no real connection can be held at. */
class EngineGrpcServiceTest {
    private final List<AgentInput> inputs = new CopyOnWriteArrayList<>(); // a deadline comes from a thread of its own
    private final EngineSessions sessions = new EngineSessions(2);
    private final PendingCalls pending = new PendingCalls(8);
    private final GrpcEngineReplies replies = new GrpcEngineReplies(sessions, pending, inputs::add);
    private final EngineGrpcService service = service(EngineApiLimits.DEFAULTS);
    private final TestCaller<Notice> notices = new TestCaller<>();
    private final TestCaller<LoadReply> caller = new TestCaller<>();

    private EngineGrpcService service(EngineApiLimits limits) {
        return new EngineGrpcService(
                new EngineServer.Wiring("n", new AgreedLayouts(Layouts.opaque(100, 16), 1), inputs::add, inputs::add, new NoPools(),
                        () -> new EngineApiHealth(true, 1, 1, 0, 0, 0)),
                limits, sessions, pending);
    }

    private static final class NoPools implements EngineServer.Pools {
        @Override
        public EnginePool open(List<KvLayout> layouts, List<MemoryHandle> handles) throws DeviceFault {
            throw new DeviceFault(DeviceFault.Kind.UNSUPPORTED, "no memory here");
        }

        @Override
        public void attach(EnginePool pool) {
            throw new IllegalStateException("nothing was opened");
        }
    }

    @AfterEach
    void close() {
        pending.close();
    }

    /** Opens a session of 16 pages and asks to load block 0 into page 5; the number of the call. */
    private long loading() {
        service.open(OpenRequest.newBuilder().setInstance("gpu0").build(), notices);
        replies.done(last(AgentInput.SessionOpened.class).call());
        String session = notices.received.removeFirst().getOpened().getSession();
        EngineSession opened = sessions.find(session);
        if (opened == null) {
            throw new NoSuchElementException(session);
        }
        opened.devicePages(16);
        service.load(load(session).build(), caller);
        AgentInput.LoadCalled asked = last(AgentInput.LoadCalled.class);
        assertEquals(Bytes.wrapUnshared(new byte[8]), asked.blocks().getFirst().key());
        return asked.call();
    }

    private static LoadRequest.Builder load(String session) {
        return LoadRequest.newBuilder().setSession(session).setRequest("r").setAttempt(1).setNamespace("m").setLease("l")
                .addBlocks(BlockPage.newBuilder().setKey(ByteString.copyFrom(new byte[8])).setPage(5).setGeneration(1));
    }

    private <I extends AgentInput> I last(Class<I> type) {
        return inputs.stream().filter(type::isInstance).map(type::cast).toList().getLast();
    }

    /** How often the core received that the load's caller has gone; with its pages, and after the load. */
    private long toldGone(long call) {
        AgentInput.CallGone expected = new AgentInput.CallGone(call, last(AgentInput.LoadCalled.class).attempt(), List.of(5));
        assertEquals(expected, inputs.getLast());
        assertEquals(List.of(), notices.received, "the core names the pages when they are free");
        return inputs.stream().filter(expected::equals).count();
    }

    @Test
    void theFirstNoticeNamesTheBounds() {
        service.open(OpenRequest.newBuilder().setInstance("gpu0").build(), notices);
        replies.done(last(AgentInput.SessionOpened.class).call());
        Opened opened = notices.received.getFirst().getOpened();
        assertEquals(List.of(65_536, 4_096), List.of(opened.getPromptBlocks(), opened.getCallBlocks()));
    }

    @Test
    void aCallerThatLeavesBeforeItsReplyIsReportedToTheCore() {
        long call = loading();
        caller.vanish();
        assertEquals(1, toldGone(call));
        replies.loaded(call, 1, "");
        assertEquals(List.of(), caller.received, "no caller receives it");
    }

    @Test
    void aCallerThatLeavesBeforeItReceivesItsReplyIsReportedToTheCore() {
        long call = loading();
        replies.loaded(call, 1, "");
        assertEquals(1, caller.received.getFirst().getLoaded());
        caller.vanish();
        assertEquals(1, toldGone(call));
    }

    @Test
    void aCallerThatLeavesBeforeItReceivesARefusalIsReportedToTheCore() {
        long call = loading();
        replies.refused(call, Refusal.BAD_ARGUMENT, "page 5 is pinned", false);
        assertEquals(1, caller.errors.size());
        caller.vanish();
        assertEquals(1, toldGone(call));
    }

    @Test
    void aCallThatIsLateOnArrivalIsReportedToTheCoreOnce() throws Exception {
        long before = loading();
        replies.loaded(before, 1, "");
        LoadRequest again = load(sessionOf(last(AgentInput.LoadCalled.class))).build();
        TestCaller<LoadReply> second = new TestCaller<>();
        Context.CancellableContext over = Context.current().withCancellation();
        over.cancel(null);
        over.call(() -> {
            service.load(again, second);
            return again;
        });
        assertEquals("EXPIRED", refusal(second.errors.getLast()));
        assertEquals(1, toldGone(before + 1));
        second.vanish();
        assertEquals(1, toldGone(before + 1));
    }

    /** The core takes the session after its opening was refused for want of time. */
    @Test
    void anOpeningThatTookTooLongIsClosed() {
        EngineGrpcService hurried = service(new EngineApiLimits(16, 4, 100, 100, 100, 1));
        hurried.open(OpenRequest.newBuilder().setInstance("gpu0").build(), notices);
        AgentInput.SessionOpened opened = last(AgentInput.SessionOpened.class);
        Eventually.await("its time is over", () -> inputs.size() == 2);
        assertEquals(new AgentInput.SessionClosed(opened.session(), false), inputs.getLast());
        assertEquals("EXPIRED", refusal(notices.errors.getFirst()));
        replies.done(opened.call());
        notices.vanish();
        assertEquals(2, inputs.size());
        assertEquals(List.of(), notices.received);
    }

    /** It is over while the core is being given it. */
    @Test
    void aDepartureIsReportedOnceAndAfterTheCall() {
        List<String> said = new ArrayList<>();
        Departure departure = new Departure(() -> said.add("gone"));
        departure.gone();
        assertEquals(List.of(), said);
        departure.passed();
        departure.gone();
        assertEquals(List.of("gone"), said);
    }

    private static String refusal(Throwable error) {
        Metadata trailers = ((StatusRuntimeException) error).getTrailers();
        return trailers == null ? "" : String.valueOf(trailers.get(EngineErrors.REFUSAL));
    }

    private static String sessionOf(AgentInput.LoadCalled asked) {
        return asked.attempt().session();
    }
}
