/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.bridge.publish;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.tierlog.agent.bridge.decode.BatchDecoder;
import io.tierlog.agent.bridge.decode.Decoded;
import io.tierlog.agent.bridge.decode.EngineEvent;
import io.tierlog.agent.bridge.decode.Media;
import io.tierlog.schemas.Block;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.PagedBlock;
import io.tierlog.schemas.RemovalReason;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.decision.BlocksPlaced;
import io.tierlog.schemas.decision.BlocksRemoved;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class PlacementBatchTest {
    private static final Set<Tier> LOWER = EnumSet.of(Tier.HOST, Tier.DISK, Tier.STORE);
    private static final String LONG_KEY = "00".repeat(23) + "ff" + "80".repeat(8);

    private static Bytes key(int number) {
        return Bytes.ofHex("%016x".formatted(number));
    }

    private static PagedBlock block(int index, int key, int parent) {
        return new PagedBlock(new Block(index, key(key), parent == 0 ? Bytes.EMPTY : key(parent)), 0, 1, 0);
    }

    private static Envelope envelope(String owner) {
        return new Envelope(owner, "controller/0", 1, 1, 0, 2_500, null, null, null, null);
    }

    private static PlacementBatch placed(Tier tier, PagedBlock... blocks) {
        return PlacementBatch.of(new BlocksPlaced(envelope("node/a"), tier, "m", List.of(blocks), null, Tier.UNKNOWN, 0), LOWER);
    }

    private static String shown(PlacementBatch batch) {
        return String.join(" ", batch.changes().stream().map(each -> each.parent().hex() + ">" + String.join(",",
                each.keys().stream().map(key -> String.valueOf(key.at(7))).toList())).toList());
    }

    @Test
    void chainsBeginAtTheRoot() {
        assertEquals(">1,2,3", shown(placed(Tier.HOST, block(0, 1, 0), block(1, 2, 1), block(2, 3, 2))));
        assertEquals("0000000000000001>2,3,4", shown(placed(Tier.HOST, block(3, 4, 3), block(2, 3, 2), block(1, 2, 1))));
        assertEquals(">1,2 0000000000000001>5,6", shown(placed(Tier.HOST, block(0, 1, 0), block(1, 2, 1), block(1, 5, 1), block(2, 6, 5))));
        assertEquals("0000000000000001>2,3 >7", shown(placed(Tier.HOST, block(2, 3, 2), block(1, 2, 1), block(0, 7, 0))));
        assertEquals(">1 >2 >3", shown(placed(Tier.HOST, block(0, 1, 0), block(0, 2, 0), block(0, 3, 0))));
    }

    @Test
    void otherTiersAreABatchWithoutChanges() {
        PlacementBatch device = placed(Tier.DEVICE, block(0, 1, 0));
        assertEquals(List.of(), device.changes());
        assertEquals("kv@a@m", device.topic());
    }

    @Test
    void theBridgeReadsWhatIsWritten() {
        for (Tier tier : Tier.values()) {
            for (boolean maps : tier == Tier.UNKNOWN ? List.<Boolean>of() : List.of(true, false)) {
                PlacementBatch.Change stored = new PlacementBatch.Change(true, tier, Bytes.EMPTY, List.of(Bytes.ofHex(LONG_KEY), key(-1)));
                PlacementBatch.Change removed = new PlacementBatch.Change(false, tier, Bytes.EMPTY, List.of(key(5)));
                for (boolean numbers : List.of(true, false)) {
                    byte[] payload = BatchWriter.payload(new PlacementBatch("a", "m", 2_500, List.of(stored, removed)),
                            new BatchForm(maps, numbers, 16));
                    Decoded.Batch batch = (Decoded.Batch) BatchDecoder.decode(payload);
                    EngineEvent.Stored first = (EngineEvent.Stored) batch.events().getFirst();
                    EngineEvent.Removed last = (EngineEvent.Removed) batch.events().getLast();
                    assertEquals(0, batch.unknownFields());
                    assertEquals(tier, Media.tier(first.place(), false), "as " + (maps ? "maps" : "arrays"));
                    assertEquals(tier, Media.tier(last.place(), false));
                    assertEquals(List.of(numbers ? Bytes.ofHex("80".repeat(8)) : Bytes.ofHex(LONG_KEY), key(-1)), first.hashes());
                    assertEquals(List.of(key(5)), last.hashes());
                    assertEquals(16, first.blockTokens());
                }
            }
        }
    }

    @Test
    void theStoreIsOnePool() {
        PlacementBatch gone = PlacementBatch.of(new BlocksRemoved(envelope("store/17"), Tier.STORE, "m", RemovalReason.CHECKSUM,
                List.of(new Block(0, key(1), Bytes.EMPTY)), 0), LOWER);
        assertEquals("kv@pool:store@m", gone.topic());
        assertEquals(List.of(new PlacementBatch.Change(false, Tier.STORE, Bytes.EMPTY, List.of(key(1)))), gone.changes());
    }

    @Test
    void numbersAreFoundAgain() {
        BatchIndex index = new BatchIndex(40);
        for (int i = 0; i < 1_000; i++) {
            assertEquals(40 + i, index.add(100 + 3L * i));
        }
        assertEquals(new BatchIndex.Mark(40 + 512, 100 + 3 * 512), index.before(40 + 700));
        assertEquals(new BatchIndex.Mark(40, 100), index.before(3));
        assertEquals(new BatchIndex.Mark(40 + 768, 100 + 3 * 768), index.before(Long.MAX_VALUE));
        assertEquals(new BatchIndex.Mark(7, 7), new BatchIndex(7).before(9));
    }
}
