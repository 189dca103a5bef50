/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.demo;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.tierlog.schemas.Block;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.PagedBlock;
import io.tierlog.schemas.RemovalReason;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.decision.BlocksPlaced;
import io.tierlog.schemas.decision.BlocksRemoved;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ResidentBookTest {
    private static final Envelope NODE = new Envelope("node/a", "controller/0", 1, 0, 0, 0, null, null, null);

    private final ResidentBook book = new ResidentBook();

    @Test
    void copiesThatComeAndGoAreCountedOnce() {
        placed(Tier.HOST, 0, 1, 2);
        placed(Tier.HOST, 2);
        placed(Tier.DISK, 0);
        removed(Tier.HOST, RemovalReason.WATER_LEVEL, 0, 0);
        removed(Tier.HOST, RemovalReason.WATER_LEVEL, 0, 0);
        ResidentBook.Place host = new ResidentBook.Place("m", "node/a", Tier.HOST);
        assertEquals(Map.of(host, 2L, new ResidentBook.Place("m", "node/a", Tier.DISK), 1L), book.now());
        assertEquals(3L, book.most().get(host));
    }

    @Test
    void lastCopiesAreCountedByTierAndReason() {
        placed(Tier.HOST, 0, 1, 2);
        removed(Tier.HOST, RemovalReason.WATER_LEVEL, 0, 0);
        removed(Tier.HOST, RemovalReason.PRESSURE, 1, 1);
        removed(Tier.HOST, RemovalReason.PRESSURE, 1, 2);
        assertEquals(Map.of(new ResidentBook.Loss(Tier.HOST, RemovalReason.PRESSURE), 2L), book.lost());
    }

    private void placed(Tier tier, int... indexes) {
        List<PagedBlock> blocks = blocks(indexes).stream().map(block -> new PagedBlock(block, 0, 1, 0)).toList();
        book.take(new BlocksPlaced(NODE, tier, "m", blocks, null, Tier.UNKNOWN, 1));
    }

    private void removed(Tier tier, RemovalReason reason, int last, int... indexes) {
        book.take(new BlocksRemoved(NODE, tier, "m", reason, blocks(indexes), last));
    }

    private static List<Block> blocks(int... indexes) {
        return Arrays.stream(indexes).mapToObj(i -> new Block(i, Bytes.copyOf(new byte[] {(byte) i, 0, 0, 0, 0, 0, 0, 0}), Bytes.EMPTY)).toList();
    }
}
