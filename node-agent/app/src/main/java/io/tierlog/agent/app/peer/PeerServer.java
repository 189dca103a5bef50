/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.peer;

import io.grpc.Metadata;
import io.grpc.Server;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.ServerServiceDefinition;
import io.grpc.Status;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import io.tierlog.agent.app.memory.HostPool;
import io.tierlog.agent.core.api.AgentInput;
import io.tierlog.agent.core.api.AgentInput.PeerReadCalled;
import io.tierlog.agent.core.port.PeerReplies;
import io.tierlog.controller.http.GrpcConnections;
import io.tierlog.controller.http.GrpcTls;
import io.tierlog.peer.v1.PeerServiceGrpc;
import io.tierlog.peer.v1.ReadReply;
import io.tierlog.peer.v1.ReadRequest;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.PeerReadReason;
import io.tierlog.threads.Supervised;
import io.tierlog.tls.Tls;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.Predicate;

/**
 * The peer API: the agents of other nodes read the blocks that the core shares with them. Calls become inputs of the core, whose answers come through
 * {@link PeerReplies}. Safe for use by several threads.
 */
public final class PeerServer implements PeerReplies, AutoCloseable {
    private static final int END_S = 2;
    private static final int KEEP_ALIVE_S = 20;

    private final PeerAddress address;
    private final PeerLimits limits;
    private final Predicate<AgentInput> calls;
    private final ExecutorService senders;
    private final ScheduledExecutorService clock;
    private final PeerSend.SendContext context;
    private final GrpcConnections connections;
    private final Server server;
    private final AtomicLong lastCall = new AtomicLong();
    private final Map<Long, PeerSend> open = new ConcurrentHashMap<>();
    private final Map<Long, ScheduledFuture<?>> ends = new ConcurrentHashMap<>();

    /**
     * The collaborators of the server.
     *
     * @param address where it listens
     * @param token that callers send; empty accepts every caller that reaches it, which only loopback may
     * @param tls of the process
     * @param host whose pages are sent
     * @param calls takes a call for the core; false when its inbox is full
     * @param posts takes the end of a read; always
     * @param gate what stands before every chunk
     */
    public record Wiring(
            PeerAddress address, Optional<PeerToken> token, Tls tls, HostPool host, Predicate<AgentInput> calls, Consumer<AgentInput> posts,
            PeerGate gate) {
        public Wiring {
            if (token.isEmpty() && !address.isLoopback()) {
                throw new IllegalArgumentException("a peer API that other machines reach (" + address + ") needs a token: give --peer-token-file");
            }
        }
    }

    /** A server that does not listen yet; {@code name} begins the names of its threads. */
    public PeerServer(String name, Wiring wiring, PeerLimits limits) {
        this.address = wiring.address();
        this.limits = limits;
        this.calls = wiring.calls();
        this.senders = Executors.newFixedThreadPool(limits.threads(), Supervised.pool(name + "-peer-send"));
        this.clock = Supervised.scheduler(name + "-peer-clock");
        this.context = new PeerSend.SendContext(wiring.host(), limits, wiring.gate(), new PeerPace(limits.bytesPerSecond(), clock), this::sender,
                wiring.posts()::accept, this::ended);
        this.connections = new GrpcConnections("--peer-listen", GrpcConnections.MAX_CONNECTIONS);
        NettyServerBuilder builder = connections.limit(NettyServerBuilder.forAddress(new InetSocketAddress(address.host(), address.port())));
        this.server = GrpcTls.serve(builder, wiring.tls())
                .executor(senders)
                .keepAliveTime(KEEP_ALIVE_S, TimeUnit.SECONDS)
                .permitKeepAliveTime(1, TimeUnit.SECONDS)
                .intercept(new Guard(wiring.token()))
                .addService(new Service())
                .build();
    }

    /** Refuses calls without the token. */
    private static final class Guard implements ServerInterceptor {
        private final Optional<PeerToken> token;

        Guard(Optional<PeerToken> token) {
            this.token = token;
        }

        @Override
        public <Q, A> ServerCall.Listener<Q> interceptCall(ServerCall<Q, A> call, Metadata headers, ServerCallHandler<Q, A> next) {
            if (token.isPresent() && !token.get().isShownBy(headers.get(PeerToken.AUTHORIZATION))) {
                call.close(Status.UNAUTHENTICATED.withDescription("the call shows no token that is known here: give --peer-token-file the file that"
                        + " this agent has"), new Metadata());
                return new ServerCall.Listener<>() {};
            }
            return next.startCall(call, headers);
        }
    }

