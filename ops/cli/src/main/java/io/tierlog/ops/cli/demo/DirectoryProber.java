/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.demo;

import com.google.protobuf.ByteString;
import com.google.protobuf.UnsafeByteOperations;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import io.grpc.StatusRuntimeException;
import io.tierlog.directory.v1.BatchExistRequest;
import io.tierlog.directory.v1.DirectoryGrpc;
import io.tierlog.ops.engine.ProbeAhead;
import io.tierlog.ops.engine.workload.BlockKey;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Probes a directory for the blocks of a coming prompt, as a router does, with prefetch_to_memory or without. A probe that fails is only counted: the
 * request runs without it. One thread probes; any thread may read the counts.
 */
final class DirectoryProber implements ProbeAhead, AutoCloseable {
    private static final int ANSWER_MS = 2_000;

    private final ManagedChannel channel;
    private final boolean prefetch;
    private final AtomicLong probes = new AtomicLong();
    private final AtomicLong failures = new AtomicLong();

    /** Probes at that port of loopback; with {@code prefetch}, blocks that only a disk has are promoted. */
    DirectoryProber(int grpcPort, boolean prefetch) {
        this.prefetch = prefetch;
        channel = Grpc.newChannelBuilder("127.0.0.1:" + grpcPort, InsecureChannelCredentials.create()).build();
    }

    @Override
    public void comes(String node, String namespace, List<BlockKey> keys) {
        byte[] first = keys.getFirst().toBytes();
        ByteString packed = ByteString.copyFrom(keys.stream().map(key -> UnsafeByteOperations.unsafeWrap(key.toBytes())).toList());
        BatchExistRequest request = BatchExistRequest.newBuilder()
                .setNamespace(namespace)
                .setPackedKeys(packed)
                .setKeyBytes(first.length)
                .setPrefetchToMemory(prefetch)
                .setNode(node)
                .build();
        probes.incrementAndGet();
        try {
            var _ = DirectoryGrpc.newBlockingStub(channel).withDeadlineAfter(ANSWER_MS, TimeUnit.MILLISECONDS).batchExist(request);
        } catch (StatusRuntimeException e) {
            failures.incrementAndGet();
        }
    }

    /** Prompts that were probed. */
    long probes() {
        return probes.get();
    }

    /** Probes without an answer. */
    long failures() {
        return failures.get();
    }

    @Override
    public void close() {
        channel.shutdownNow();
    }
}
