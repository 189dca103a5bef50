/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.engine;

import com.google.protobuf.ByteString;
import io.grpc.StatusRuntimeException;
import io.tierlog.agent.core.port.EngineReplies.Refusal;
import io.tierlog.engine.v1.JoinRequest;
import io.tierlog.engine.v1.KvLayer;
import io.tierlog.engine.v1.MemoryRegion;
import io.tierlog.engine.v1.Notice;
import io.tierlog.engine.v1.RegisterBuffersRequest;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The ranks of an engine that have joined its session, each a process with memory of its own and a stream of notices.
 *
 * <p>Safe for use by several threads. Bounded by the ranks of the agent.
 */
final class EngineRanks {
    private static final int MOST_LAYOUT_CHARACTERS = 1_024;

    private record Joined(JoinRequest request, EngineSession stream) {}

    private final SortedMap<Integer, Joined> joined = new TreeMap<>();
    private boolean completed;

    /** Takes a rank, or says why not. */
    synchronized Optional<StatusRuntimeException> add(JoinRequest request, EngineSession stream, int ranks) {
        int rank = request.getRank();
        RegisterBuffersRequest buffers = request.getBuffers();
        if (rank < 0 || rank >= ranks) {
            return refused(Refusal.BAD_ARGUMENT,
                    "rank is " + rank + ", this agent has " + ranks + " from 0 on: set its --ranks to those of the engine");
        }
        if (request.getLayout().length() > MOST_LAYOUT_CHARACTERS) {
            return refused(Refusal.BAD_ARGUMENT, "layout is longer than " + MOST_LAYOUT_CHARACTERS + " characters");
        }
        if (joined.containsKey(rank)) {
            return Optional.of(EngineErrors.of(Refusal.INSTANCE_TAKEN, "rank " + rank + " has joined this session already", true));
        }
        if (!joined.isEmpty()) {
            JoinRequest first = first();
            RegisterBuffersRequest other = first.getBuffers();
            if (!first.getLayout().equals(request.getLayout()) || other.getPages() != buffers.getPages()
                    || other.getBlockBytes() != buffers.getBlockBytes() || !other.getLayoutDigest().equals(buffers.getLayoutDigest())) {
                return refused(Refusal.LAYOUT_MISMATCH, "rank " + rank + " and rank " + first.getRank()
                        + " differ in layout, pages, block_bytes or layout_digest: these are of the whole engine, so every rank says the same");
            }
        }
        joined.put(rank, new Joined(request, stream));
        return Optional.empty();
    }

    private static Optional<StatusRuntimeException> refused(Refusal refusal, String detail) {
        return Optional.of(EngineErrors.of(refusal, detail, false));
    }

    private JoinRequest first() {
        return joined.values().iterator().next().request();
    }

    /** Whether all have joined: true for one caller alone, which registers their memory. */
    synchronized boolean completes(int ranks) {
        boolean first = !completed && joined.size() == ranks;
        completed |= first;
        return first;
    }

    synchronized boolean complete(int ranks) {
        return joined.size() == ranks;
    }

    /** The layouts that the ranks gave of their bytes. */
    synchronized String layout() {
        return joined.isEmpty() ? "" : first().getLayout();
    }

    /** The memory of all ranks as one registration; an absent layout digest is {@code agreed}, an absent size of a block {@code blockBytes}. */
    synchronized RegisterBuffersRequest merged(String session, ByteString agreed, long blockBytes) {
        RegisterBuffersRequest first = first().getBuffers();
        RegisterBuffersRequest.Builder all = first.toBuilder().setSession(session).clearRegions().clearLayers();
        if (first.getLayoutDigest().isEmpty()) {
            all.setLayoutDigest(agreed);
        }
        if (first.getBlockBytes() == 0) {
            all.setBlockBytes(blockBytes);
        }
        joined.forEach((rank, one) -> {
            int before = all.getRegionsCount();
            for (MemoryRegion region : one.request().getBuffers().getRegionsList()) {
                all.addRegions(region);
            }
            for (KvLayer layer : one.request().getBuffers().getLayersList()) {
                all.addLayers(layer.toBuilder().setRank(rank).setRegion(before + layer.getRegion()));
            }
        });
        return all.build();
    }

    /** Sends a notice to every rank; false when one does not read. */
    boolean send(Notice notice) {
        boolean all = true;
        for (EngineSession stream : streams()) {
            all &= stream.send(notice);
        }
        return all;
    }

    private synchronized List<EngineSession> streams() {
        List<EngineSession> streams = new ArrayList<>();
        joined.values().forEach(one -> streams.add(one.stream()));
        return streams;
    }

    /** The rank with that stream has left; false when it was none of these. */
    synchronized boolean remove(EngineSession stream) {
        boolean removed = joined.values().removeIf(one -> one.stream() == stream);
        completed &= !removed;
        return removed;
    }

    /** Every rank receives the end, and none is left. */
    void end(RuntimeException status) {
        List<EngineSession> streams = streams();
        synchronized (this) {
            joined.clear();
            completed = false;
        }
        streams.forEach(stream -> stream.end(status));
    }
}
