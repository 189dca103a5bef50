/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.peer;

import com.google.protobuf.ByteString;
import io.grpc.Deadline;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.stub.MetadataUtils;
import io.grpc.stub.StreamObserver;
import io.tierlog.agent.core.api.AgentInput;
import io.tierlog.agent.core.api.AgentInput.PeersFound;
import io.tierlog.agent.core.port.PeerFinder;
import io.tierlog.controller.http.GrpcTls;
import io.tierlog.directory.v1.DirectoryGrpc;
import io.tierlog.directory.v1.LookupRequest;
import io.tierlog.directory.v1.LookupResponse;
import io.tierlog.directory.v1.NodePrefix;
import io.tierlog.directory.v1.TierPrefix;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.Tier;
import io.tierlog.tls.Tls;
import io.tierlog.tls.TlsFault;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Queries a directory over gRPC for the other nodes that have blocks. Safe for use by several threads; no thread waits. The answer is empty when the
 * directory does not reply in time, or refuses: a request never waits longer for a directory. A long prompt is asked about in parts, and of an answer
 * that is not there in time the parts before it count. Trade-off: an answer may be out of date. A node that
 * has dropped the block refuses the read, and the store is read instead.
 */
public final class DirectoryPeers implements PeerFinder, AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(DirectoryPeers.class);
    private static final int MESSAGE_BYTES = 4 << 20;
    /** Keys of one call; a directory takes 10,000. */
    private static final int PART = 8_192;
    private static final int END_S = 2;

    private final String node;
    private final Access access;
    private final Bounds bounds;
    private final Consumer<AgentInput> completions;
    private final ManagedChannel channel;
    private final DirectoryGrpc.DirectoryStub stub;
    private final AtomicInteger underWay = new AtomicInteger();
    private final AtomicBoolean failing = new AtomicBoolean();
    private final LongAdder answered = new LongAdder();
    private final LongAdder failed = new LongAdder();
    private final LongAdder refused = new LongAdder();

    /**
     * Which directory is asked, and as whom.
     *
     * @param address of its gRPC API
     * @param token that is shown: a reader's at least; empty for a directory that asks for none
     * @param tls of the process
     */
    public record Access(PeerAddress address, Optional<PeerToken> token, Tls tls) {
        /** Without TLS. */
        public Access(PeerAddress address, Optional<PeerToken> token) {
            this(address, token, Tls.NONE);
        }

        public Access {
            if (address.port() == 0) {
                throw new IllegalArgumentException("--directory " + address + " names no port; a directory listens on 8083 by default");
            }
        }

        /** The same with TLS. */
        public Access with(Tls other) {
            return new Access(address, token, other);
        }
    }

    /**
     * What bounds it.
     *
     * @param waitMs how long an answer is waited for, in milliseconds, 1 or more
     * @param calls calls under way at once, 1 or more; beyond them the answer is empty
     */
    public record Bounds(long waitMs, int calls) {
        public Bounds {
            if (waitMs < 1 || calls < 1) {
                throw new IllegalArgumentException("bounds are 1 or more: waitMs " + waitMs + ", calls " + calls);
            }
        }
    }

    /**
     * How its calls have ended.
     *
     * @param answered by the directory, with holders or without
     * @param failed late, refused or not answered
     * @param refused never begun: too many were under way, or the keys are none that a directory knows
     */
    public record Lookups(long answered, long failed, long refused) {}

    /**
     * Begins to connect.
     *
     * @param node name of this node, which the directory leaves out of its answers
     * @param completions receives the end of every call, once
     */
    public DirectoryPeers(String node, Access access, Bounds bounds, Consumer<AgentInput> completions) {
        this.node = node;
        this.access = access;
        this.bounds = bounds;
        this.completions = completions;
        this.channel = GrpcTls.call(NettyChannelBuilder.forAddress(access.address().host(), access.address().port()), access.tls())
                .directExecutor() // an answer is some hundred bytes to be turned around
                .maxInboundMessageSize(MESSAGE_BYTES)
                .build();
        DirectoryGrpc.DirectoryStub made = DirectoryGrpc.newStub(channel);
        if (access.token().isPresent()) {
            Metadata metadata = new Metadata();
            metadata.put(PeerToken.AUTHORIZATION, access.token().get().bearer());
            made = made.withInterceptors(MetadataUtils.newAttachHeadersInterceptor(metadata));
        }
        this.stub = made;
        channel.getState(true);
    }

    @Override
    public void find(long unit, String namespace, int firstIndex, List<Bytes> keys) {
        int width = keys.isEmpty() ? 0 : keys.getFirst().size();
        boolean alike = width > 0 && keys.stream().allMatch(key -> key.size() == width);
        if (!alike || !begins()) {
            refused.increment();
            completions.accept(new PeersFound(unit, List.of()));
            return;
        }
        new Search(unit, namespace, firstIndex, keys, Deadline.after(bounds.waitMs(), TimeUnit.MILLISECONDS)).ask(0, List.of());
    }

    /** One question in parts of at most {@link #PART} keys: the next part is asked while a node has all of those before it. */
    private final class Search {
        private final long unit;
        private final String namespace;
        private final int firstIndex;
        private final List<Bytes> keys;
        private final Deadline deadline;

        Search(long unit, String namespace, int firstIndex, List<Bytes> keys, Deadline deadline) {
            this.unit = unit;
            this.namespace = namespace;
            this.firstIndex = firstIndex;
            this.keys = keys;
            this.deadline = deadline;
        }

        void ask(int from, List<Holder> before) {
            List<Bytes> part = keys.subList(from, Math.min(keys.size(), from + PART));
            int width = part.getFirst().size();
            LookupRequest request = LookupRequest.newBuilder()
                    .setNamespace(namespace)
                    .setPackedKeys(packed(part, width))
                    .setKeyBytes(width)
                    .setFirstIndex(firstIndex + from)
                    .setNode(node)
                    .build();
            stub.withDeadline(deadline).lookup(request, new Answer(this, from, part.size(), before));
        }

        /** The answer to a part, with what is known of those before it. */
        void answered(int from, int size, List<Holder> before, List<Holder> here) {
            List<Holder> all = from == 0 ? here : joined(from, before, here);
            if (from + size < keys.size() && all.stream().anyMatch(holder -> holder.blocks() == from + size)) {
                ask(from + size, all);
            } else {
                end(all);
            }
        }

        void end(List<Holder> holders) {
            underWay.decrementAndGet();
            completions.accept(new PeersFound(unit, holders));
        }
    }

    /** A node that has all of the parts before has what it has of this one, too. */
    private static List<Holder> joined(int from, List<Holder> before, List<Holder> here) {
        return before.stream().map(holder -> {
            Optional<Holder> more = holder.blocks() < from ? Optional.empty()
                    : here.stream().filter(other -> other.node().equals(holder.node())).findFirst();
            return more.map(found -> new Holder(holder.node(), holder.address(),
                    holder.tier() == Tier.HOST && found.tier() == Tier.HOST ? Tier.HOST : Tier.DISK, from + found.blocks())).orElse(holder);
        }).toList();
    }

    private boolean begins() {
        boolean fits = underWay.incrementAndGet() <= bounds.calls();
        if (!fits) {
            underWay.decrementAndGet();
        }
        return fits;
    }

    private static ByteString packed(List<Bytes> keys, int width) {
        ByteString.Output packed = ByteString.newOutput(keys.size() * width);
        keys.forEach(key -> packed.write(key.unshared(), 0, width));
        return packed.toByteString();
    }

    /** The observer of one call. gRPC calls it from one thread at a time. */
    private final class Answer implements StreamObserver<LookupResponse> {
        private final Search search;
        private final int from;
        private final int most;
        private final List<Holder> before;
        private boolean ended;

        Answer(Search search, int from, int most, List<Holder> before) {
            this.search = search;
            this.from = from;
            this.most = most;
            this.before = before;
        }

        @Override
        public void onNext(LookupResponse response) {
            if (failing.compareAndSet(true, false)) {
                LOG.info("the directory at {} answers again", access.address());
            }
            answered.increment();
            if (!ended) {
                ended = true;
                search.answered(from, most, before, holders(response, most));
            }
        }

        @Override
        public void onError(Throwable failure) {
            if (!ended) {
                failed.increment();
                Status status = Status.fromThrowable(failure);
                if (status.getCode() != Status.Code.DEADLINE_EXCEEDED && failing.compareAndSet(false, true)) {
                    LOG.warn("the directory at {} does not answer, so nothing is read from other nodes: {}", access.address(),
                            TlsFault.of(failure).map(TlsFault::advice).orElse(status.toString()));
                }
                end();
            }
        }

        @Override
        public void onCompleted() {
            if (!ended) {
                failed.increment();
                end();
            }
        }

        private void end() {
            ended = true;
            search.end(before);
        }
    }

    private List<Holder> holders(LookupResponse response, int most) {
        List<Holder> holders = new ArrayList<>(response.getNodesCount());
        for (NodePrefix other : response.getNodesList()) {
            int blocks = Math.min(most, other.getPeerReadable());
            if (blocks > 0 && !other.getPeerAddress().isEmpty() && !other.getNode().equals(node)) {
                Tier tier = onHost(other) >= blocks ? Tier.HOST : Tier.DISK;
                holders.add(new Holder(other.getNode(), other.getPeerAddress(), tier, blocks));
            }
        }
        return holders;
    }

    private static int onHost(NodePrefix other) {
        return other.getTiersList().stream()
                .filter(tier -> tier.getTier() == io.tierlog.directory.v1.Tier.TIER_HOST)
                .mapToInt(TierPrefix::getBlocks)
                .max()
                .orElse(0);
    }

    /** How its calls have ended so far. */
    public Lookups lookups() {
        return new Lookups(answered.sum(), failed.sum(), refused.sum());
    }

    /** Ends every call; each is answered. */
    @Override
    public void close() {
        channel.shutdownNow();
        try {
            channel.awaitTermination(END_S, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
