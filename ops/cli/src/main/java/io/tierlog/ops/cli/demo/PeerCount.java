/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.demo;

import io.tierlog.schemas.BlockStatus;
import io.tierlog.schemas.PeerReadReason;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.decision.Fact;
import io.tierlog.schemas.decision.PeerReadClosed;
import io.tierlog.schemas.decision.PeerReadGranted;
import io.tierlog.schemas.decision.PeerReadRefused;
import io.tierlog.schemas.event.Event;
import io.tierlog.schemas.event.PeerReadRequested;
import io.tierlog.schemas.event.PrefetchDone;
import java.util.Map;
import java.util.TreeMap;

/** What the log says of reads across nodes. Not thread-safe. */
final class PeerCount {
    private final Map<PeerReadReason, Long> refused = new TreeMap<>();
    private final Map<PeerReadReason, Long> ended = new TreeMap<>();
    private long asked;
    private long askedBlocks;
    private long granted;
    private long fetchedBlocks;
    private long sentBlocks;
    private long sentBytes;

    /**
     * Reads and blocks. A block can be sent in vain: the reader may have been too late, or found its bytes wrong.
     *
     * @param asked reads that agents asked other nodes for
     * @param askedBlocks the blocks of them
     * @param granted reads that were granted
     * @param refused reads that were not, by reason
     * @param ended grants that have ended, by how they did
     * @param fetchedBlocks blocks that came from another node, as their readers say
     * @param sentBlocks blocks that were sent, as the lenders say
     * @param sentBytes bytes of those
     */
    record Counts(
            long asked, long askedBlocks, long granted, Map<PeerReadReason, Long> refused, Map<PeerReadReason, Long> ended, long fetchedBlocks,
            long sentBlocks, long sentBytes) {}

    void take(Event event) {
        switch (event) {
            case PeerReadRequested e -> {
                asked++;
                askedBlocks += e.blocks().size();
            }
            // The own host is nowhere fetched from: it is another's.
            case PrefetchDone e -> fetchedBlocks += e.blocks().stream()
                    .filter(block -> block.status() == BlockStatus.ARRIVED && block.source() == Tier.HOST)
                    .count();
            default -> {}
        }
    }

    void take(Fact decision) {
        switch (decision) {
            case PeerReadGranted _ -> granted++;
            case PeerReadRefused f -> refused.merge(f.reason(), 1L, Long::sum);
            case PeerReadClosed f -> {
                ended.merge(f.reason(), 1L, Long::sum);
                sentBlocks += f.sentBlocks();
                sentBytes += f.sentBytes();
            }
            default -> {}
        }
    }

    Counts counts() {
        return new Counts(asked, askedBlocks, granted, new TreeMap<>(refused), new TreeMap<>(ended), fetchedBlocks, sentBlocks, sentBytes);
    }
}
