/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.peer;

import com.google.protobuf.ByteString;
import io.grpc.Metadata;
import io.grpc.Server;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.Status;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.StreamObserver;
import io.tierlog.directory.v1.DirectoryGrpc;
import io.tierlog.directory.v1.LookupRequest;
import io.tierlog.directory.v1.LookupResponse;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** A gRPC server where a directory would stand: what it answers a test decides; null leaves a call open. Safe for use by several threads. */
final class DirectoryStand extends DirectoryGrpc.DirectoryImplBase implements AutoCloseable {
    private final Answers answer;
    private final Server server;
    final List<LookupRequest> asked = new CopyOnWriteArrayList<>();
    private final List<StreamObserver<LookupResponse>> open = new CopyOnWriteArrayList<>();

    /** What is answered; null leaves the call open. */
    interface Answers {
        @Nullable LookupResponse to(LookupRequest request);
    }

    DirectoryStand(Optional<String> bearer, Answers answer) throws IOException {
        this.answer = answer;
        this.server = NettyServerBuilder.forAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                .addService(this)
                .intercept(new ServerInterceptor() {
                    @Override
                    public <Q, A> ServerCall.Listener<Q> interceptCall(ServerCall<Q, A> call, Metadata headers, ServerCallHandler<Q, A> next) {
                        if (bearer.isPresent() && !bearer.get().equals(headers.get(PeerToken.AUTHORIZATION))) {
                            call.close(Status.UNAUTHENTICATED, new Metadata());
                            return new ServerCall.Listener<>() {};
                        }
                        return next.startCall(call, headers);
                    }
                })
                .build()
                .start();
    }

    PeerAddress address() {
        return new PeerAddress("127.0.0.1", server.getPort());
    }

    /** The keys of a question. */
    static List<ByteString> keys(LookupRequest request) {
        List<ByteString> keys = new CopyOnWriteArrayList<>();
        for (int at = 0; at < request.getPackedKeys().size(); at += request.getKeyBytes()) {
            keys.add(request.getPackedKeys().substring(at, at + request.getKeyBytes()));
        }
        return keys;
    }

    @Override
    public void lookup(LookupRequest request, StreamObserver<LookupResponse> answers) {
        asked.add(request);
        @Nullable LookupResponse response = answer.to(request);
        if (response == null) {
            open.add(answers);
        } else {
            answers.onNext(response);
            answers.onCompleted();
        }
    }

    /** Calls that are open, count. */
    int open() {
        return open.size();
    }

    @Override
    public void close() {
        server.shutdownNow();
        try {
            server.awaitTermination(10, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
