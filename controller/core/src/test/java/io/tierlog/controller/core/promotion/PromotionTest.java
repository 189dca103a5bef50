/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.promotion;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.controller.core.Agent;
import io.tierlog.controller.core.World;
import io.tierlog.controller.core.state.Blocks;
import io.tierlog.controller.core.table.Namespaces;
import io.tierlog.controller.core.table.RowKey;
import io.tierlog.controller.core.table.Rows;
import io.tierlog.schemas.Block;
import io.tierlog.schemas.BlockStatus;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.LeaseEndReason;
import io.tierlog.schemas.OperationReason;
import io.tierlog.schemas.OperationState;
import io.tierlog.schemas.PagedBlock;
import io.tierlog.schemas.PromotionOutcome;
import io.tierlog.schemas.PromotionPolicy;
import io.tierlog.schemas.PromotionReply;
import io.tierlog.schemas.RefusalReason;
import io.tierlog.schemas.RemovalReason;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.command.CancelOperation;
import io.tierlog.schemas.command.PrefetchBlocks;
import io.tierlog.schemas.command.PromoteBlocks;
import io.tierlog.schemas.command.ReleasePins;
import io.tierlog.schemas.command.ResumeRequest;
import io.tierlog.schemas.decision.InputRefused;
import io.tierlog.schemas.decision.LeaseEnded;
import io.tierlog.schemas.decision.LeaseHeld;
import io.tierlog.schemas.decision.LeaseRequested;
import io.tierlog.schemas.decision.OperationEnded;
import io.tierlog.schemas.decision.PromotionSettled;
import io.tierlog.schemas.decision.PromotionsPaused;
import io.tierlog.schemas.event.NodeDrainRequested;
import io.tierlog.schemas.event.OperationCancelled;
import io.tierlog.schemas.event.PrefetchDone;
import io.tierlog.schemas.event.PromoteDone;
import io.tierlog.schemas.state.PlacementState;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** Blocks come from the disk to the host ahead of requests: answers, attempts, throttle, ends and outcomes. */
final class PromotionTest extends PromotionScene {
    private PromoteBlocks start() {
        ask(0, 6);
        return w.command(PromoteBlocks.class);
    }

    private List<PromotionOutcome> outcomes() {
        return w.facts(PromotionSettled.class).stream().map(PromotionSettled::outcome).toList();
    }

    private void tickTo(long timeMs) {
        w.tick(timeMs - w.timeMs());
    }

    /** 6 blocks of the disk: one operation, shallow to deep, with a lease that belongs to no request. */
    @Test
    void aProbeStartsOnePromotion() {
        assertEquals(Map.of(PromotionReply.STARTED, List.of(0, 1, 2, 3, 4, 5)), ask(0, 6));

        assertEquals("PromotionAnswered OperationIssued LeaseRequested", w.factNames());
        PromoteBlocks command = w.command(PromoteBlocks.class);
        assertEquals(List.of(0, 1, 2, 3, 4, 5), World.indexes(Blocks.of(command.blocks())));
        assertEquals(List.of(-1, 7L, 77), List.of(command.blocks().getFirst().page(), command.blocks().getFirst().generation(),
                command.blocks().getFirst().crc32c()));
        assertEquals("", w.fact(LeaseRequested.class).request());
        assertEquals(PlacementState.WRITING, w.state(a, Tier.HOST, p.get(5)));
        assertEquals(1, counts().operations());
    }

    /** 1,000 probes of one key in 30 s: one promotion. Under way it is joined, on the host it is resident. */
    @Test
    void oneThousandProbesOfOneKey() {
        int started = 0;
        List<PromotionReply> seen = new ArrayList<>();
        for (int i = 0; i < 1_000; i++) {
            tickTo(1_000 + 30L * i);
            Map<PromotionReply, List<Integer>> replies = ask(0, 1);
            seen.addAll(replies.keySet());
            started += w.commands(PromoteBlocks.class).size();
            if (i == 400) {
                w.input(done(commandOf(), 0));
            }
        }
        assertEquals(1, started);
        assertEquals(List.of(PromotionReply.STARTED, PromotionReply.JOINED, PromotionReply.RESIDENT), seen.stream().distinct().toList());
        assertEquals(599, seen.stream().filter(PromotionReply.RESIDENT::equals).count());
    }

    private PromoteBlocks commandOf() {
        return w.commands.stream().filter(PromoteBlocks.class::isInstance).map(PromoteBlocks.class::cast).toList().getLast();
    }

