/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.http;

import io.grpc.Attributes;
import io.grpc.Context;
import io.grpc.ForwardingServerCallListener;
import io.grpc.Grpc;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.ServerStreamTracer;
import io.grpc.Status;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import io.grpc.netty.shaded.io.netty.channel.Channel;
import io.grpc.netty.shaded.io.netty.channel.ChannelHandlerContext;
import io.grpc.netty.shaded.io.netty.channel.ChannelInboundHandlerAdapter;
import io.grpc.netty.shaded.io.netty.channel.EventLoopGroup;
import io.grpc.netty.shaded.io.netty.channel.ServerChannel;
import io.grpc.netty.shaded.io.netty.channel.epoll.Epoll;
import io.grpc.netty.shaded.io.netty.channel.epoll.EpollEventLoopGroup;
import io.grpc.netty.shaded.io.netty.channel.epoll.EpollServerSocketChannel;
import io.grpc.netty.shaded.io.netty.channel.nio.NioEventLoopGroup;
import io.grpc.netty.shaded.io.netty.channel.socket.nio.NioServerSocketChannel;
import io.grpc.netty.shaded.io.netty.util.concurrent.DefaultThreadFactory;
import io.tierlog.threads.RareWarning;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.Comparator;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Limits the connections of one gRPC server over TCP, as {@link SlowClients} those of HTTP: one more evicts the one that has been without a call for
 * longest, so clients that only hold connections keep none from others. When all are in calls, it evicts the one whose calls have been silent for
 * longest, at least for {@value #SILENT_S} s; when there is none, the new connection is closed.
 *
 * <p>NettyServerBuilder takes a channel factory only together with both event loop groups, so this class owns them. Safe for use by several threads.
 */
public final class GrpcConnections implements AutoCloseable {
    /** Default of connections open at once. */
    public static final int MAX_CONNECTIONS = 2_048;

    /** Above the limit, while evicted connections are being closed. */
    private static final int CLOSING = 64;

    private static final int SILENT_S = 150;
    private static final long QUIET_MS = 0;
    private static final long END_MS = 2_000;

    private static final Logger LOG = LoggerFactory.getLogger(GrpcConnections.class);
    private static final Context.Key<CallTracer> TRACER = Context.key("tierlog-call-tracer");

    private final RareWarning refusals = new RareWarning(LOG);
    private final RareWarning evictions = new RareWarning(LOG);
    private final ConcurrentMap<Ends, Connection> connections = new ConcurrentHashMap<>();
    private final String option;
    private final int maxConnections;
    private final long leastSilenceNs;
    private final boolean epoll = Epoll.isAvailable();
    private final EventLoopGroup acceptor;
    private final EventLoopGroup workers;

    /** What tells one connection from all others. */
    private record Ends(@Nullable SocketAddress local, @Nullable SocketAddress remote) {
        static Ends of(Channel channel) {
            return new Ends(channel.localAddress(), channel.remoteAddress());
        }

        static Ends of(Attributes transport) {
            return new Ends(transport.get(Grpc.TRANSPORT_ATTR_LOCAL_ADDR), transport.get(Grpc.TRANSPORT_ATTR_REMOTE_ADDR));
        }
    }

    /** One open connection; its fields are guarded by itself. */
    private static final class Connection {
        private final Channel channel;
        private boolean evicted;
        private int calls;
        private long silentSinceNs = System.nanoTime();

        Connection(Channel channel) {
            this.channel = channel;
        }

        synchronized void changeCalls(int by) {
            calls += by;
            silentSinceNs = System.nanoTime();
        }

        synchronized void message() {
            silentSinceNs = System.nanoTime();
        }

        /** Higher is evicted first: those without a call before all others; negative: not at all. */
        synchronized long evictionRank(long nowNs, long leastSilenceNs) {
            long silentNs = Math.max(0, nowNs - silentSinceNs);
            if (evicted || (calls > 0 && silentNs < leastSilenceNs)) {
                return -1;
            }
            return calls > 0 ? silentNs : silentNs + Long.MAX_VALUE / 2;
        }

        /** Closes the socket. {@link Channel#close} would wait for gRPC, which lets calls end and waits 10 s for a client that is silent. */
        void evict() {
            synchronized (this) {
                evicted = true;
            }
            channel.eventLoop().execute(() -> channel.unsafe().close(channel.unsafe().voidPromise()));
        }
    }

    /**
     * A limit for a server that is not built yet.
     *
     * @param option the command-line flag of the server's address, for warnings and the names of threads
     * @param maxConnections open at once, 1 or more
     */
    public GrpcConnections(String option, int maxConnections) {
        this(option, maxConnections, Duration.ofSeconds(SILENT_S));
    }

    /** With another time for which calls may be silent while all connections are in calls. */
    GrpcConnections(String option, int maxConnections, Duration silence) {
        if (maxConnections < 1) {
            throw new IllegalArgumentException("Invalid maxConnections " + maxConnections + ": must be >= 1");
        }
        this.option = option;
        this.maxConnections = maxConnections;
        this.leastSilenceNs = silence.toNanos();
        String threads = option.replaceFirst("^-+", "");
        acceptor = loops(1, threads + "-accept");
        workers = loops(Runtime.getRuntime().availableProcessors(), threads);
    }

    private EventLoopGroup loops(int threads, String name) {
        DefaultThreadFactory factory = new DefaultThreadFactory(name, true);
        return epoll ? new EpollEventLoopGroup(threads, factory) : new NioEventLoopGroup(threads, factory);
    }

    /** Puts the limit on a server. */
    public NettyServerBuilder limit(NettyServerBuilder builder) {
        return builder.channelFactory(this::listening).bossEventLoopGroup(acceptor).workerEventLoopGroup(workers)
                .addStreamTracerFactory(new CallTracers()).intercept(new WholeRequests());
    }

    private ServerChannel listening() {
        ServerChannel channel = epoll ? new EpollServerSocketChannel() : new NioServerSocketChannel();
        channel.pipeline().addLast(new Admission());
        return channel;
    }

    /** How many are open. */
    int open() {
        return connections.size();
    }

    @Override
    public void close() {
        var _ = acceptor.shutdownGracefully(QUIET_MS, END_MS, TimeUnit.MILLISECONDS);
        var _ = workers.shutdownGracefully(QUIET_MS, END_MS, TimeUnit.MILLISECONDS);
    }

    /** Sees each accepted connection before gRPC does. */
    private final class Admission extends ChannelInboundHandlerAdapter {
        @Override
        public void channelRead(ChannelHandlerContext context, Object accepted) {
            if (accepted instanceof Channel channel && !admit(channel)) {
                channel.unsafe().closeForcibly(); // no event loop has it yet
            } else {
                context.fireChannelRead(accepted);
            }
        }
    }

    private boolean admit(Channel channel) {
        int open = connections.size();
        if (open >= maxConnections + CLOSING || (open >= maxConnections && !evictOne())) {
            refusals.warn("{}: {} connections are open, the most that it takes; one from {} was closed", option, open, channel.remoteAddress());
            return false;
        }
        Ends ends = Ends.of(channel);
        Connection connection = new Connection(channel);
        connections.put(ends, connection);
        var _ = channel.closeFuture().addListener(_ -> connections.remove(ends, connection));
        return true;
    }

    private boolean evictOne() {
        long nowNs = System.nanoTime();
        Optional<Connection> first = connections.values().stream().max(Comparator.comparingLong(one -> one.evictionRank(nowNs, leastSilenceNs)))
                .filter(one -> one.evictionRank(nowNs, leastSilenceNs) >= 0);
        first.ifPresent(one -> {
            one.evict();
            evictions.warn("{}: {} connections are open, the most that it takes; the one idle for longest is closed", option, maxConnections);
        });
        return first.isPresent();
    }

    /** Notes which connections have calls. */
    private final class CallTracers extends ServerStreamTracer.Factory {
        @Override
        public ServerStreamTracer newServerStreamTracer(String method, Metadata headers) {
            return new CallTracer();
        }
    }

    /**
     * One call. It counts once its request is complete: a unary call from the end of its request on, when its caller is authorized or refused, and
     * a stream from its first message on. So a client that begins calls holds no connection.
     */
    private final class CallTracer extends ServerStreamTracer {
        private @Nullable Connection connection;
        private boolean streams;
        private boolean counted;
        private boolean closed;

        @Override
        public Context filterContext(Context context) {
            return context.withValue(TRACER, this);
        }

        @Override
        public synchronized void serverCallStarted(ServerCallInfo<?, ?> call) {
            connection = connections.get(Ends.of(call.getAttributes()));
            streams = !call.getMethodDescriptor().getType().clientSendsOneMessage();
        }

        @Override
        public synchronized void inboundMessageRead(int number, long wireBytes, long bytes) {
            if (streams) {
                count();
            }
        }

        synchronized void count() {
            // The executor may be late: the stream can be closed before it is here.
            if (connection != null && !closed) {
                if (counted) {
                    connection.message();
                } else {
                    counted = true;
                    connection.changeCalls(1);
                }
            }
        }

        @Override
        public synchronized void outboundMessage(int number) {
            if (connection != null) {
                connection.message();
            }
        }

        @Override
        public synchronized void streamClosed(Status status) {
            closed = true;
            if (connection != null && counted) {
                counted = false;
                connection.changeCalls(-1);
            }
        }
    }

    /** Tells the tracer of a unary call that its request is complete: a tracer sees messages alone. */
    private static final class WholeRequests implements ServerInterceptor {
        @Override
        public <Q, A> ServerCall.Listener<Q> interceptCall(ServerCall<Q, A> call, Metadata headers, ServerCallHandler<Q, A> next) {
            ServerCall.Listener<Q> listener = next.startCall(call, headers);
            if (!call.getMethodDescriptor().getType().clientSendsOneMessage()) {
                return listener;
            }
            CallTracer tracer = TRACER.get();
            return new ForwardingServerCallListener.SimpleForwardingServerCallListener<>(listener) {
                @Override
                public void onHalfClose() {
                    tracer.count();
                    super.onHalfClose();
                }
            };
        }
    }
}
