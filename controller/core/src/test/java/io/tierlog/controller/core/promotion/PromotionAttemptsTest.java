/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.promotion;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.controller.core.Agent;
import io.tierlog.controller.core.World;
import io.tierlog.controller.core.state.Blocks;
import io.tierlog.schemas.Block;
import io.tierlog.schemas.BlockResult;
import io.tierlog.schemas.BlockStatus;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.OperationReason;
import io.tierlog.schemas.PeerReadReason;
import io.tierlog.schemas.Policy;
import io.tierlog.schemas.PromotionOutcome;
import io.tierlog.schemas.PromotionReply;
import io.tierlog.schemas.RefusalReason;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.command.CancelOperation;
import io.tierlog.schemas.command.DropBlocks;
import io.tierlog.schemas.command.PromoteBlocks;
import io.tierlog.schemas.decision.InputRefused;
import io.tierlog.schemas.decision.OperationEnded;
import io.tierlog.schemas.decision.PeerReadRefused;
import io.tierlog.schemas.decision.PromotionSettled;
import io.tierlog.schemas.event.OperationCancelled;
import io.tierlog.schemas.event.PeerReadRequested;
import io.tierlog.schemas.event.PromoteDone;
import io.tierlog.schemas.event.PromotionRequested;
import io.tierlog.schemas.state.PlacementState;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** Attempts of promotions, and reports of them that come too late, from other senders, or that differ from the command; what counts as a use. */
final class PromotionAttemptsTest extends PromotionScene {
    private PromoteBlocks start() {
        ask(0, 6);
        return w.command(PromoteBlocks.class);
    }

    private List<PromotionOutcome> outcomes() {
        return w.facts(PromotionSettled.class).stream().map(PromotionSettled::outcome).toList();
    }

    private PromoteDone by(Envelope envelope, PromoteDone done) {
        return new PromoteDone(envelope, done.operation(), done.lease(), done.namespace(), done.blocks(), done.awaited(), done.movedBytes(),
                done.durationMicros());
    }

    /** P3: page 0 was given to x after the attempt had failed: its late completion is refused, nothing becomes visible, and x stays. */
    @Test
    void aCompletionWhosePagesWereGivenToAnother() {
        PromoteBlocks command = start();
        w.input(failed(command, OperationReason.IO));
        List<Bytes> x = Agent.path("x", 1);
        w.warm(a, "x", x, 0);

        w.input(done(command, 0));

        assertEquals(RefusalReason.OPERATION_ENDED, w.fact(InputRefused.class).reason());
        assertEquals("InputRefused", w.factNames());
        assertEquals(PlacementState.ABSENT, w.state(a, Tier.HOST, p.get(0)));
        assertEquals(PlacementState.SERVING, w.state(a, Tier.HOST, x.get(0)));
        assertEquals(1, w.host(a).usedBlocks());
        assertEquals(0, counts().operations());
    }

    /** P4: another process reports success, in the name of this node: refused, and the attempt goes on to its own end. */
    @Test
    void aCompletionByAnotherProcess() {
        PromoteBlocks command = start();
        PromoteDone own = done(command, 0);

        w.input(by(new Envelope(a.aggregate(), "agent/b/b-1", a.incarnation, 1, 0, 0, null, null, null), own));
        assertEquals("InputRefused", w.factNames());
        assertEquals(PlacementState.WRITING, w.state(a, Tier.HOST, p.get(0)));
        assertEquals(1, counts().operations());

        w.input(own);
        assertEquals(PlacementState.SERVING, w.state(a, Tier.HOST, p.get(0)));
        assertEquals(0, counts().operations());
    }

    /** P4: another node reports it of itself: that is a report on its own bytes, and ends nothing here. */
    @Test
    void aCompletionByAnotherNode() {
        Agent b = w.register(new Agent("b", "b-1", 20, 40));
        PromoteBlocks command = start();

        w.input(by(b.envelope(), done(command, 0)));

        assertEquals(List.of(), w.facts(OperationEnded.class));
        assertEquals(List.of(), outcomes());
        assertEquals(PlacementState.WRITING, w.state(a, Tier.HOST, p.get(0)));
        assertEquals(1, counts().operations());
        assertNull(Objects.requireNonNull(w.copy(b, Tier.HOST, p.get(0))).promotedUnder(), "it was not promoted there");
    }

    /** P4, another size: of 6 blocks 2 are named and one without a command: the 4 have failed, and the extra one is not a promotion of ours. */
    @Test
    void aCompletionOfAnotherSize() {
        PromoteBlocks command = start();
        PromoteDone done = done(command, 0);
        List<BlockResult> results = new ArrayList<>(done.blocks().subList(0, 2));
        Block stranger = Agent.block(Agent.path("q", 1), 0);
        results.add(new BlockResult(stranger, BlockStatus.ARRIVED, OperationReason.COMPLETED, 9, 1, 77, Tier.DISK));

        w.input(new PromoteDone(done.envelope(), done.operation(), done.lease(), done.namespace(), results, List.of(2, 7, -1), 3 * 4_096L, 1));

        OperationEnded ended = w.fact(OperationEnded.class);
        // Three have arrived, by its own report, of which one was not ordered; four of the six have not.
        assertEquals(List.of(3, 4), List.of(ended.doneBlocks(), ended.failedBlocks()));
        assertEquals(List.of(PromotionOutcome.FAILED), outcomes());
        assertEquals(List.of(2, 3, 4, 5), World.indexes(w.fact(PromotionSettled.class).blocks()));
        assertNotNull(Objects.requireNonNull(w.copy(a, Tier.HOST, p.get(1))).promotedUnder());
        assertNull(Objects.requireNonNull(w.copy(a, Tier.HOST, stranger.key())).promotedUnder());
        assertEquals(PlacementState.ABSENT, w.state(a, Tier.HOST, p.get(2)));
        assertEquals(3, w.host(a).usedBlocks());
    }

