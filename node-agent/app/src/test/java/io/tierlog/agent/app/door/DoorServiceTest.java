/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.door;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.google.protobuf.ByteString;
import io.grpc.stub.ServerCallStreamObserver;
import io.tierlog.agent.app.Layouts;
import io.tierlog.agent.app.memory.EnginePool;
import io.tierlog.agent.core.AgentInput;
import io.tierlog.agent.core.layout.KvLayout;
import io.tierlog.agent.core.port.DeviceFault;
import io.tierlog.agent.core.port.EngineReplies.Refusal;
import io.tierlog.agent.core.port.MemoryHandle;
import io.tierlog.door.v1.BlockPage;
import io.tierlog.door.v1.LoadReply;
import io.tierlog.door.v1.LoadRequest;
import io.tierlog.door.v1.Notice;
import io.tierlog.door.v1.OpenRequest;
import io.tierlog.schemas.Bytes;
import java.util.ArrayList;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What becomes of a load's pages when its caller goes, at moments that no real connection can be held at. */
class DoorServiceTest {
    private final List<AgentInput> inputs = new ArrayList<>();
    private final DoorSessions sessions = new DoorSessions(2);
    private final PendingCalls pending = new PendingCalls(8);
    private final DoorReplies replies = new DoorReplies(sessions, pending, inputs::add);
    private final DoorService service = new DoorService(
            new DoorServer.Wiring("n", new Agreed(Layouts.opaque(100, 16), 1), inputs::add, inputs::add, new NoPools(),
                    () -> new DoorHealth(true, 1, 1, 0, 0, 0)),
            DoorLimits.DEFAULTS, sessions, pending);
    private final Caller<Notice> notices = new Caller<>();
    private final Caller<LoadReply> caller = new Caller<>();

    private static final class NoPools implements DoorServer.Pools {
        @Override
        public EnginePool open(List<KvLayout> layouts, List<MemoryHandle> handles) throws DeviceFault {
            throw new DeviceFault(DeviceFault.Kind.UNSUPPORTED, "no memory here");
        }

        @Override
        public void attach(EnginePool pool) {
            throw new IllegalStateException("nothing was opened");
        }
    }

    /** The server's side of a call, whose connection ends when the test says so. */
    private static final class Caller<T> extends ServerCallStreamObserver<T> {
        private final List<T> heard = new ArrayList<>();
        private final List<Throwable> errors = new ArrayList<>();
        private Optional<Runnable> cancelled = Optional.empty();

        void vanish() {
            cancelled.orElseThrow().run();
        }

        @Override
        public boolean isCancelled() {
            return false;
        }

        @Override
        public void setOnCancelHandler(Runnable handler) {
            cancelled = Optional.of(handler);
        }

        @Override
        public void setCompression(String compression) {}

        @Override
        public boolean isReady() {
            return true;
        }

        @Override
        public void setOnReadyHandler(Runnable handler) {}

        @Override
        public void disableAutoInboundFlowControl() {}

        @Override
        public void request(int count) {}

        @Override
        public void setMessageCompression(boolean enable) {}

        @Override
        public void onNext(T value) {
            heard.add(value);
        }

        @Override
        public void onError(Throwable error) {
            errors.add(error);
        }

        @Override
        public void onCompleted() {}
    }

    @AfterEach
    void close() {
        pending.close();
    }

    /** Opens a session of 16 pages and asks to load block 0 into page 5; the number of the call. */
    private long loading() {
        service.open(OpenRequest.newBuilder().setInstance("gpu0").build(), notices);
        replies.done(last(AgentInput.SessionOpened.class).call());
        String session = notices.heard.removeFirst().getOpened().getSession();
        DoorSession opened = sessions.find(session);
        if (opened == null) {
            throw new NoSuchElementException(session);
        }
        opened.devicePages(16);
        service.load(
                LoadRequest.newBuilder().setSession(session).setRequest("r").setAttempt(1).setNamespace("m").setLease("l")
                        .addBlocks(BlockPage.newBuilder().setKey(ByteString.copyFrom(new byte[8])).setPage(5).setGeneration(1))
                        .build(),
                caller);
        AgentInput.LoadAsked asked = last(AgentInput.LoadAsked.class);
        assertEquals(Bytes.wrapUnshared(new byte[8]), asked.blocks().getFirst().key());
        return asked.call();
    }

    private <I extends AgentInput> I last(Class<I> type) {
        return inputs.stream().filter(type::isInstance).map(type::cast).toList().getLast();
    }

    @Test
    void aCallerThatGoesBeforeItsAnswerIsToldToTheCore() {
        long call = loading();

        caller.vanish();

        assertEquals(call, last(AgentInput.CallGone.class).call());
        replies.loaded(call, 1, "");
        assertEquals(List.of(), caller.heard, "nobody hears it");
        assertEquals(List.of(), notices.heard, "the core names the pages when they are free");
    }

    @Test
    void aCallerThatGoesBeforeItHearsItsAnswerIsToldThatItsPagesAreFree() {
        replies.loaded(loading(), 1, "");
        assertEquals(1, caller.heard.getFirst().getLoaded());

        caller.vanish();

        assertEquals(List.of(5), notices.heard.getFirst().getReleased().getPagesList());
        assertEquals("r", notices.heard.getFirst().getReleased().getRequest());
        assertThrows(NoSuchElementException.class, () -> last(AgentInput.CallGone.class));
    }

    /** Its pages may be pinned by what it was refused for. */
    @Test
    void aCallerThatGoesBeforeItHearsARefusalHearsNothing() {
        replies.refused(loading(), Refusal.BAD_ARGUMENT, "page 5 is pinned", false);
        assertEquals(1, caller.errors.size());

        caller.vanish();

        assertEquals(List.of(), notices.heard);
    }
}
