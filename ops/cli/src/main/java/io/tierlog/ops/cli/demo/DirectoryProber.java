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
 * Asks a directory whether the blocks of a coming prompt exist, as a router does, with prefetch_to_memory or without. A question that fails is
 * counted and forgotten: it was to help, and the request does without. One thread asks; the counts can be read from any.
 */
final class DirectoryProber implements ProbeAhead, AutoCloseable {
    private static final int ANSWER_MS = 2_000;

    private final ManagedChannel channel;
    private final boolean prefetch;
    private final AtomicLong probes = new AtomicLong();
    private final AtomicLong failures = new AtomicLong();

    /** Asks on that port of loopback; {@code prefetch} has promoted what only a disk has. */
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

    /** Prompts that were asked about. */
    long probes() {
        return probes.get();
    }

    /** Questions that were not answered. */
    long failures() {
        return failures.get();
    }

    @Override
    public void close() {
        channel.shutdownNow();
    }
}
