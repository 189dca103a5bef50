/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.directory.streams;

import io.tierlog.controller.core.table.Namespaces;
import io.tierlog.controller.directory.PlacementLog;
import io.tierlog.controller.directory.index.BlockPlacement;
import io.tierlog.controller.directory.index.IndexLimits;
import io.tierlog.controller.directory.index.Location;
import io.tierlog.controller.directory.index.PlacementIndex;
import io.tierlog.controller.directory.index.PlacementIndex.BlockKey;
import io.tierlog.controller.directory.probe.ProbeCounts;
import io.tierlog.directory.v1.PeerRequest;
import io.tierlog.directory.v1.PeerResponse;
import io.tierlog.schemas.Tier;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/** A fan-out over one local partition, without a broker: a test sets the placements. */
public final class LocalShardFanout implements AutoCloseable {
    private final LocalShards copies = new LocalShards(1);
    private final PlacementIndex index = new PlacementIndex(IndexLimits.DEFAULTS, copies.incarnations());

    private static final class NoPeers implements PeerLink {
        @Override
        public CompletableFuture<PeerResponse> ask(Owners.Peer peer, PeerRequest request) {
            throw new AssertionError("there are no others");
        }

        @Override
        public void close() {}
    }

    public LocalShardFanout() {
        copies.add(0, index);
        copies.reach(0).polled(1, -1);
        copies.reach(0).ended(1, System.currentTimeMillis());
    }

    /** The block with this number, at this number in the prompt. */
    public LocalShardFanout put(String namespace, int number, String owner, Tier tier) {
        index.put(new BlockKey(Namespaces.digest(namespace), PlacementLog.key(number)), new BlockPlacement(new Location(owner, tier), 1, number, 1));
        return this;
    }

    /** The partition is here no longer, and nowhere else. */
    public void leave() {
        copies.remove(0, index);
    }

    public ShardFanout fanout() {
        return new ShardFanout(new ShardFanout.Parts(copies, Optional.empty(), _ -> Owners.NONE, new NoPeers(), new Owners.Peer("here", 1),
                DirectoryLimits.DEFAULTS, new DirectoryMetrics(copies, new ProbeCounts())));
    }

    @Override
    public void close() {
        index.close();
    }
}
