/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.placement;

import static io.tierlog.controller.core.World.assertRefused;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.controller.core.Agent;
import io.tierlog.controller.core.World;
import io.tierlog.controller.core.api.Limits;
import io.tierlog.controller.core.api.Outcome;
import io.tierlog.controller.core.table.HeapTables;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.PagedBlock;
import io.tierlog.schemas.RefusalReason;
import io.tierlog.schemas.RemovalReason;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.command.PrefetchBlocks;
import io.tierlog.schemas.command.WriteBackBlocks;
import io.tierlog.schemas.decision.QuotaExceeded;
import io.tierlog.schemas.event.BlocksRecovered;
import io.tierlog.schemas.event.BlocksStored;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A partition with all placements that it may have refuses what would add more, and goes on with all else. Here 10 are the most. */
class PartitionFullTest {
    private final World w = new World(new HeapTables(), Limits.DEFAULTS.withPlacements(10));
    private final Agent a = w.register(new Agent("a", "a-1", 100, 100));
    private final List<Bytes> p = Agent.path("p", 4);
    private final List<Bytes> q = Agent.path("q", 3);

    /** 4 blocks on the device and on the host: 8 of 10. */
    private void warm() {
        w.warm(a, "r", p, 0);
        assertEquals(8, w.clock().placements());
    }

    @Test
    void reportsOfMoreBlocksAreRefused() {
        warm();
        w.input(a.submit("r2", q).device(0).answered().event());
        w.input(a.prefilled("r2", 1));
        assertRefused(RefusalReason.PARTITION_FULL, w.input(a.sealed("r2", 1, Agent.paged(q, 0, 3, 500))));
        assertRefused(RefusalReason.PARTITION_FULL,
                w.input(new BlocksRecovered(a.envelope(), Tier.DISK, Agent.NAMESPACE, Agent.paged(q, 0, 3, 0), 0)));
        Envelope shard = new Envelope("store/0", "node/a", 0, 1, 0, 0, null, null, null);
        assertRefused(RefusalReason.PARTITION_FULL, w.input(new BlocksStored(shard, "", Agent.NAMESPACE, Agent.paged(q, 0, 3, 0))));
        assertEquals(8, w.clock().placements());

        // The request itself, and every other, goes on. What it computed is not on record, so nothing of it is written back.
        assertEquals(Outcome.APPLIED, w.input(a.finished("r2", 1)).outcome());
        assertEquals(List.of(), w.commands(WriteBackBlocks.class));

        // Two blocks fit. With space again the rest does too.
        assertEquals(Outcome.APPLIED, w.input(new BlocksRecovered(a.envelope(), Tier.DISK, Agent.NAMESPACE, Agent.paged(q, 0, 2, 0), 0)).outcome());
        assertEquals(10, w.clock().placements());
        List<PagedBlock> device = Agent.paged(p, 0, 4, 1_000).reversed();
        w.input(a.evicted(Tier.DEVICE, RemovalReason.PRESSURE, device));
        assertEquals(6, w.clock().placements());
        assertEquals(Outcome.APPLIED, w.input(new BlocksStored(shard, "", Agent.NAMESPACE, Agent.paged(q, 0, 3, 0))).outcome());
        assertEquals(9, w.clock().placements());
    }

    /** 3 of 5 blocks in the store would be fetched, and 2 fit: no more than the threshold of the policy, so nothing is fetched. */
    @Test
    void movesThatWouldAddMoreDoNotBegin() {
        warm();
        List<Bytes> longer = Agent.path("s", 5);
        w.input(a.submit("r2", longer).store(0, 5).event());

        assertEquals(List.of(), w.commands(PrefetchBlocks.class));
        QuotaExceeded exceeded = w.fact(QuotaExceeded.class);
        assertEquals(List.of(8L, 10L), List.of(exceeded.usedBlocks(), exceeded.quotaBlocks()));
        assertTrue(w.clock().placements() <= 10);
    }

    /** What was on its way when the partition became full arrives: its placements count from the beginning of the move. */
    @Test
    void whatIsOnItsWayArrives() {
        World narrow = new World(new HeapTables(), Limits.DEFAULTS.withPlacements(8));
        Agent b = narrow.register(new Agent("b", "b-1", 100));
        narrow.warm(b, "r", p, 0);
        assertEquals(8, narrow.clock().placements());
        assertRefused(RefusalReason.PARTITION_FULL, narrow.input(new BlocksRecovered(b.envelope(), Tier.HOST, Agent.NAMESPACE,
                List.of(Agent.paged(q, 0, 1, 50).getFirst()), 0)));
    }
}
