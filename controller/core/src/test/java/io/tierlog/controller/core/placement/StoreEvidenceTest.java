/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.placement;

import static io.tierlog.controller.core.World.assertRefused;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.controller.core.Agent;
import io.tierlog.controller.core.api.Input;
import io.tierlog.controller.core.invariant.Invariant;
import io.tierlog.controller.core.invariant.LogInvariants;
import io.tierlog.controller.core.state.Blocks;
import io.tierlog.schemas.BlockResult;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.OperationReason;
import io.tierlog.schemas.PagedBlock;
import io.tierlog.schemas.RefusalReason;
import io.tierlog.schemas.RemovalReason;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.command.DropBlocks;
import io.tierlog.schemas.decision.BlocksPlaced;
import io.tierlog.schemas.decision.BlocksRemoved;
import io.tierlog.schemas.decision.BlocksTouched;
import io.tierlog.schemas.decision.BlocksUnconfirmed;
import io.tierlog.schemas.decision.OperationIssued;
import io.tierlog.schemas.event.BlocksMissing;
import io.tierlog.schemas.event.BlocksSeenStored;
import io.tierlog.schemas.event.BlocksStored;
import io.tierlog.schemas.event.DropDone;
import io.tierlog.schemas.event.DropFailed;
import io.tierlog.schemas.event.NodeDrainRequested;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What agents find, or do not find, in the store that a drop relies on. Disk 10, marks 0.8 and 0.5: of 8 blocks the deepest 4 are to go. */
class StoreEvidenceTest extends DiskScene {
    private final List<Bytes> p = Agent.path("p", 8);

    private DropBlocks dropThatReliesOnTheStore() {
        w.input(found(a, p, 0, 8));
        w.input(new BlocksSeenStored(a.envelope(), Agent.NAMESPACE, Agent.blocks(p, 0, 8)));
        assertEquals(Tier.STORE, w.facts(OperationIssued.class).getLast().reliesOn());
        return w.command(DropBlocks.class);
    }

    private static Envelope envelope(String aggregate, String sender) {
        return new Envelope(aggregate, sender, 0, 1, 0, 0, null, null, null);
    }

    private DropFailed failed(DropBlocks drop, OperationReason why) {
        return new DropFailed(a.envelope(), drop.operation(), Tier.DISK, why, Agent.NAMESPACE, Agent.failed(Blocks.of(drop.blocks()), why));
    }

    @Test
    void whatTheStoreLacksIsTheLastCopyAgain() {
        DropBlocks drop = dropThatReliesOnTheStore();

        w.input(failed(drop, OperationReason.NOT_IN_STORE));

        assertEquals(Blocks.of(drop.blocks()), w.fact(BlocksUnconfirmed.class).blocks());
        assertEquals(List.of(), w.facts(BlocksTouched.class), "they are as cold as before");
        assertEquals(8, w.tier(a, Tier.DISK).usedBlocks());
        w.tick();
        assertEquals(List.of(), w.commands(DropBlocks.class), "p7 to p4 stay, and p3 is not their end");
        w.input(new BlocksSeenStored(a.envelope(), Agent.NAMESPACE, Agent.blocks(p, 7, 8)));
        assertEquals(List.of("p7"), names(w.command(DropBlocks.class).blocks()), "it was saved again");
    }

    @Test
    void ofADropThatWasDoneInPartOnlyTheRestIsUnconfirmed() {
        DropBlocks drop = dropThatReliesOnTheStore();
        List<BlockResult> results = new ArrayList<>(Agent.gone(drop).subList(0, 1));
        results.addAll(Agent.failed(Blocks.of(drop.blocks().subList(1, 4)), OperationReason.NOT_IN_STORE));

        w.input(new DropDone(a.envelope(), drop.operation(), Tier.DISK, Agent.NAMESPACE, results));

        assertEquals(Agent.blocks(p, 4, 7).reversed(), w.fact(BlocksUnconfirmed.class).blocks());
        assertEquals(List.of(1, 0), List.of(w.fact(BlocksRemoved.class).blocks().size(), w.fact(BlocksRemoved.class).lastCopiesLost()));
    }

    @Test
    void aStoreThatDoesNotAnswerIsNoEvidenceAndNoUse() {
        DropBlocks drop = dropThatReliesOnTheStore();

        w.input(failed(drop, OperationReason.STORE_UNAVAILABLE));

        assertEquals(List.of(), w.facts(BlocksUnconfirmed.class));
        assertEquals(List.of(), w.facts(BlocksTouched.class));
        assertEquals(List.of(), w.commands(DropBlocks.class), "not before the next tick or event");
        w.tick();
        assertEquals(drop.blocks(), w.command(DropBlocks.class).blocks());
    }

