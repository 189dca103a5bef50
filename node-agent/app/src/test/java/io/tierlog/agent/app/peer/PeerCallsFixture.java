/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.peer;

import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.ServerServiceDefinition;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.tierlog.agent.app.memory.HostPool;
import io.tierlog.agent.core.api.AgentInput;
import io.tierlog.agent.core.api.AgentInput.PeerReadCalled;
import io.tierlog.agent.core.api.AgentInput.UnitResult;
import io.tierlog.agent.core.port.PeerTransfers.PeerPage;
import io.tierlog.peer.v1.PeerServiceGrpc;
import io.tierlog.schemas.BlockStatus;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.OperationReason;
import io.tierlog.schemas.PeerReadReason;
import io.tierlog.tls.Tls;
import java.io.ByteArrayInputStream;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/** Both sides of the peer API without sockets: its service, and a read that gets the messages of a test as the replies of another node. */
public final class PeerCallsFixture implements AutoCloseable {
    /** Size of a block in bytes. */
    public static final int BLOCK = 64;

    private static final int BLOCKS = 2;
    static final int CALLS = 3;

    private final HostPool host = HostPool.allocate(BLOCKS, BLOCK);
    private final PeerServer server;
    private final Later later = new Later();
    private int sent;

    public PeerCallsFixture() {
        PeerServer.Wiring wiring = new PeerServer.Wiring(
                PeerAddress.parse("127.0.0.1:0"), Optional.empty(), Tls.NONE, host, this::called, _ -> {}, new PeerGate());
        server = new PeerServer("fixture", wiring, PeerLimits.DEFAULTS);
    }

    private boolean called(AgentInput input) {
        server.refuse(((PeerReadCalled) input).call(), PeerReadReason.NOT_SERVING);
        return true;
    }

    /** The service, whose core refuses what is valid. */
    public ServerServiceDefinition service() {
        return server.services().getFirst();
    }

    /** What is to run later, at most one task for a call that has ended: otherwise another node could multiply calls without an end. */
    private static final class Later extends ScheduledThreadPoolExecutor {
        private final Queue<Runnable> tasks = new ArrayDeque<>();

        Later() {
            super(1);
        }

        @Override
        public ScheduledFuture<?> schedule(Runnable task, long delay, TimeUnit unit) {
            tasks.add(task);
            return super.schedule(() -> {}, 0, TimeUnit.NANOSECONDS);
        }
    }

    /** Another node that replies to every call with the same messages. */
    private static final class OtherNode extends Channel {
        private final List<byte[]> replies;
        private int sent;

        OtherNode(List<byte[]> replies) {
            this.replies = replies;
        }

        @Override
        public <Q, A> ClientCall<Q, A> newCall(MethodDescriptor<Q, A> method, CallOptions options) {
            return new ClientCall<>() {
                private ClientCall.@Nullable Listener<A> listener;
                private boolean cancelled;

                @Override
                public void start(Listener<A> observer, Metadata headers) {
                    listener = observer;
                }

                @Override
                public void request(int messages) {}

                @Override
                public void cancel(@Nullable String message, @Nullable Throwable cause) {
                    cancelled = true;
                }

                @Override
                public void sendMessage(Q message) {}

                @Override
                public void halfClose() {
                    Listener<A> reader = listener;
                    if (reader == null) {
                        throw new IllegalStateException("not started");
                    }
                    reader.onClose(replied(reader), new Metadata());
                }

                private Status replied(Listener<A> reader) {
                    for (byte[] reply : replies) {
                        if (cancelled) {
                            return Status.CANCELLED;
                        }
                        A message;
                        try {
                            message = method.parseResponse(new ByteArrayInputStream(reply));
                        } catch (StatusRuntimeException e) {
                            return Status.CANCELLED.withCause(e); // as gRPC ends a call whose message it cannot parse
                        }
                        sent++;
                        reader.onMessage(message);
                    }
                    return Status.OK;
                }
            };
        }

        @Override
        public String authority() {
            return "other";
        }
    }

    /**
     * Reads two blocks from another node that replies so.
     *
     * @return blocks that have arrived
     * @throws IllegalStateException when the read does not end once, with a result for each block, and bytes that have the checksum of that result
     */
    public int read(List<byte[]> replies) {
        List<List<UnitResult>> ends = new ArrayList<>();
        List<PeerPage> pages = List.of(new PeerPage(Bytes.ofHex("01".repeat(16)), 0), new PeerPage(Bytes.ofHex("02".repeat(16)), 1));
        OtherNode other = new OtherNode(replies);
        PeerRead read = new PeerRead(new PeerRead.Asked("b", "grant", "ns", pages), new PeerRead.Way(
                PeerServiceGrpc.newStub(other), host, later, PeerLimits.DEFAULTS, _ -> {}), (_, results) -> ends.add(results));
        Runnable next = read::begin;
        for (int calls = 0; next != null && calls < CALLS; calls++) {
            next.run();
            next = later.tasks.poll();
            if (!later.tasks.isEmpty()) {
                int more = later.tasks.size();
                later.tasks.clear();
                throw new IllegalStateException("one call makes " + (more + 1) + " others");
            }
        }
        sent = other.sent;
        read.giveUp(OperationReason.CANCELLED);
        later.tasks.clear();
        if (ends.size() != 1 || ends.getFirst().size() != pages.size()) {
            throw new IllegalStateException("the read ends with " + ends);
        }
        int arrived = 0;
        for (int i = 0; i < BLOCKS; i++) {
            UnitResult result = ends.getFirst().get(i);
            if (result.status() == BlockStatus.ARRIVED) {
                arrived++;
                requireChecksum(i, result.crc32c());
            }
        }
        return arrived;
    }

    /** How many replies the other node has sent in the last read, before its calls were cancelled. */
    int sent() {
        return sent;
    }

    private void requireChecksum(int page, int expected) {
        CRC32C crc = new CRC32C();
        crc.update(host.page(page).asByteBuffer());
        if ((int) crc.getValue() != expected) {
            throw new IllegalStateException("page " + page + " has other bytes than its checksum");
        }
    }

    @Override
    public void close() {
        server.close();
        later.shutdownNow();
        host.close();
    }
}
