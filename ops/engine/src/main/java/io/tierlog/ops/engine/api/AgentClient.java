/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.engine.api;

import com.google.protobuf.ByteString;
import io.grpc.ManagedChannel;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.ClientCallStreamObserver;
import io.grpc.stub.ClientResponseObserver;
import io.tierlog.engine.v1.EngineServiceGrpc;
import io.tierlog.engine.v1.HealthRequest;
import io.tierlog.engine.v1.Notice;
import io.tierlog.engine.v1.OpenRequest;
import io.tierlog.engine.v1.Opened;
import io.tierlog.engine.v1.RegisterBuffersRequest;
import io.tierlog.engine.v1.Released;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps one session with the agent of a node: opens it, and opens another when it is lost, with a back-off that doubles. Sessions are sought in a
 * virtual thread of its own; {@link #current} never blocks.
 */
public final class AgentClient implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(AgentClient.class);
    private static final long CLOSE_MS = 5_000;
    private static final long POLL_MS = 20;

    private final Terms terms;
    private final Listener listener;
    private final Thread keeper;
    private final CompletableFuture<String> hopeless = new CompletableFuture<>();
    private final CountDownLatch firstSession = new CountDownLatch(1);
    private final AtomicInteger sessions = new AtomicInteger();
    private volatile Optional<AgentSession> current = Optional.empty();
    private final CompletableFuture<String> closed = new CompletableFuture<>();

    /**
     * With whom to open sessions, and as whom.
     *
     * @param instance name of the engine on its node
     * @param blockBytes size of a device page
     * @param layoutDigest digest of the layouts, which must equal the agent's
     * @param configuration effective options of the engine, for the record
     */
    public record Terms(
            AgentAddress address, String instance, long blockBytes, ByteString layoutDigest, Map<String, String> configuration, Timeouts timeouts) {}

    /** What happens to sessions. Called from the threads of the client; must not block for long. */
    public interface Listener {
        /** The buffers that a new session shall know. */
        Buffers buffers();

        /** The agent of {@code session} has released pages. */
        void released(AgentSession session, Released notice);

        /** {@code session} is over; no other begins before this returns. */
        void lost(AgentSession session, String reason);
    }

    /** A device pool at one moment: its file, its number of pages, and the epoch that names both. */
    public record Buffers(String path, int pages, long epoch) {}

    /** Begins to seek a session at once, unless there is no agent. */
    public AgentClient(Terms terms, Listener listener) {
        this.terms = terms;
        this.listener = listener;
        this.keeper = Thread.ofVirtual().name("engine-api-" + terms.instance).unstarted(this::keep);
    }

    /** Starts to seek sessions, when there is an agent to seek. */
    public void start() {
        if (!(terms.address instanceof AgentAddress.None)) {
            keeper.start();
        }
    }

    /** The session to use now. */
    public Optional<AgentSession> current() {
        return current.filter(AgentSession::isOpen);
    }

    /** Sessions opened so far. */
    public int sessions() {
        return sessions.get();
    }

    /** Why no session will ever be opened; empty while there is hope. */
    public Optional<String> hopeless() {
        return Optional.ofNullable(hopeless.getNow(null));
    }

    /** Waits for the first session; false when there is none after {@code timeoutMs}, or never will be. */
    public boolean awaitSession(long timeoutMs) throws InterruptedException {
        firstSession.await(timeoutMs, TimeUnit.MILLISECONDS);
        return current().isPresent();
    }

    private void keep() {
        long backoffMs = terms.timeouts.firstBackoffMs();
        try {
            while (!isOver()) {
                long start = System.nanoTime();
                runSession();
                boolean lasted = System.nanoTime() - start > TimeUnit.MILLISECONDS.toNanos(terms.timeouts.lastBackoffMs());
                backoffMs = lasted ? terms.timeouts.firstBackoffMs() : Math.min(terms.timeouts.lastBackoffMs(), backoffMs * 2);
                if (!isOver()) {
                    pause(backoffMs);
                }
            }
        } catch (InterruptedException e) {
            throw new IllegalStateException("the keeper of a session was interrupted", e);
        } finally {
            firstSession.countDown();
        }
    }

    private boolean isOver() {
        return closed.isDone() || hopeless.isDone();
    }

    private void pause(long timeMs) throws InterruptedException {
        try {
            closed.get(timeMs, TimeUnit.MILLISECONDS);
        } catch (TimeoutException e) {
            LOG.debug("{} seeks its agent again", terms.instance);
        } catch (ExecutionException e) {
            throw new IllegalStateException("it never fails", e);
        }
    }

    /** Opens one session and stays until it has ended, or until it could not be opened. */
    private void runSession() throws InterruptedException {
        ManagedChannel channel = terms.address.open();
        Notices notices = new Notices();
        try {
            EngineServiceGrpc.newStub(channel).open(OpenRequest.newBuilder().setInstance(terms.instance).build(), notices);
            CompletableFuture.anyOf(notices.opened, closed).get(terms.timeouts.callMs(), TimeUnit.MILLISECONDS);
            if (closed.isDone()) {
                return;
            }
            Opened opened = notices.opened.get();
            if (opened.getBlockBytes() != terms.blockBytes) {
                giveUp("the agent of node " + opened.getNode() + " moves blocks of " + opened.getBlockBytes() + " bytes, the engine has pages of "
                        + terms.blockBytes + "; start both with the same block size");
                return;
            }
            AgentSession session = register(channel, opened.getSession());
            notices.session = Optional.of(session);
            var _ = closed.thenAccept(session::end);
            var _ = notices.ended.thenAccept(session::end);
            serve(session);
        } catch (ExecutionException | TimeoutException e) {
            LOG.debug("no session for {}: {}", terms.instance, e.toString());
        } catch (StatusRuntimeException e) {
            switch (e.getStatus().getCode()) {
                case FAILED_PRECONDITION, INVALID_ARGUMENT, UNIMPLEMENTED, PERMISSION_DENIED ->
                    giveUp("the agent refuses the engine's buffers: " + e.getStatus().getDescription());
                default -> LOG.debug("no session for {}: {}", terms.instance, e.toString());
            }
        } finally {
            notices.cancel();
            channel.shutdownNow();
            channel.awaitTermination(CLOSE_MS, TimeUnit.MILLISECONDS);
        }
    }

    private void giveUp(String reason) {
        LOG.error("{} goes on without tiers: {}", terms.instance, reason);
        hopeless.complete(reason);
    }

    private AgentSession register(ManagedChannel channel, String id) {
        Buffers buffers = listener.buffers();
        EngineServiceGrpc.EngineServiceBlockingStub stub = EngineServiceGrpc.newBlockingStub(channel);
        stub.withDeadlineAfter(terms.timeouts.callMs(), TimeUnit.MILLISECONDS)
                .registerBuffers(RegisterBuffersRequest.newBuilder()
                        .setSession(id)
                        .setSharedMemoryPath(buffers.path)
                        .setPages(buffers.pages)
                        .setBlockBytes(terms.blockBytes)
                        .setLayoutDigest(terms.layoutDigest)
                        .putAllConfiguration(terms.configuration)
                        .build());
        return new AgentSession(id, buffers.epoch, terms.timeouts, stub);
    }

    private void serve(AgentSession session) throws InterruptedException {
        sessions.incrementAndGet();
        current = Optional.of(session);
        firstSession.countDown();
        try {
            session.ended().get();
        } catch (ExecutionException e) {
            throw new IllegalStateException("it never fails", e);
        } finally {
            current = Optional.empty();
            session.end("the engine closes");
            if (!closed.isDone()) {
                LOG.warn("{} has lost its agent and goes on without tiers: {}", terms.instance, session.ended().join());
            }
            listener.lost(session, session.ended().join());
        }
    }

    /** Whether the agent is on the log by now; waits up to {@code timeoutMs} for it. */
    public boolean awaitOnTheLog(long timeoutMs) throws InterruptedException {
        ManagedChannel channel = terms.address.open();
        try {
            EngineServiceGrpc.EngineServiceBlockingStub stub = EngineServiceGrpc.newBlockingStub(channel);
            long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(timeoutMs);
            while (!isOnTheLog(stub)) {
                if (System.nanoTime() > end) {
                    return false;
                }
                Thread.sleep(POLL_MS);
            }
            return true;
        } finally {
            channel.shutdownNow();
            channel.awaitTermination(CLOSE_MS, TimeUnit.MILLISECONDS);
        }
    }

    private boolean isOnTheLog(EngineServiceGrpc.EngineServiceBlockingStub stub) {
        try {
            return stub.withDeadlineAfter(terms.timeouts.callMs(), TimeUnit.MILLISECONDS)
                    .health(HealthRequest.getDefaultInstance())
                    .getOnTheLog();
        } catch (StatusRuntimeException e) {
            LOG.debug("{} cannot ask for the agent's health: {}", terms.instance, e.getStatus());
            return false;
        }
    }

    /** Ends the session in good order and seeks no other. */
    @Override
    public void close() {
        closed.complete("the engine closes");
        current.ifPresent(session -> session.end("the engine closes"));
        try {
            if (keeper.isAlive()) {
                keeper.join();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** The stream of notices of one attempt to have a session. */
    private final class Notices implements ClientResponseObserver<OpenRequest, Notice> {
        private final CompletableFuture<Opened> opened = new CompletableFuture<>();
        /** Present once its buffers are registered; only then can requests be named in notices. */
        private volatile Optional<AgentSession> session = Optional.empty();
        private final CompletableFuture<String> ended = new CompletableFuture<>();
        private volatile Optional<ClientCallStreamObserver<OpenRequest>> call = Optional.empty();

        @Override
        public void beforeStart(ClientCallStreamObserver<OpenRequest> stream) {
            call = Optional.of(stream);
        }

        @Override
        public void onNext(Notice notice) {
            switch (notice.getNoticeCase()) {
                case OPENED -> opened.complete(notice.getOpened());
                case READY -> session.ifPresent(s -> s.ready(notice.getReady()));
                case RELEASED -> session.ifPresent(s -> listener.released(s, notice.getReleased()));
                // The engine model has let go of what did not come to the host when it finished; its pages come back by Released.
                case FAILED -> LOG.debug("{}: {} blocks did not come to the host: {}", terms.instance, notice.getFailed().getPagesCount(),
                        notice.getFailed().getReason());
                // Only a session whose ranks join has it; the engine model hands over its pool by itself.
                case REGISTERED -> LOG.debug("{}: the memory of all ranks is registered", terms.instance);
                case CLOSING -> {
                    LOG.info("the agent of {} closes: {}", terms.instance, notice.getClosing().getReason());
                    session.ifPresent(AgentSession::closing);
                }
                case NOTICE_NOT_SET -> LOG.warn("{} got a notice of a kind it does not know", terms.instance);
            }
        }

        @Override
        public void onError(Throwable error) {
            opened.completeExceptionally(error);
            ended.complete("the agent's notices broke off: " + Status.fromThrowable(error));
        }

        @Override
        public void onCompleted() {
            opened.completeExceptionally(new IllegalStateException("the agent closed the session before it was open"));
            ended.complete("the agent closed the session");
        }

        private void cancel() {
            call.ifPresent(stream -> stream.cancel("the engine closes the session", null));
        }
    }
}
