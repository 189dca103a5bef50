/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.directory.streams;

import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.stub.MetadataUtils;
import io.grpc.stub.StreamObserver;
import io.tierlog.controller.http.GrpcCalls;
import io.tierlog.controller.http.GrpcTls;
import io.tierlog.directory.v1.DirectoryPeerGrpc;
import io.tierlog.directory.v1.PeerRequest;
import io.tierlog.directory.v1.PeerResponse;
import io.tierlog.threads.Supervised;
import io.tierlog.tls.Tls;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/** Other instances over gRPC: one channel for each, the least recently used closed beyond 64. Safe for use by several threads. */
final class GrpcPeerLink implements PeerLink {
    private static final int CHANNELS = 64;
    private static final int MESSAGE_BYTES = 64 << 20;

    private final Optional<String> token;
    private final Tls tls;
    private final int deadlineMs;
    private final ExecutorService threads = Executors.newThreadPerTaskExecutor(Supervised.tasks("directory-peer"));
    private final Map<Owners.Peer, ManagedChannel> channels = new LinkedHashMap<>(16, 0.75f, true);
    private boolean closed;

    GrpcPeerLink(Optional<String> token, Tls tls, int deadlineMs) {
        this.token = token;
        this.tls = tls;
        this.deadlineMs = deadlineMs;
    }

    @Override
    public CompletableFuture<PeerResponse> ask(Owners.Peer peer, PeerRequest request) {
        CompletableFuture<PeerResponse> answer = new CompletableFuture<>();
        ManagedChannel channel;
        synchronized (channels) {
            if (closed) {
                answer.completeExceptionally(new IllegalStateException("this instance is closing"));
                return answer;
            }
            channel = channels.computeIfAbsent(peer, this::open);
            bound();
        }
        DirectoryPeerGrpc.DirectoryPeerStub stub = DirectoryPeerGrpc.newStub(channel).withDeadlineAfter(deadlineMs, TimeUnit.MILLISECONDS);
        if (token.isPresent()) {
            Metadata headers = new Metadata();
            headers.put(GrpcCalls.entry("authorization"), "Bearer " + token.get());
            stub = stub.withInterceptors(MetadataUtils.newAttachHeadersInterceptor(headers));
        }
        stub.ask(request, new Completion(answer));
        return answer;
    }

    private ManagedChannel open(Owners.Peer peer) {
        return GrpcTls.call(NettyChannelBuilder.forAddress(peer.host(), peer.port()), tls)
                .executor(threads)
                .maxInboundMessageSize(MESSAGE_BYTES)
                .build();
    }

    private void bound() {
        while (channels.size() > CHANNELS) {
            Owners.Peer oldest = channels.keySet().iterator().next();
            ManagedChannel gone = channels.remove(oldest);
            if (gone != null) {
                gone.shutdown();
            }
        }
    }

    @Override
    public void close() {
        synchronized (channels) {
            closed = true;
            channels.values().forEach(ManagedChannel::shutdownNow);
            channels.clear();
        }
        threads.shutdown();
    }

    /** One answer, or why there is none. */
    private record Completion(CompletableFuture<PeerResponse> answer) implements StreamObserver<PeerResponse> {
        @Override
        public void onNext(PeerResponse response) {
            answer.complete(response);
        }

        @Override
        public void onError(Throwable failure) {
            answer.completeExceptionally(failure);
        }

        @Override
        public void onCompleted() {
            // Of one that answered this is nothing new.
            answer.completeExceptionally(new IllegalStateException("the call ended without an answer"));
        }
    }
}