    private final class Service extends PeerServiceGrpc.PeerServiceImplBase {
        @Override
        public void read(ReadRequest request, StreamObserver<ReadReply> replies) {
            ServerCallStreamObserver<ReadReply> reader = (ServerCallStreamObserver<ReadReply>) replies;
            if (request.getKeysCount() < 1 || request.getKeysCount() > limits.blocksPerCall()) {
                String rule = "a read names 1 to " + limits.blocksPerCall() + " blocks";
                reader.onError(Status.INVALID_ARGUMENT.withDescription(rule).asRuntimeException());
                return;
            }
            begin(request, reader);
        }
    }

    private void begin(ReadRequest request, ServerCallStreamObserver<ReadReply> reader) {
        PeerSend send = new PeerSend(lastCall.incrementAndGet(), request, reader, context);
        reader.setOnReadyHandler(send::drain);
        reader.setOnCancelHandler(() -> send.giveUp(PeerReadReason.CANCELLED, Status.CANCELLED));
        if (open.size() >= limits.calls()) {
            reader.onError(Status.UNAVAILABLE.withDescription(open.size() + " reads are under way").asRuntimeException());
            return;
        }
        open.put(send.call(), send);
        ScheduledFuture<?> end = clock.schedule(
                () -> send.giveUp(PeerReadReason.EXPIRED, Status.DEADLINE_EXCEEDED), limits.readMs(), TimeUnit.MILLISECONDS);
        ends.put(send.call(), end);
        List<Bytes> keys = new ArrayList<>(request.getKeysCount());
        request.getKeysList().forEach(key -> keys.add(Bytes.wrapUnshared(key.toByteArray())));
        if (!calls.test(new PeerReadCalled(send.call(), request.getGrant(), request.getAsker(), request.getNamespace(), keys))) {
            send.giveUp(PeerReadReason.BUSY, Status.UNAVAILABLE.withDescription("the agent has all the calls it can take"));
        }
    }

    private void sender(Runnable task) {
        try {
            senders.execute(task);
        } catch (RejectedExecutionException e) {
            task.run(); // the server closes: it finds that its read is over
        }
    }

    private void ended(PeerSend send) {
        open.remove(send.call());
        ScheduledFuture<?> end = ends.remove(send.call());
        if (end != null) {
            end.cancel(false);
        }
    }

    @Override
    public void retry(long call, long afterMs) {
        PeerSend send = open.get(call);
        if (send != null) {
            send.retry(afterMs);
        }
    }

    @Override
    public void refuse(long call, PeerReadReason why) {
        PeerSend send = open.get(call);
        if (send != null) {
            send.refuse(why);
        }
    }

    @Override
    public void send(long call, List<LeasedPage> pages) {
        PeerSend send = open.get(call);
        if (send != null) {
            send.send(pages);
        } else {
            context.posts().accept(new AgentInput.PeerReadFinished(call, 0, 0, PeerReadReason.CANCELLED, List.of()));
        }
    }

    /**
     * Starts to listen.
     *
     * @throws PeerServerException when the address is in use or not of this machine
     */
    public PeerServer start() {
        try {
            server.start();
            return this;
        } catch (IOException e) {
            throw new PeerServerException("the peer API cannot listen at " + address + ": " + e.getMessage(), e);
        }
    }

    /** What answers its calls. */
    List<ServerServiceDefinition> services() {
        return server.getServices();
    }

    /** The port it listens on. */
    public int port() {
        return server.getPort();
    }

    /** Ends every read and closes; no page is read afterwards. */
    @Override
    public void close() {
        server.shutdown();
        open.values().forEach(send -> send.giveUp(PeerReadReason.CANCELLED, Status.UNAVAILABLE.withDescription("the agent stops")));
        try {
            if (!server.awaitTermination(END_S, TimeUnit.SECONDS)) {
                server.shutdownNow();
                server.awaitTermination(END_S, TimeUnit.SECONDS);
            }
        } catch (InterruptedException e) {
            server.shutdownNow();
            Thread.currentThread().interrupt();
        }
        connections.close();
        clock.shutdownNow();
        senders.shutdown();
    }
}