    /** Limit 1 and three keys: they go one after another. With space for 1 more, that one waits; the fourth and fifth of 5 do not. */
    @Test
    void oneAfterAnother() {
        w.policy(policy(new PromotionPolicy(true, 1, 1, 2, 30_000, 5_000)));

        assertEquals(Map.of(PromotionReply.STARTED, List.of(0), PromotionReply.QUEUED, List.of(1, 2), PromotionReply.QUEUE_FULL, List.of(3, 4)),
                ask(0, 5));
        assertEquals(2, counts().queuedBlocks());
        assertEquals(Map.of(PromotionReply.JOINED, List.of(0, 1, 2)), ask(0, 3));

        for (int i = 0; i < 3; i++) {
            PromoteBlocks command = commandOf();
            assertEquals(List.of(i), World.indexes(Blocks.of(command.blocks())));
            w.input(done(command, i));
            assertEquals(2 - i > 0 ? 1 : 0, w.commands(PromoteBlocks.class).size());
        }
        assertEquals(List.of(0, 0L, 3L), List.of(counts().operations(), counts().queuedBlocks(), counts().rememberedBlocks()));
    }

    /** All arrive: 6 serve under the lease, recorded as on the disk; its end is an ordinary one. */
    @Test
    void allArrive() {
        PromoteBlocks command = start();

        w.input(done(command, 0));

        assertEquals("BlocksPlaced OperationEnded LeaseHeld", w.factNames());
        assertEquals(OperationState.DONE, w.fact(OperationEnded.class).state());
        assertEquals(Blocks.of(command.blocks()), w.fact(LeaseHeld.class).blocks());
        assertNotNull(Objects.requireNonNull(w.copy(a, Tier.HOST, p.get(3))).promotedUnder());
        tickTo(6_000);
        assertEquals(LeaseEndReason.EXPIRED, w.fact(LeaseEnded.class).reason());
    }

    /** Looking moves no recency: the copy on the host is as cold as the one on the disk. */
    @Test
    void promotedIsAsColdAsOnTheDisk() {
        long disk = Objects.requireNonNull(w.copy(a, Tier.DISK, p.get(5))).touch();
        assertTrue(disk > 0);

        w.input(done(start(), 0));

        assertEquals(disk, Objects.requireNonNull(w.copy(a, Tier.HOST, p.get(5))).touch());
        assertEquals(disk, Objects.requireNonNull(w.copy(a, Tier.DISK, p.get(5))).touch());
    }

    /** ttl 1,000 and end at 3,000: refused at 4,000, admitted at 4,001. */
    @Test
    void duplicateForAWhile() {
        w.policy(policy(new PromotionPolicy(true, 4, 32, 1_024, 1_000, 5_000)));
        ask(0, 1);
        PromoteBlocks command = commandOf();
        tickTo(2_001);
        assertEquals(Map.of(PromotionReply.JOINED, List.of(0)), ask(0, 1));
        tickTo(3_000);
        w.input(done(command, 0));
        w.input(a.evicted(Tier.HOST, RemovalReason.PRESSURE, Agent.paged(p, 0, 1, 0)));

        tickTo(3_500);
        ask(0, 1);
        assertEquals(501, told().retryMs());
        tickTo(4_000);
        assertEquals(Map.of(PromotionReply.DUPLICATE, List.of(0)), ask(0, 1));
        assertEquals(1, told().retryMs());
        tickTo(4_001);
        assertEquals(Map.of(PromotionReply.STARTED, List.of(0)), ask(0, 1));
    }

    /** G1: refused for a full queue: FAILED at once; it may start after the cooldown, not after 30 s. */
    @Test
    void refusedIsFailedAtOnce() {
        PromoteBlocks command = start();
        tickTo(2_000);

        w.input(refused(command, OperationReason.QUEUE_FULL));

        assertEquals("OperationEnded LeaseEnded PromotionSettled", w.factNames());
        assertEquals(List.of(PromotionOutcome.FAILED), outcomes());
        assertEquals(OperationReason.QUEUE_FULL, w.fact(PromotionSettled.class).reason());
        assertEquals(PlacementState.ABSENT, w.state(a, Tier.HOST, p.get(0)));
        assertEquals(0, counts().operations());
        tickTo(6_000);
        assertEquals(Map.of(PromotionReply.COOLDOWN, List.of(0)), ask(0, 1));
        assertEquals(1_001, told().retryMs());
        tickTo(7_000);
        assertEquals(Map.of(PromotionReply.COOLDOWN, List.of(0)), ask(0, 1));
        tickTo(7_001);
        assertEquals(Map.of(PromotionReply.STARTED, List.of(0)), ask(0, 1));
    }

