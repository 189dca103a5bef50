/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.peer;

import com.google.protobuf.UnsafeByteOperations;
import io.grpc.Status;
import io.grpc.stub.ServerCallStreamObserver;
import io.tierlog.agent.app.memory.HostPool;
import io.tierlog.agent.core.api.AgentInput.PeerReadFinished;
import io.tierlog.agent.core.port.PeerReplies.LeasedPage;
import io.tierlog.peer.v1.BlockEnd;
import io.tierlog.peer.v1.Chunk;
import io.tierlog.peer.v1.ReadReply;
import io.tierlog.peer.v1.ReadRequest;
import io.tierlog.peer.v1.Refused;
import io.tierlog.peer.v1.Retry;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.PeerReadReason;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.zip.CRC32C;

/**
 * One read by another node: waits for the core's answer, then sends the pages, chunk by chunk, as fast as the reader takes them, and tells the core
 * once that no page is read any more.
 *
 * <p>Safe for use by several threads; the holder of the lock may read a page, so that after the end no thread does. A chunk is copied out of its page
 * and its checksum taken from the copy: the checksum is that of the bytes sent. Trade-off: one copy of every byte.
 */
final class PeerSend {
    private final long call;
    private final ReadRequest request;
    private final ServerCallStreamObserver<ReadReply> reader;
    private final SendContext context;
    private final ReentrantLock lock = new ReentrantLock();
    private final Runnable goOn;
    private final CRC32C crc = new CRC32C();
    private final List<Bytes> wrong = new ArrayList<>();
    private List<LeasedPage> pages = List.of();
    private boolean sending;
    private boolean over;
    private int block;
    private int offset;
    private long sentBytes;

    /**
     * What all reads share.
     *
     * @param posts receives the end of each read that was sent
     * @param ended receives the end of each call
     */
    record SendContext(
            HostPool host, PeerLimits limits, PeerGate gate, PeerPace pace, Executor senders, Consumer<PeerReadFinished> posts,
            Consumer<PeerSend> ended) {}

    PeerSend(long call, ReadRequest request, ServerCallStreamObserver<ReadReply> reader, SendContext context) {
        this.call = call;
        this.request = request;
        this.reader = reader;
        this.context = context;
        this.goOn = () -> context.senders().execute(this::drain);
    }

    long call() {
        return call;
    }

    ReadRequest request() {
        return request;
    }

    void retry(long afterMs) {
        answer(ReadReply.newBuilder().setRetry(Retry.newBuilder().setAfterMs((int) Math.min(Integer.MAX_VALUE, afterMs))).build());
    }

    void refuse(PeerReadReason why) {
        answer(ReadReply.newBuilder().setRefused(Refused.newBuilder().setReason(why.name())).build());
    }

    private void answer(ReadReply reply) {
        lock.lock();
        try {
            if (!over) {
                over = true;
                reader.onNext(reply);
                reader.onCompleted();
                context.ended().accept(this);
            }
        } finally {
            lock.unlock();
        }
    }

    /** The core shares these pages for read until it receives the end, at once when the reader has gone already. */
    void send(List<LeasedPage> leased) {
        lock.lock();
        try {
            if (over) {
                context.posts().accept(new PeerReadFinished(call, 0, 0, PeerReadReason.CANCELLED, List.of()));
                return;
            }
            pages = leased;
            sending = true;
        } finally {
            lock.unlock();
        }
        goOn.run();
    }

    /** Sends what the reader takes now. */
    void drain() {
        lock.lock();
        try {
            while (sending && !over && reader.isReady() && context.pace().pass(chunk(), goOn) && context.gate().pass(goOn)) {
                step();
            }
        } catch (RuntimeException e) {
            end(PeerReadReason.IO, Status.INTERNAL.withDescription("the read failed: " + e.getMessage()));
        } finally {
            lock.unlock();
        }
    }

    /** Size of the next chunk. */
    private int chunk() {
        return Math.min(context.limits().chunkBytes(), context.host().blockBytes() - offset);
    }

    private void step() {
        LeasedPage leased = pages.get(block);
        MemorySegment page = context.host().page(leased.hostPage());
        int length = chunk();
        byte[] data = new byte[length];
        MemorySegment.copy(page, ValueLayout.JAVA_BYTE, offset, data, 0, length);
        crc.update(data);
        reader.onNext(ReadReply.newBuilder()
                .setChunk(Chunk.newBuilder().setBlock(block).setOffset(offset).setData(UnsafeByteOperations.unsafeWrap(data)))
                .build());
        offset += length;
        sentBytes += length;
        if (offset == page.byteSize()) {
            endBlock(leased);
        }
    }

    private void endBlock(LeasedPage leased) {
        int sent = (int) crc.getValue();
        if (sent != leased.crc32c()) {
            wrong.add(leased.key());
            end(PeerReadReason.IO, Status.DATA_LOSS.withDescription("block " + block + " is not what it should be"));
            return;
        }
        reader.onNext(ReadReply.newBuilder().setEnd(BlockEnd.newBuilder().setBlock(block).setCrc32C(sent)).build());
        crc.reset();
        offset = 0;
        block++;
        if (block == pages.size()) {
            end(PeerReadReason.COMPLETED, Status.OK);
        }
    }

    /** The reader has gone, or its time is over, or the server closes. */
    void giveUp(PeerReadReason why, Status status) {
        lock.lock();
        try {
            end(why, status);
        } finally {
            lock.unlock();
        }
    }

    /** Once; under the lock. */
    private void end(PeerReadReason why, Status status) {
        if (over) {
            return;
        }
        over = true;
        if (sending) {
            context.posts().accept(new PeerReadFinished(call, block, sentBytes, why, List.copyOf(wrong)));
        }
        context.ended().accept(this);
        if (status.isOk()) {
            reader.onCompleted();
        } else if (!reader.isCancelled()) {
            reader.onError(status.asRuntimeException());
        }
    }
}
