/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.http;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.ConnectivityState;
import io.grpc.ForwardingServerCallListener;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.Server;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.ServerInterceptors;
import io.grpc.ServerServiceDefinition;
import io.grpc.ServerStreamTracer;
import io.grpc.Status;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.ServerCalls;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A gRPC server with more connections than it keeps. */
class GrpcConnectionsTest {
    private static final int MAX = 8;
    private static final int BURST = 40;
    private static final int ATTEMPTS = 100;
    private static final int PATIENCE_S = 60;
    private static final int ECHO_S = 20;
    /** Well below the 10 s that gRPC gives a silent client when its server closes it. */
    private static final int EVICTED_MS = 7_000;
    private static final MethodDescriptor<byte[], byte[]> ECHO = RawMessages.method("test.Calls/Echo", MethodType.UNARY);
    private static final MethodDescriptor<byte[], byte[]> HOLD = RawMessages.method("test.Calls/Hold", MethodType.UNARY);
    /** The same method for a client that does not end its request with the message. */
    private static final MethodDescriptor<byte[], byte[]> UNENDED = RawMessages.method("test.Calls/Hold", MethodType.BIDI_STREAMING);
    private static final MethodDescriptor<byte[], byte[]> STREAM = RawMessages.method("test.Calls/Stream", MethodType.BIDI_STREAMING);

    private final BlockingQueue<StreamObserver<byte[]>> held = new LinkedBlockingQueue<>();
    private final BlockingQueue<byte[]> begun = new LinkedBlockingQueue<>();
    private final List<AutoCloseable> opened = new ArrayList<>();
    private final Server server;

    GrpcConnectionsTest() throws IOException {
        server = server(new GrpcConnections("test", MAX), builder -> {});
    }