    /** Out of memory at 2: waiting promotions are cancelled, cooldown to 5,002, at 5,003 a probe starts again. Attempt 1 survives (P2). */
    @Test
    void outOfMemory() {
        w.policy(policy(new PromotionPolicy(true, 2, 1, 2, 30_000, 5_000)));
        ask(0, 4);
        List<PromoteBlocks> two = w.commands(PromoteBlocks.class);
        tickTo(1_002);

        w.input(refused(two.get(1), OperationReason.NO_ROOM));

        PromotionsPaused paused = w.fact(PromotionsPaused.class);
        assertEquals(List.of(6_002L, 2L), List.of(paused.untilMs(), paused.cancelledBlocks()));
        assertEquals(List.of(1, 0L), List.of(counts().operations(), counts().queuedBlocks()));
        w.input(done(two.get(0), 0));
        assertEquals(PlacementState.SERVING, w.state(a, Tier.HOST, p.get(0)));
        tickTo(6_002);
        assertEquals(Map.of(PromotionReply.PRESSURE, List.of(2, 3)), ask(2, 4));
        assertEquals(1, told().retryMs());
        tickTo(6_003);
        assertEquals(Map.of(PromotionReply.STARTED, List.of(2, 3)), ask(2, 4));
    }

    /**
     * Host 20 with its high mark at 18: 17 are below it, so 15 warm blocks leave space for 2; the shallowest get it, the rest is under pressure.
     */
    @Test
    void onlyIntoSpaceBelowTheHighMark() {
        w.warm(a, "x", Agent.path("x", 15), 0);

        assertEquals(Map.of(PromotionReply.STARTED, List.of(0, 1), PromotionReply.PRESSURE, List.of(2, 3, 4, 5)), ask(0, 6));
        assertEquals(17, w.host(a).usedBlocks());
        assertFalse(w.host(a).inRelief());
    }

    /** A key of size 0: INVALID_SIZE, the others go on; what the disk does not have is not found. */
    @Test
    void eachKeyHasItsAnswer() {
        Block none = new Block(0, Bytes.EMPTY, Bytes.EMPTY);
        Block unknown = new Block(0, Agent.key("unknown"), Bytes.EMPTY);

        w.input(probe(List.of(none, unknown, Agent.block(p, 0), Agent.block(p, 0))));

        assertEquals(Map.of(PromotionReply.INVALID_SIZE, List.of(0), PromotionReply.NOT_FOUND, List.of(0), PromotionReply.STARTED, List.of(0),
                PromotionReply.JOINED, List.of(0)), replies());
        assertEquals(1, w.command(PromoteBlocks.class).blocks().size());
    }

    /** 129 blocks are more than a probe names; 0 are none. */
    @Test
    void aProbeNamesOneToOneHundredAndTwentyEight() {
        List<Block> many = Agent.blocks(Agent.path("q", 129), 0, 129);
        w.input(probe(many));
        assertEquals(RefusalReason.OVER_LIMIT, w.fact(InputRefused.class).reason());
        w.input(probe(List.of()));
        assertEquals(RefusalReason.OVER_LIMIT, w.fact(InputRefused.class).reason());
        w.input(probe(many.subList(0, 128)));
        assertEquals(List.of(PromotionReply.NOT_FOUND), List.copyOf(replies().keySet()));
    }

    /** Tenants: another tenant's key is another block. */
    @Test
    void anotherTenantsBlockIsNotFound() {
        w.input(probe("other/bf16", Agent.blocks(p, 0, 2)));
        assertEquals(Map.of(PromotionReply.NOT_FOUND, List.of(0, 1)), replies());
    }

    @Test
    void policyCanForbidIt() {
        w.policy(policy(new PromotionPolicy(true, 1, 1, 10, 30_000, 5_000)));
        ask(0, 3);
        w.policy(policy(new PromotionPolicy(false, 1, 1, 10, 30_000, 5_000)));

        assertEquals(Map.of(PromotionReply.DISABLED, List.of(0, 5)), askEnds());
        assertEquals(0, counts().queuedBlocks());
        assertEquals(1, counts().operations());
    }

    private Map<PromotionReply, List<Integer>> askEnds() {
        w.input(probe(List.of(Agent.block(p, 0), Agent.block(p, 5))));
        return replies();
    }

    /** A node that drains begins none, and its waiting promotions are cancelled. */
    @Test
    void aDrainingNodePromotesNothing() {
        w.policy(policy(new PromotionPolicy(true, 1, 1, 10, 30_000, 5_000)));
        ask(0, 3);

        w.input(new NodeDrainRequested(new Envelope(a.aggregate(), "operator/x", 0, 0, 0, 0, null, null, null), "d1", true, null));

        assertEquals(2, w.fact(PromotionsPaused.class).cancelledBlocks());
        assertEquals(0, counts().queuedBlocks());
        assertEquals(Map.of(PromotionReply.JOINED, List.of(0), PromotionReply.DRAINING, List.of(1, 2, 3, 4, 5)), ask(0, 6));
    }

