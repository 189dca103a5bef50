/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.directory.streams;

import com.google.protobuf.InvalidProtocolBufferException;
import io.tierlog.controller.directory.probe.ProbeCounts;
import io.tierlog.directory.v1.PeerRequest;
import io.tierlog.directory.v1.PeerResponse;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

/** A fan-out whose only partition is on another instance, which answers with the bytes of a test; without a broker. */
public final class OtherInstanceFanout {
    private final LocalShards copies = new LocalShards(1);
    private final Supplier<byte[]> answer;

    /** @param answer gives what the other instance answers */
    public OtherInstanceFanout(Supplier<byte[]> answer) {
        this.answer = answer;
    }

    private final class Other implements PeerLink {
        @Override
        public CompletableFuture<PeerResponse> ask(Owners.Peer peer, PeerRequest request) {
            try {
                return CompletableFuture.completedFuture(PeerResponse.parseFrom(answer.get()));
            } catch (InvalidProtocolBufferException e) {
                return CompletableFuture.failedFuture(e);
            }
        }

        @Override
        public void close() {}
    }

    public ShardFanout fanout() {
        Owners.Peer other = new Owners.Peer("other", 2);
        return new ShardFanout(new ShardFanout.Parts(copies, Optional.empty(), _ -> new Owners(Optional.of(other), List.of(other)), new Other(),
                new Owners.Peer("here", 1), DirectoryLimits.DEFAULTS, new DirectoryMetrics(copies, new ProbeCounts())));
    }
}