    private Server server(GrpcConnections connections, Consumer<NettyServerBuilder> more) throws IOException {
        NettyServerBuilder builder = connections.limit(NettyServerBuilder.forAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0)))
                .addService(ServerInterceptors.intercept(service(), new Messages()));
        more.accept(builder);
        Server started = builder.build().start();
        opened.add(() -> {
            started.shutdownNow().awaitTermination(PATIENCE_S, TimeUnit.SECONDS);
            connections.close();
        });
        return started;
    }

    private ServerServiceDefinition service() {
        return ServerServiceDefinition.builder("test.Calls")
                .addMethod(ECHO, ServerCalls.<byte[], byte[]>asyncUnaryCall((in, out) -> {
                    out.onNext(in);
                    out.onCompleted();
                }))
                .addMethod(HOLD, ServerCalls.<byte[], byte[]>asyncUnaryCall((in, out) -> held.add(out)))
                .addMethod(STREAM, ServerCalls.<byte[], byte[]>asyncBidiStreamingCall(out -> {
                    held.add(out);
                    return new Ignored();
                }))
                .build();
    }

    /** Notes each message of a request, whole or not yet ended. */
    private final class Messages implements ServerInterceptor {
        @Override
        public <Q, A> ServerCall.Listener<Q> interceptCall(ServerCall<Q, A> call, Metadata headers, ServerCallHandler<Q, A> next) {
            return new ForwardingServerCallListener.SimpleForwardingServerCallListener<>(next.startCall(call, headers)) {
                @Override
                public void onMessage(Q message) {
                    begun.add((byte[]) message);
                    super.onMessage(message);
                }
            };
        }
    }

    private static final class Ignored implements StreamObserver<byte[]> {
        @Override
        public void onNext(byte[] value) {}

        @Override
        public void onError(Throwable why) {}

        @Override
        public void onCompleted() {}
    }

    @AfterEach
    void end() throws Exception {
        for (AutoCloseable one : opened.reversed()) {
            one.close();
        }
    }

    private ManagedChannel client() {
        return client(server);
    }

    private ManagedChannel client(Server of) {
        ManagedChannel channel = NettyChannelBuilder.forAddress("127.0.0.1", of.getPort()).usePlaintext().build();
        opened.add(channel::shutdownNow);
        return channel;
    }

    private static byte[] echo(ManagedChannel client) {
        return ClientCalls.blockingUnaryCall(client, ECHO, CallOptions.DEFAULT.withWaitForReady().withDeadlineAfter(ECHO_S, TimeUnit.SECONDS),
                new byte[] {7});
    }

    private Future<byte[]> hold(ManagedChannel client) {
        return ClientCalls.futureUnaryCall(
                client.newCall(HOLD, CallOptions.DEFAULT.withDeadlineAfter(PATIENCE_S, TimeUnit.SECONDS)), new byte[] {9});
    }

    private static Runnable next(BlockingQueue<Runnable> tasks) throws InterruptedException {
        Runnable next = tasks.poll(PATIENCE_S, TimeUnit.SECONDS);
        assertNotNull(next);
        return next;
    }

    private Socket connected() throws IOException {
        return connected(server);
    }

    private Socket connected(Server to) throws IOException {
        Socket socket = new Socket(InetAddress.getLoopbackAddress(), to.getPort());
        opened.add(socket);
        return socket;
    }

    private static boolean isClosed(Socket socket, int withinMs) throws IOException {
        long endNs = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(withinMs);
        byte[] settings = new byte[256]; // the server's, which come first
        while (System.nanoTime() < endNs) {
            socket.setSoTimeout(withinMs);
            try {
                if (socket.getInputStream().read(settings) < 0) {
                    return true;
                }
            } catch (SocketTimeoutException e) {
                return false;
            } catch (SocketException e) {
                return true;
            }
        }
        return false;
    }

    @Test
    void clientsThatOnlyHoldConnectionsKeepNoneFromOthers() throws Exception {
        List<Socket> idle = new ArrayList<>();
        for (int i = 0; i < BURST; i++) {
            idle.add(connected());
        }
        assertArrayEquals(new byte[] {7}, echo(client()));
        for (int i = 0; i < BURST - MAX; i++) {
            assertTrue(isClosed(idle.get(i), EVICTED_MS), "the oldest are closed first: " + i);
        }
    }

    @Test
    void aConnectionInACallIsKept() throws Exception {
        Future<byte[]> answer = hold(client());
        StreamObserver<byte[]> call = held.poll(PATIENCE_S, TimeUnit.SECONDS);
        for (int i = 0; i < BURST; i++) {
            connected();
        }
        assertArrayEquals(new byte[] {7}, echo(client()), "all of the burst are accepted before this one");
        call.onNext(new byte[] {8});
        call.onCompleted();
        assertArrayEquals(new byte[] {8}, answer.get(PATIENCE_S, TimeUnit.SECONDS));
    }

    @Test
    void oneMoreIsClosedWhileAllAreInCallsAndTakenOnceOneHasEnded() throws Exception {
        List<Future<byte[]>> answers = new ArrayList<>();
        List<StreamObserver<byte[]>> calls = new ArrayList<>();
        for (int i = 0; i < MAX; i++) {
            answers.add(hold(client()));
            calls.add(held.poll(PATIENCE_S, TimeUnit.SECONDS));
        }
        assertTrue(isClosed(connected(), EVICTED_MS));
        for (StreamObserver<byte[]> call : calls) {
            call.onNext(new byte[] {8});
            call.onCompleted();
        }
        for (Future<byte[]> answer : answers) {
            assertArrayEquals(new byte[] {8}, answer.get(PATIENCE_S, TimeUnit.SECONDS), "none of them was closed");
        }
        assertArrayEquals(new byte[] {7}, echo(client()), "an idle one makes way");
    }

    /** All are in calls, and the first has been silent for longest. */
    @Test
    void aConnectionWhoseCallsAreSilentMakesWay() throws Exception {
        Server impatient = server(new GrpcConnections("impatient", MAX, Duration.ofMillis(100)), builder -> {});
        List<Future<byte[]>> answers = new ArrayList<>();
        List<StreamObserver<byte[]>> calls = new ArrayList<>();
        for (int i = 0; i < MAX; i++) {
            answers.add(hold(client(impatient)));
            calls.add(held.poll(PATIENCE_S, TimeUnit.SECONDS));
        }
        assertArrayEquals(new byte[] {7}, echo(client(impatient)));
        assertThrows(ExecutionException.class, () -> answers.getFirst().get(EVICTED_MS, TimeUnit.MILLISECONDS));
        calls.getLast().onNext(new byte[] {8});
        calls.getLast().onCompleted();
        assertArrayEquals(new byte[] {8}, answers.getLast().get(PATIENCE_S, TimeUnit.SECONDS));
    }

    /** The executor is late: the call ends after its request was read and before it is handled. So its connection is the one idle for longest. */
    @Test
    void aCallThatEndedBeforeItWasHandledHoldsNoConnection() throws Exception {
        BlockingQueue<Runnable> late = new LinkedBlockingQueue<>();
        Semaphore started = new Semaphore(0);
        Semaphore ended = new Semaphore(0);
        Server slow = server(new GrpcConnections("slow", MAX), builder -> builder.executor(late::add)
                .addStreamTracerFactory(new ServerStreamTracer.Factory() {
                    @Override
                    public ServerStreamTracer newServerStreamTracer(String method, Metadata headers) {
                        return new ServerStreamTracer() {
                            @Override
                            public void serverCallStarted(ServerCallInfo<?, ?> call) {
                                started.release();
                            }

                            @Override
                            public void streamClosed(Status status) {
                                ended.release();
                            }
                        };
                    }
                }));
        ManagedChannel client = client(slow);
        // A client that ends its call may drop the end of its request: then again.
        for (int i = 0; i < ATTEMPTS && held.isEmpty(); i++) {
            ClientCall<byte[], byte[]> call = client.newCall(UNENDED, CallOptions.DEFAULT);
            call.start(new ClientCall.Listener<>() {}, new Metadata());
            while (!started.tryAcquire()) {
                next(late).run();
            }
            call.sendMessage(new byte[] {9});
            call.halfClose();
            Runnable request = next(late);
            call.cancel("the caller ends it", null);
            assertTrue(ended.tryAcquire(PATIENCE_S, TimeUnit.SECONDS));
            for (Runnable task = request; task != null; task = late.poll()) {
                task.run();
            }
        }
        assertNotNull(held.poll(), "the whole request was handled after the end of its call");
        Socket second = connected(slow);
        for (int i = 2; i < MAX; i++) {
            connected(slow);
        }
        CountDownLatch left = new CountDownLatch(1);
        client.notifyWhenStateChanged(ConnectivityState.READY, left::countDown);
        connected(slow);
        assertTrue(left.await(EVICTED_MS, TimeUnit.MILLISECONDS), "it is closed for one more");
        assertFalse(isClosed(second, 500));
    }

    /** A stream without a message, and a unary call whose request does not end: a caller that shows no token can begin both. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void callsThatOnlyBeginHoldNoConnection(boolean unary) throws Exception {
        for (int i = 0; i < MAX; i++) {
            ClientCall<byte[], byte[]> call = client().newCall(unary ? UNENDED : STREAM, CallOptions.DEFAULT);
            opened.add(() -> call.cancel("the test is over", null));
            call.start(new ClientCall.Listener<>() {}, new Metadata());
            call.request(1);
            if (unary) {
                call.sendMessage(new byte[] {9});
                assertNotNull(begun.poll(PATIENCE_S, TimeUnit.SECONDS), "the server has the message");
            } else {
                assertNotNull(held.poll(PATIENCE_S, TimeUnit.SECONDS), "the server has the call");
            }
        }
        assertArrayEquals(new byte[] {7}, echo(client()));
    }

    /** The real server, with its own limit. */
    @Test
    void aServerHasTheLimit() throws Exception {
        try (GrpcServer real = new GrpcServer(
                new Listener("--test-listen", new Endpoint("127.0.0.1", 0), new ServerLimits(1 << 20, 8, 4)), List.of(() -> service()), 4)) {
            List<Socket> idle = new ArrayList<>();
            for (int i = 0; i <= GrpcConnections.MAX_CONNECTIONS; i++) {
                Socket socket = new Socket(InetAddress.getLoopbackAddress(), real.port());
                opened.add(socket);
                idle.add(socket);
            }
            assertTrue(isClosed(idle.getFirst(), EVICTED_MS));
        }
    }
}