    /**
     * P5: an attempt that takes too long is cancelled; once it has ended so, its late completion is ignored, and memory is what it was.
     */
    @Test
    void aCompletionOfAReapedAttempt() {
        long used = w.host(a).usedBlocks();
        PromoteBlocks command = start();
        assertEquals(used + 6, w.host(a).usedBlocks());
        CancelOperation cancel = null;
        for (int s = 0; s < 300 && cancel == null; s++) {
            w.input(a.heartbeat());
            w.tick(1_000);
            cancel = w.commands(CancelOperation.class).stream().findFirst().orElse(null);
        }
        assertEquals(command.operation(), Objects.requireNonNull(cancel, "an attempt that never ends is cancelled").operation());
        assertEquals(used + 6, w.host(a).usedBlocks(), "its places stay until the agent has answered");

        w.input(new OperationCancelled(a.envelope(), command.operation(), OperationReason.CANCELLED, Agent.NAMESPACE,
                Agent.failed(Blocks.of(command.blocks()), OperationReason.CANCELLED)));
        assertEquals(List.of(PromotionOutcome.FAILED), outcomes());
        assertEquals(List.of(used, 0), List.of(w.host(a).usedBlocks(), counts().operations()));

        w.input(done(command, 0));
        assertEquals("InputRefused", w.factNames());
        assertEquals(used, w.host(a).usedBlocks());
        assertEquals(PlacementState.ABSENT, w.state(a, Tier.HOST, p.get(0)));
    }

    /** Two triggers for one key, a directory's probe and a read's own ask by the agent: one promotion, whichever is first. */
    @Test
    void aProbeAndAReadStartOnePromotion() {
        ask(0, 3);
        assertEquals(1, w.commands(PromoteBlocks.class).size());

        w.input(new PromotionRequested(a.envelope(), "read", Agent.NAMESPACE, Agent.blocks(p, 0, 6)));

        assertEquals(Map.of(PromotionReply.JOINED, List.of(0, 1, 2), PromotionReply.STARTED, List.of(3, 4, 5)), replies());
        assertEquals(List.of(3, 4, 5), World.indexes(Blocks.of(w.command(PromoteBlocks.class).blocks())));
        assertEquals(Map.of(PromotionReply.JOINED, List.of(0, 1, 2, 3, 4, 5)), ask(0, 6));
        assertEquals(List.of(), w.commands(PromoteBlocks.class));
    }

    /** A request whose device has blocks 0 and 1, and whose last block may not be reused, uses 2 to 4 of 6: the others are no hits. */
    @Test
    void whatARequestDoesNotTakeFromTheHostIsNoHit() {
        w.input(done(start(), 0));

        w.input(a.submit("r", p).device(2).tokens(12).event());

        assertEquals(List.of(PromotionOutcome.PROMOTED_HIT), outcomes());
        assertEquals(List.of(2, 3, 4), World.indexes(w.fact(PromotionSettled.class).blocks()));
        assertNotNull(Objects.requireNonNull(w.copy(a, Tier.HOST, p.get(0))).promotedUnder());
        assertNotNull(Objects.requireNonNull(w.copy(a, Tier.HOST, p.get(5))).promotedUnder());
    }

    /** A block that is leaving the host is not promoted again for a grant: before it has left, nothing records whether it was used. */
    @Test
    void whatLeavesIsNotPromotedForAGrant() {
        w.input(done(start(), 0));
        w.tick(10_000);
        Policy low = policy(PROMOTION);
        w.policy(new Policy(low.prefetchThresholdBlocks(), low.writePolicy(), 0.2, 0.1, low.diskHighMark(), low.diskLowMark(), true, 100, 60_000,
                5_000, 0, false, null, low.fetch()));
        w.tick();
        assertEquals(PlacementState.LEAVING, w.state(a, Tier.HOST, p.get(5)));
        assertTrue(w.commands.stream().anyMatch(DropBlocks.class::isInstance));

        w.input(new PeerReadRequested(new Envelope(a.aggregate(), "agent/b/b-1", 1, 1, 0, 0, null, null, null), "node/b@7.0", "b",
                Agent.NAMESPACE, Agent.blocks(p, 0, 6)));

        assertEquals(PeerReadReason.BUSY, w.fact(PeerReadRefused.class).reason());
        assertEquals(List.of(), w.commands(PromoteBlocks.class));
    }
}
