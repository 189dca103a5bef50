/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.directory.streams;

import io.grpc.ConnectivityState;
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

/**
 * Other instances over gRPC: one channel for each, the least recently used closed beyond 64. Safe for use by several threads.
 *
 * <p>One that cannot be reached is tried again every five seconds while it is asked: gRPC's own back-off grows to two minutes, in which a peer that
 * is back would be passed over.
 */
final class GrpcPeerLink implements PeerLink {
    private static final int CHANNELS = 64;
    private static final long AGAIN_MS = 5_000;
    private static final int MESSAGE_BYTES = 64 << 20;

    private final Optional<String> token;
    private final Tls tls;
    private final int deadlineMs;
    private final long againNs;
    private final ExecutorService threads = Executors.newThreadPerTaskExecutor(Supervised.tasks("directory-peer"));
    private final Map<Owners.Peer, Channel> channels = new LinkedHashMap<>(16, 0.75f, true);
    private boolean closed;

    /** A channel, and when it was last told to connect at once. */
    private static final class Channel {
        private final ManagedChannel grpc;
        private long triedNs;

        private Channel(ManagedChannel grpc) {
            this.grpc = grpc;
            triedNs = System.nanoTime();
        }
    }

    GrpcPeerLink(Optional<String> token, Tls tls, int deadlineMs) {
        this(token, tls, deadlineMs, AGAIN_MS);
    }

    /** {@code againMs}: how often a peer that cannot be reached is tried. */
    GrpcPeerLink(Optional<String> token, Tls tls, int deadlineMs, long againMs) {
        this.token = token;
        this.tls = tls;
        this.deadlineMs = deadlineMs;
        againNs = TimeUnit.MILLISECONDS.toNanos(againMs);
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
            channel = reachable(channels.computeIfAbsent(peer, this::open));
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

    private Channel open(Owners.Peer peer) {
        return new Channel(GrpcTls.callPeer(NettyChannelBuilder.forAddress(peer.host(), peer.port()), tls)
                .executor(threads)
                .maxInboundMessageSize(MESSAGE_BYTES)
                .build());
    }

    private ManagedChannel reachable(Channel channel) {
        long nowNs = System.nanoTime();
        if (nowNs - channel.triedNs > againNs && channel.grpc.getState(false) == ConnectivityState.TRANSIENT_FAILURE) {
            channel.triedNs = nowNs;
            channel.grpc.resetConnectBackoff();
        }
        return channel.grpc;
    }

    private void bound() {
        while (channels.size() > CHANNELS) {
            Owners.Peer oldest = channels.keySet().iterator().next();
            Channel gone = channels.remove(oldest);
            if (gone != null) {
                gone.grpc.shutdown();
            }
        }
    }

    @Override
    public void close() {
        synchronized (channels) {
            closed = true;
            channels.values().forEach(channel -> channel.grpc.shutdownNow());
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