    @Test
    void objectsThatAreGoneLeaveTheShardOfTheStore() {
        List<PagedBlock> blocks = Agent.paged(p, 0, 3, -1);
        w.input(new BlocksStored(envelope("store/4", "agent/a/1"), "a", Agent.NAMESPACE, blocks));

        w.input(new BlocksMissing(envelope("store/4", "agent/b/1"), "b", Agent.NAMESPACE, blocks.subList(1, 3)));

        BlocksRemoved removed = w.fact(BlocksRemoved.class);
        assertEquals(List.of(Tier.STORE, RemovalReason.MISSING, Agent.blocks(p, 1, 3)),
                List.of(removed.tier(), removed.reason(), removed.blocks()));
        assertRefused(RefusalReason.REPEATED,
                w.input(new BlocksMissing(envelope("store/4", "agent/a/1"), "a", Agent.NAMESPACE, blocks.subList(1, 3))));
        assertRefused(RefusalReason.WRONG_AGGREGATE,
                w.input(new BlocksMissing(envelope("node/a", "agent/a/1"), "a", Agent.NAMESPACE, blocks)));
        w.input(new BlocksStored(envelope("store/4", "agent/b/1"), "b", Agent.NAMESPACE, blocks));
        assertEquals(blocks.subList(1, 3), w.fact(BlocksPlaced.class).blocks(), "stored again");
    }

    /** The log alone shows a drop that took a block of which the agent does not name where it has seen it. */
    @Test
    void aDropThatSawNothingIsFoundInTheLog() {
        DropBlocks drop = dropThatReliesOnTheStore();
        w.input(new DropDone(a.envelope(), drop.operation(), Tier.DISK, Agent.NAMESPACE, Agent.gone(drop.blocks())));
        assertEquals(List.of("block " + p.getLast() + " left DISK relying on STORE, and the agent has not seen it there"), evidenceFindings());
    }

    /** A decision that was aborted gave its drop the same id: the agent took its blocks, and the log has only the second decision. */
    @Test
    void blocksThatTheDropDoesNotNameReliedOnSomethingElse() {
        DropBlocks drop = dropThatReliesOnTheStore();
        List<BlockResult> results = new ArrayList<>(Agent.gone(drop));
        results.addAll(Agent.gone(List.of(new PagedBlock(Agent.blocks(p, 3, 4).getFirst(), -1, 99, 0))));

        w.input(new DropDone(a.envelope(), drop.operation(), Tier.DISK, Agent.NAMESPACE, results));

        assertEquals(5, w.fact(BlocksRemoved.class).blocks().size());
        assertEquals(List.of(), evidenceFindings());
    }

    @Test
    void aDropFromAnotherTierUnderTheSameIdReliedOnSomethingElse() {
        DropBlocks drop = dropThatReliesOnTheStore();

        w.input(new DropDone(a.envelope(), drop.operation(), Tier.HOST, Agent.NAMESPACE, Agent.gone(drop.blocks())));

        assertEquals(List.of(), evidenceFindings());
    }

    /** The drain that begins meanwhile counts its blocks as unsaved until the store has answered, and the agent has just seen them there. */
    @Test
    void whatTheAgentSawInTheStoreIsNoLastCopy() {
        DropBlocks drop = dropThatReliesOnTheStore();
        w.input(new NodeDrainRequested(new Envelope(a.aggregate(), "operator/o", 0, 1, 0, 0, null, null, null), "d1", true, null));
        w.tick();
        assertTrue(w.facts(BlocksUnconfirmed.class).stream().anyMatch(f -> f.blocks().containsAll(Blocks.of(drop.blocks()))));

        w.input(new DropDone(a.envelope(), drop.operation(), Tier.DISK, Agent.NAMESPACE, Agent.gone(drop)));

        assertEquals(0, w.fact(BlocksRemoved.class).lastCopiesLost());
        assertEquals(List.of(), evidenceFindings());
    }

    /** What the log so far says against I11. */
    private List<String> evidenceFindings() {
        List<String> found = new ArrayList<>();
        LogInvariants invariants = new LogInvariants(v -> {
            if (v.invariant() == Invariant.I11) {
                found.add(v.detail());
            }
        });
        int next = 0;
        for (Input input : w.log) {
            invariants.event(0, input.offset(), ((Input.Recorded) input).event());
            while (next < w.facts.size() && String.valueOf(w.facts.get(next).envelope().cause()).endsWith("@" + input.offset())) {
                invariants.decision(0, 0, w.facts.get(next++));
            }
        }
        return found;
    }
}
