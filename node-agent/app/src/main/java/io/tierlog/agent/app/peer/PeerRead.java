/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.peer;

import com.google.protobuf.ByteString;
import com.google.protobuf.UnsafeByteOperations;
import io.grpc.stub.ClientCallStreamObserver;
import io.grpc.stub.ClientResponseObserver;
import io.tierlog.agent.app.memory.HostPool;
import io.tierlog.agent.core.api.AgentInput.UnitResult;
import io.tierlog.agent.core.port.PeerTransfers.PeerPage;
import io.tierlog.peer.v1.BlockEnd;
import io.tierlog.peer.v1.Chunk;
import io.tierlog.peer.v1.PeerServiceGrpc;
import io.tierlog.peer.v1.ReadReply;
import io.tierlog.peer.v1.ReadRequest;
import io.tierlog.schemas.BlockStatus;
import io.tierlog.schemas.OperationReason;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BiConsumer;
import java.util.function.LongConsumer;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * One unit that is read from another node: asks again while its grant is not known there, writes what comes straight into host pages, compares each
 * block's checksum, and ends once. Safe for use by several threads; who holds the lock may write, so that after the end no thread does.
 */
final class PeerRead {
    private static final long MOST_BACKOFF_MS = 100;

    private final Asked asked;
    private final Way way;
    private final BiConsumer<PeerRead, List<UnitResult>> ended;
    private final ReentrantLock lock = new ReentrantLock();
    private final List<UnitResult> results = new ArrayList<>();
    private final CRC32C crc = new CRC32C();
    private final long endNs;
    /** When the wait for the grant is over. */
    private final long grantEndNs;
    private @Nullable ClientCallStreamObserver<ReadRequest> call;
    private int attempts;
    private long offset;
    private boolean over;

    /** What is read. */
    record Asked(String node, String grant, String namespace, List<PeerPage> pages) {}

    /**
     * Where from and where to.
     *
     * @param clock for asking again
     * @param received receives the number of bytes that have come
     */
    record Way(PeerServiceGrpc.PeerServiceStub stub, HostPool host, ScheduledExecutorService clock, PeerLimits limits, LongConsumer received) {}

    PeerRead(Asked asked, Way way, BiConsumer<PeerRead, List<UnitResult>> ended) {
        this.asked = asked;
        this.way = way;
        this.ended = ended;
        long nowNs = System.nanoTime();
        this.endNs = nowNs + TimeUnit.MILLISECONDS.toNanos(way.limits().readMs());
        this.grantEndNs = nowNs + TimeUnit.MILLISECONDS.toNanos(way.limits().grantMs());
    }

    /** Asks the other node. */
    void begin() {
        long leftMs = TimeUnit.NANOSECONDS.toMillis(endNs - System.nanoTime());
        if (leftMs <= 0 || System.nanoTime() - grantEndNs > 0) {
            giveUp(OperationReason.NOT_SERVING); // all that time the other node had no grant
            return;
        }
        ReadRequest.Builder request = ReadRequest.newBuilder().setGrant(asked.grant()).setAsker(asked.node()).setNamespace(asked.namespace());
        asked.pages().forEach(page -> request.addKeys(UnsafeByteOperations.unsafeWrap(page.key().unshared())));
        lock.lock();
        try {
            if (over) {
                return;
            }
            attempts++;
        } finally {
            lock.unlock();
        }
        try {
            way.stub().withDeadlineAfter(leftMs, TimeUnit.MILLISECONDS).read(request.build(), new Replies());
        } catch (IllegalStateException e) {
            giveUp(OperationReason.IO); // the call has failed, or was abandoned, while it was begun
        }
    }

    /** The observer of one call. */
    private final class Replies implements ClientResponseObserver<ReadRequest, ReadReply> {
        private @Nullable ClientCallStreamObserver<ReadRequest> own;
        private boolean answered;

        @Override
        public void beforeStart(ClientCallStreamObserver<ReadRequest> stream) {
            lock.lock();
            try {
                own = stream;
                call = stream;
            } finally {
                lock.unlock();
            }
        }

