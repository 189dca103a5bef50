/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.demo;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.tierlog.schemas.Block;
import io.tierlog.schemas.BlockResult;
import io.tierlog.schemas.BlockStatus;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.OperationReason;
import io.tierlog.schemas.PeerReadReason;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.decision.PeerReadClosed;
import io.tierlog.schemas.decision.PeerReadGranted;
import io.tierlog.schemas.decision.PeerReadRefused;
import io.tierlog.schemas.event.PeerReadRequested;
import io.tierlog.schemas.event.PrefetchDone;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class PeerCountTest {
    private static final Envelope LENDER = new Envelope("node/a", "controller/0", 1, 0, 0, 0, null, null, null);

    private final PeerCount count = new PeerCount();

    /** Three reads of 4, 3 and 2 blocks: the first comes whole, of the second one block that was wrong, and the third is refused. */
    @Test
    void askedGrantedRefusedSentAndFetchedAreDifferentThings() {
        asked("g1", 4);
        granted("g1", 4);
        count.take(new PeerReadClosed(LENDER, "g1", PeerReadReason.COMPLETED, 4, 4_000));
        asked("g2", 3);
        granted("g2", 3);
        count.take(new PeerReadClosed(LENDER, "g2", PeerReadReason.CANCELLED, 1, 1_000));
        asked("g3", 2);
        count.take(new PeerReadRefused(LENDER, "g3", "b", PeerReadReason.BUSY, "", 1));
        // 4 from the host of a, one from the store, one from b's own disk, and one of a that has failed.
        List<BlockResult> results = List.of(result(0, BlockStatus.ARRIVED, Tier.HOST), result(1, BlockStatus.ARRIVED, Tier.HOST),
                result(2, BlockStatus.ARRIVED, Tier.HOST), result(3, BlockStatus.ARRIVED, Tier.HOST), result(4, BlockStatus.ARRIVED, Tier.STORE),
                result(5, BlockStatus.ARRIVED, Tier.DISK), result(6, BlockStatus.FAILED, Tier.HOST));
        count.take(new PrefetchDone(new Envelope("node/b", "agent/b/p", 1, 1, 0, 0, null, null, null), "o", "l", "m", results, 6_000, 1));

        assertEquals(new PeerCount.Counts(3, 9, 2, Map.of(PeerReadReason.BUSY, 1L),
                Map.of(PeerReadReason.COMPLETED, 1L, PeerReadReason.CANCELLED, 1L), 4, 5, 5_000), count.counts());
    }

    private void asked(String grant, int blocks) {
        count.take(new PeerReadRequested(new Envelope("node/a", "agent/b/p", 1, 1, 0, 0, null, null, null), grant, "b", "m", blocks(blocks)));
    }

    private void granted(String grant, int blocks) {
        count.take(new PeerReadGranted(LENDER, grant, "b", "m", blocks(blocks), null, 10_000, 1));
    }

    private static BlockResult result(int index, BlockStatus status, Tier source) {
        OperationReason reason = status == BlockStatus.FAILED ? OperationReason.CHECKSUM : OperationReason.COMPLETED;
        return new BlockResult(block(index), status, reason, index, 1, 77, source);
    }

    private static List<Block> blocks(int number) {
        return IntStream.range(0, number).mapToObj(PeerCountTest::block).toList();
    }

    private static Block block(int index) {
        return new Block(index, Bytes.copyOf(new byte[] {(byte) index, 0, 0, 0, 0, 0, 0, 0}), Bytes.EMPTY);
    }
}