    /** A promoted block that a request walks over is a hit, once. */
    @Test
    void usedByARequest() {
        w.input(done(start(), 0));

        w.input(a.submit("r", p).event());
        assertEquals(List.of(PromotionOutcome.PROMOTED_HIT), outcomes());
        assertEquals(6, w.fact(PromotionSettled.class).blocks().size());
        assertNull(Objects.requireNonNull(w.copy(a, Tier.HOST, p.get(3))).promotedUnder());
        w.input(a.submit("r2", p).event());
        assertEquals(List.of(), outcomes());
    }

    /** The lease ends with the use of the deepest block; a use of what is before it leaves the rest expected, and held. */
    @Test
    void theLeaseEndsWhenAllOfItWasUsed() {
        PromoteBlocks command = start();
        w.input(done(command, 0));

        w.input(a.submit("r", p.subList(0, 3)).event());
        assertEquals(List.of(0, 1, 2), World.indexes(w.fact(PromotionSettled.class).blocks()));
        assertEquals(List.of(), w.facts(LeaseEnded.class));
        assertEquals(1, Objects.requireNonNull(w.copy(a, Tier.HOST, p.get(5))).holds());

        w.input(a.submit("r2", p).event());
        assertEquals(List.of(3, 4, 5), World.indexes(w.fact(PromotionSettled.class).blocks()));
        assertEquals(command.lease(), w.fact(LeaseEnded.class).lease());
        assertEquals(LeaseEndReason.USED, w.fact(LeaseEnded.class).reason());
        assertEquals(command.lease(), w.command(ReleasePins.class).pin());
        assertEquals(0, Objects.requireNonNull(w.copy(a, Tier.HOST, p.get(5))).holds());
        tickTo(6_000);
        assertEquals(List.of(), w.facts(LeaseEnded.class), "it ends once");
    }

    /** The release does not answer an event of its own, so its number is recorded with the end of the lease. */
    @Test
    void afterTheReleaseCommandsGoOnWithTheNextNumber() {
        w.input(done(start(), 0));
        w.input(a.submit("r", p).event());
        long number = w.command(ReleasePins.class).header().commandSequence();

        w.input(a.submit("r2", p).event());

        assertEquals(number + 1, w.command(ResumeRequest.class).header().commandSequence());
    }

    /** A block that leaves before any request used it has that as its outcome. */
    @Test
    void evictedBeforeUse() {
        w.input(done(start(), 0));
        tickTo(10_000);

        w.input(a.evicted(Tier.HOST, RemovalReason.PRESSURE, Agent.paged(p, 5, 6, 5)));

        assertEquals(List.of(PromotionOutcome.PROMOTED_EVICTED_BEFORE_USE), outcomes());
        assertEquals(List.of(5), World.indexes(w.fact(PromotionSettled.class).blocks()));
    }

    /** A request comes while they are on their way and waits, through a fetch of its own that the agent joins to the promotion. */
    @Test
    void waitedFor() {
        PromoteBlocks command = start();
        w.input(a.submit("r", p).event());
        PrefetchBlocks fetch = w.command(PrefetchBlocks.class);
        assertEquals(List.of(), outcomes());

        w.input(done(command, 0, 0, 1, 2, 3, 4, 5));

        assertEquals(List.of(PromotionOutcome.PROMOTED_HIT_WAITED), outcomes());
        assertEquals(6, w.fact(PromotionSettled.class).blocks().size());
        assertEquals(LeaseEndReason.USED, w.fact(LeaseEnded.class).reason(), "who waited has a lease of its own");
        w.input(new PrefetchDone(a.envelope(), fetch.operation(), fetch.lease(), Agent.NAMESPACE,
                Agent.results(fetch.blocks(), BlockStatus.ALREADY_THERE, OperationReason.COMPLETED, 0), 0, 1));
        assertEquals(6, w.host(a).usedBlocks());
    }

    /** A request that comes while they are on their way and goes on without them: too late, and their arrival is not a second outcome. */
    @Test
    void missedInTheRace() {
        PromoteBlocks command = start();

        w.input(a.submit("r", p).answered().event());
        assertEquals(List.of(PromotionOutcome.MISSED_RACE), outcomes());
        w.input(a.submit("r2", p).answered().event());
        assertEquals(List.of(), outcomes());

        w.input(done(command, 0));
        assertEquals(List.of(), outcomes());
        w.input(a.submit("r3", p).event());
        assertEquals(List.of(), outcomes());
    }

