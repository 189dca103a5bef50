/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.audit.export;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.tierlog.controller.core.policy.Policies;
import io.tierlog.schemas.Block;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.PagedBlock;
import io.tierlog.schemas.RemovalReason;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.decision.AgentAccepted;
import io.tierlog.schemas.decision.BlocksPlaced;
import io.tierlog.schemas.decision.BlocksRemoved;
import io.tierlog.schemas.decision.EngineLeft;
import io.tierlog.schemas.decision.Fact;
import io.tierlog.schemas.decision.NodeEnded;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** One block on three tiers of a node and in the store, and every way in which it can leave. The decision at offset n is of time 10 n. */
class PlacementIntervalsTest {
    private static final Bytes KEY = Bytes.ofHex("00000000000000aa");

    private final List<String> found = new ArrayList<>();
    private final PlacementIntervals intervals = new PlacementIntervals(interval -> found.add(interval.aggregate() + " " + interval.tier() + " from "
            + interval.begun().at().timeMs() + " to " + (interval.end() == null ? "now" : interval.end().timeMs() + " " + interval.reason())));
    private long offset;

    private static Envelope envelope(String aggregate) {
        return new Envelope(aggregate, "controller/0", 0, 1, 0, 5, null, null, null, null);
    }

    private void fact(Fact fact) {
        intervals.fact(fact, new PlacementIntervals.At(offset, 10 * offset));
        offset++;
    }

    private static BlocksPlaced placed(String aggregate, Tier tier) {
        PagedBlock block = new PagedBlock(new Block(0, KEY, Bytes.EMPTY), 7, 3, 0);
        return new BlocksPlaced(envelope(aggregate), tier, "chat", List.of(block), null, Tier.UNKNOWN, 0);
    }

    @Test
    void aPlacementEndsOnce() {
        fact(placed("node/a", Tier.DEVICE));
        fact(placed("node/a", Tier.HOST));
        fact(placed("store/1", Tier.STORE));
        fact(placed("node/a", Tier.HOST));
        fact(new EngineLeft(envelope("node/a"), "engine"));
        fact(new BlocksRemoved(envelope("node/a"), Tier.HOST, "other", RemovalReason.QUOTA, List.of(new Block(0, KEY, Bytes.EMPTY)), 0));
        fact(new BlocksRemoved(envelope("node/a"), Tier.HOST, "chat", RemovalReason.QUOTA, List.of(new Block(0, KEY, Bytes.EMPTY)), 0));
        fact(placed("node/a", Tier.DISK));
        fact(new NodeEnded(envelope("node/a"), 1, RemovalReason.NODE_LOST));
        fact(new AgentAccepted(envelope("node/a"), "a", "p", 2, List.of(), Bytes.EMPTY, Bytes.EMPTY, 0, Policies.INITIAL, null, false));
        fact(placed("node/a", Tier.DISK));
        intervals.finish();

        assertEquals(List.of(
                "node/a HOST from 10 to 30 PLACED_AGAIN",
                "node/a DEVICE from 0 to 40 ENGINE_LEFT",
                "node/a HOST from 30 to 60 QUOTA",
                "node/a DISK from 70 to 80 NODE_LOST",
                "node/a DISK from 100 to now",
                "store/1 STORE from 20 to now"), found);
    }
}
