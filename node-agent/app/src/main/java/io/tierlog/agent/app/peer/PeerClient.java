/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.peer;

import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.stub.MetadataUtils;
import io.tierlog.agent.app.memory.HostPool;
import io.tierlog.agent.core.api.AgentInput;
import io.tierlog.agent.core.api.AgentInput.PeerUnitEnded;
import io.tierlog.agent.core.api.AgentInput.UnitResult;
import io.tierlog.agent.core.port.PeerTransfers;
import io.tierlog.controller.http.GrpcTls;
import io.tierlog.peer.v1.PeerServiceGrpc;
import io.tierlog.schemas.BlockStatus;
import io.tierlog.schemas.OperationReason;
import io.tierlog.threads.Supervised;
import io.tierlog.tls.Tls;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads from other nodes into host pages, over one channel for each node. Calls come from the core's thread, completions from the channels' threads.
 * A unit that has ended writes no byte any more, whatever still comes.
 */
public final class PeerClient implements PeerTransfers, AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(PeerClient.class);
    private static final int MESSAGE_BYTES = PeerLimits.MOST_CHUNK_BYTES + (64 << 10);
    private static final int END_S = 2;

    private final String node;
    private final HostPool host;
    private final PeerLimits limits;
    private final Access access;
    private final Consumer<AgentInput> completions;
    private final ExecutorService receivers;
    private final ScheduledExecutorService clock;
    private final SequencedMap<String, ManagedChannel> channels = new LinkedHashMap<>(16, 0.75f, true);
    private final Set<PeerRead> reads = new LinkedHashSet<>();
    private final LongAdder bytesReceived = new LongAdder();
    private long bytesInFlight;
    private boolean closed;

    /**
     * How other nodes are called.
     *
     * @param token that is shown; empty for none
     * @param tls of the process
     */
    public record Access(Optional<PeerToken> token, Tls tls) {}

    /**
     * @param node name of this node: the one that asks
     * @param completions receives the end of every unit, once
     */
    public PeerClient(String node, HostPool host, Access access, PeerLimits limits, Consumer<AgentInput> completions) {
        this.node = node;
        this.host = host;
        this.access = access;
        this.limits = limits;
        this.completions = completions;
        String name = "agent-" + node;
        this.receivers = Executors.newFixedThreadPool(limits.threads(), Supervised.pool(name + "-peer-read"));
        this.clock = Supervised.scheduler(name + "-peer-retry");
    }

    @Override
    public void read(long unit, PeerHolder holder, String namespace, List<PeerPage> pages) {
        long bytes = (long) pages.size() * host.blockBytes();
        PeerRead read;
        synchronized (this) {
            boolean full = bytesInFlight > 0 && bytesInFlight + bytes > limits.bytesInFlight();
            if (closed || full) {
                refuse(unit, pages.size(), closed ? OperationReason.CANCELLED : OperationReason.QUEUE_FULL);
                return;
            }
            Optional<PeerServiceGrpc.PeerServiceStub> stub = stub(holder.address());
            if (stub.isEmpty()) {
                refuse(unit, pages.size(), OperationReason.IO);
                return;
            }
            PeerRead.Asked asked = new PeerRead.Asked(node, holder.grant(), namespace, pages);
            PeerRead.Way way = new PeerRead.Way(stub.get(), host, clock, limits, bytesReceived::add);
            read = new PeerRead(asked, way, (ended, results) -> ended(unit, bytes, ended, results));
            bytesInFlight += bytes;
            reads.add(read);
        }
        read.begin();
    }

    private void refuse(long unit, int blocks, OperationReason why) {
        completions.accept(new PeerUnitEnded(unit, Collections.nCopies(blocks, new UnitResult(BlockStatus.FAILED, why, 0))));
    }

    private void ended(long unit, long bytes, PeerRead read, List<UnitResult> results) {
        synchronized (this) {
            bytesInFlight -= bytes;
            reads.remove(read);
        }
        completions.accept(new PeerUnitEnded(unit, results));
    }

    /** Under the lock. Empty for an address that is none. */
    private Optional<PeerServiceGrpc.PeerServiceStub> stub(String address) {
        ManagedChannel channel = channels.get(address);
        if (channel == null) {
            try {
                channel = open(PeerAddress.parse(address));
            } catch (IllegalArgumentException e) {
                LOG.warn("another node cannot be read from: {}", e.getMessage());
                return Optional.empty();
            }
            channels.put(address, channel);
            if (channels.size() > limits.channels()) {
                channels.pollFirstEntry().getValue().shutdown(); // what is read over it is read to its end
            }
        }
        PeerServiceGrpc.PeerServiceStub stub = PeerServiceGrpc.newStub(channel);
        if (access.token().isPresent()) {
            Metadata metadata = new Metadata();
            metadata.put(PeerToken.AUTHORIZATION, access.token().get().bearer());
            return Optional.of(stub.withInterceptors(MetadataUtils.newAttachHeadersInterceptor(metadata)));
        }
        return Optional.of(stub);
    }

    private ManagedChannel open(PeerAddress address) {
        return GrpcTls.callPeer(NettyChannelBuilder.forAddress(address.host(), address.port()), access.tls())
                .executor(receivers)
                .maxInboundMessageSize(MESSAGE_BYTES)
                .keepAliveTime(20, TimeUnit.SECONDS)
                .build();
    }

    /** Bytes of units that are under way. */
    public synchronized long bytesInFlight() {
        return bytesInFlight;
    }

    /** Bytes that have come from other nodes so far, whatever became of them. */
    public long bytesReceived() {
        return bytesReceived.sum();
    }

    /** Ends every unit; no byte moves afterwards. */
    @Override
    public void close() {
        List<PeerRead> left;
        List<ManagedChannel> opened;
        synchronized (this) {
            closed = true;
            left = new ArrayList<>(reads);
            opened = new ArrayList<>(channels.values());
        }
        left.forEach(read -> read.giveUp(OperationReason.CANCELLED));
        opened.forEach(ManagedChannel::shutdownNow);
        clock.shutdownNow();
        try {
            for (ManagedChannel channel : opened) {
                channel.awaitTermination(END_S, TimeUnit.SECONDS);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        receivers.shutdown();
    }
}