    /** Two of six arrive: the others have failed, each for its own reason. */
    @Test
    void someArrive() {
        w.input(partly(start(), 0, 2));

        assertEquals(List.of(PromotionOutcome.FAILED), outcomes());
        assertEquals(List.of(2, 3, 4, 5), World.indexes(w.fact(PromotionSettled.class).blocks()));
        assertEquals(OperationReason.CHECKSUM, w.fact(PromotionSettled.class).reason());
        assertEquals(2, w.host(a).usedBlocks());
        assertEquals(Map.of(PromotionReply.RESIDENT, List.of(0, 1), PromotionReply.COOLDOWN, List.of(2, 3, 4, 5)), ask(0, 6));
    }

    /** P6: the block leaves the disk while it is promoted: cancelled, and the counters are back to 0. One that waits is cancelled too. */
    @Test
    void removedWhilePromoted() {
        w.policy(policy(new PromotionPolicy(true, 1, 1, 10, 30_000, 5_000)));
        ask(4, 6);
        PromoteBlocks command = commandOf();
        List<PagedBlock> gone = Agent.blocks(p, 4, 6).stream().map(b -> new PagedBlock(b, -1, 7, 77)).toList();

        w.input(a.evicted(Tier.DISK, RemovalReason.CHECKSUM, gone));

        assertEquals(command.operation(), w.command(CancelOperation.class).operation());
        assertEquals(List.of(PromotionOutcome.FAILED), outcomes());
        assertEquals(List.of(5), World.indexes(w.fact(PromotionSettled.class).blocks()));
        w.input(new OperationCancelled(a.envelope(), command.operation(), OperationReason.CANCELLED, Agent.NAMESPACE,
                Agent.failed(Blocks.of(command.blocks()), OperationReason.CANCELLED)));
        assertEquals(List.of(PromotionOutcome.FAILED), outcomes());
        assertEquals(List.of(0, 0L), List.of(counts().operations(), counts().queuedBlocks()));
        assertEquals(0, w.host(a).usedBlocks());
    }

    /** A request's own fetch takes what waits for a promotion. */
    @Test
    void aFetchTakesWhatWaits() {
        w.policy(policy(new PromotionPolicy(true, 1, 1, 10, 30_000, 5_000)));
        ask(0, 6);
        assertEquals(5, counts().queuedBlocks());

        w.input(a.submit("r", p).event());

        assertEquals(6, w.command(PrefetchBlocks.class).blocks().size());
        assertEquals(List.of(1, 0L), List.of(counts().operations(), counts().queuedBlocks()));
    }

    /** P3, P5: the end of an operation that has ended already is refused: nothing becomes visible, no second outcome. */
    @Test
    void lateAndUnknownEnds() {
        PromoteBlocks command = start();
        w.input(failed(command, OperationReason.IO));
        PromoteDone late = done(command, 0);

        w.input(late);

        assertEquals("InputRefused", w.factNames());
        assertEquals(List.of(), outcomes());
        assertEquals(0, w.host(a).usedBlocks());
    }

    /** Each row is removed once it blocks nothing any more, and so is every row of an ended incarnation. */
    @Test
    void rowsAreForgotten() {
        w.policy(policy(new PromotionPolicy(true, 1, 2, 10, 30_000, 5_000)));
        ask(0, 6);
        w.input(done(commandOf(), 0));
        assertEquals(2, counts().rememberedBlocks());
        assertEquals(2, counts().queuedBlocks());
        w.input(a.stopping());
        w.tick(60_001);
        assertEquals(0, rows());
        assertNull(w.tables.get(Rows.PROMOTIONS, new RowKey.Mark(a.aggregate(), Namespaces.digest(Agent.NAMESPACE), p.get(5))));
    }

    /** A promotion of the last incarnation does not affect the next one, which may start it again. */
    @Test
    void aNewIncarnationStartsEmpty() {
        ask(0, 6);
        w.input(a.stopping());
        w.register(a);
        w.input(found(p));

        assertEquals(Map.of(PromotionReply.STARTED, List.of(0, 1, 2, 3, 4, 5)), ask(0, 6));
        assertEquals(1, counts().operations());
    }

    private int rows() {
        int rows = 0;
        try (var scan = w.tables.range(Rows.PROMOTIONS, new RowKey.Mark(a.aggregate(), Namespaces.NONE, Bytes.EMPTY), null)) {
            while (scan.next()) {
                rows++;
            }
        }
        return rows;
    }
}
