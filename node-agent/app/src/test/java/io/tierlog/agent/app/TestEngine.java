/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app;

import com.google.protobuf.ByteString;
import io.grpc.Context;
import io.grpc.ManagedChannel;
import io.grpc.StatusRuntimeException;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.stub.StreamObserver;
import io.tierlog.engine.v1.EngineServiceGrpc;
import io.tierlog.engine.v1.Notice;
import io.tierlog.engine.v1.OpenRequest;
import io.tierlog.schemas.Bytes;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** An engine as a test needs it: a channel, a session, its notices. For one thread. */
public final class TestEngine implements AutoCloseable {
    private static final int PATIENCE_S = 20;

    private final ManagedChannel channel;
    private final EngineServiceGrpc.EngineServiceBlockingStub calls;
    private final BlockingQueue<Notice> notices = new LinkedBlockingQueue<>();
    private final AtomicReference<@Nullable Throwable> streamEnd = new AtomicReference<>();
    private final Context.CancellableContext session = Context.current().withCancellation();

    public TestEngine(int port) {
        channel = NettyChannelBuilder.forAddress("127.0.0.1", port).usePlaintext().build();
        calls = EngineServiceGrpc.newBlockingStub(channel);
    }

    /** Calls with a generous deadline. */
    public EngineServiceGrpc.EngineServiceBlockingStub calls() {
        return calls.withDeadlineAfter(PATIENCE_S, TimeUnit.SECONDS);
    }

    /** Opens a session and returns its id. */
    public String open(String instance) {
        session.run(() -> EngineServiceGrpc.newStub(channel)
                .open(OpenRequest.newBuilder().setInstance(instance).build(), new StreamObserver<>() {
                    @Override
                    public void onNext(Notice notice) {
                        notices.add(notice);
                    }

                    @Override
                    public void onError(Throwable error) {
                        streamEnd.set(error);
                    }

                    @Override
                    public void onCompleted() {
                        streamEnd.set(new StatusRuntimeException(io.grpc.Status.OK));
                    }
                }));
        Eventually.await("a first notice or an error", () -> !notices.isEmpty() || streamEnd.get() != null);
        if (streamEnd.get() instanceof StatusRuntimeException refused && notices.isEmpty()) {
            throw refused;
        }
        return notice().getOpened().getSession();
    }

    /** The next notice. */
    public Notice notice() {
        try {
            Notice next = notices.poll(PATIENCE_S, TimeUnit.SECONDS);
            if (next == null) {
                throw new AssertionError("no notice within " + PATIENCE_S + " s");
            }
            return next;
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    /** True when a notice has come that was not asked for yet. */
    public boolean hasNotice() {
        return !notices.isEmpty();
    }

    /** How the stream of notices ended; null while it has not. */
    public @Nullable Throwable streamEnd() {
        return streamEnd.get();
    }

    /** Ends the session in good order. */
    public void leave() {
        session.cancel(null);
    }

    public static ByteString bytes(Bytes key) {
        return ByteString.copyFrom(key.unshared());
    }

    @Override
    public void close() {
        channel.shutdownNow();
    }
}