        @Override
        public void onNext(ReadReply reply) {
            if (answered) {
                return; // a call is repeated once, however many Retry replies the other node sends
            }
            switch (reply.getReplyCase()) {
                case CHUNK -> chunk(reply.getChunk());
                case END -> blockEnd(reply.getEnd());
                case RETRY -> {
                    answered = true;
                    ClientCallStreamObserver<ReadRequest> repeated = own;
                    isOver();
                    if (repeated != null) {
                        repeated.cancel("it is repeated", null); // another node may leave it open, and go on sending
                    }
                    again(reply.getRetry().getAfterMs());
                }
                case REFUSED -> giveUp(OperationReason.NOT_SERVING);
                case REPLY_NOT_SET -> giveUp(OperationReason.UNSUPPORTED);
            }
        }

        @Override
        public void onError(Throwable failure) {
            isOver();
            if (!answered) {
                giveUp(OperationReason.IO);
            }
        }

        @Override
        public void onCompleted() {
            isOver();
            if (!answered) {
                giveUp(OperationReason.IO);
            }
        }

        /** There is nothing left to cancel: a thread that is still beginning the call would get an exception for a cancel. */
        private void isOver() {
            lock.lock();
            try {
                if (call == own) { // the next call may have begun
                    call = null;
                }
            } finally {
                lock.unlock();
            }
        }
    }

    private void again(int afterMs) {
        long backOffMs = Math.min(MOST_BACKOFF_MS, Math.max(1L, afterMs) * Math.min(8, attempts));
        try {
            var _ = way.clock().schedule(this::begin, backOffMs, TimeUnit.MILLISECONDS);
        } catch (RejectedExecutionException e) {
            giveUp(OperationReason.CANCELLED);
        }
    }

    private void chunk(Chunk chunk) {
        lock.lock();
        try {
            if (over) {
                return;
            }
            ByteString data = chunk.getData();
            long left = way.host().blockBytes() - offset;
            if (chunk.getBlock() != results.size() || chunk.getOffset() != offset || data.isEmpty() || data.size() > left) {
                end(OperationReason.UNSUPPORTED);
                return;
            }
            PeerPage page = asked.pages().get(results.size());
            data.asReadOnlyByteBufferList().forEach(bytes -> {
                crc.update(bytes.duplicate());
                way.host().page(page.hostPage()).asSlice(offset, bytes.remaining()).copyFrom(MemorySegment.ofBuffer(bytes));
                offset += bytes.remaining();
            });
            way.received().accept(data.size());
        } finally {
            lock.unlock();
        }
    }

    private void blockEnd(BlockEnd end) {
        lock.lock();
        try {
            if (over) {
                return;
            }
            if (end.getBlock() != results.size() || offset != way.host().blockBytes()) {
                end(OperationReason.UNSUPPORTED);
                return;
            }
            int arrived = (int) crc.getValue();
            results.add(arrived == end.getCrc32C()
                    ? new UnitResult(BlockStatus.ARRIVED, OperationReason.COMPLETED, arrived)
                    : new UnitResult(BlockStatus.FAILED, OperationReason.CHECKSUM, 0));
            crc.reset();
            offset = 0;
            if (results.size() == asked.pages().size()) {
                end(OperationReason.COMPLETED);
            }
        } finally {
            lock.unlock();
        }
    }

    /** What has not arrived yet never will. */
    void giveUp(OperationReason why) {
        lock.lock();
        try {
            end(why);
        } finally {
            lock.unlock();
        }
    }

    /** Once; under the lock. */
    private void end(OperationReason why) {
        if (over) {
            return;
        }
        over = true;
        boolean whole = results.size() == asked.pages().size();
        while (results.size() < asked.pages().size()) {
            results.add(new UnitResult(BlockStatus.FAILED, why, 0));
        }
        ClientCallStreamObserver<ReadRequest> running = call;
        if (!whole && running != null) {
            running.cancel("no request waits for the rest", null);
        }
        ended.accept(this, List.copyOf(results));
    }
}
