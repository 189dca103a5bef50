/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.invariant;

import io.tierlog.schemas.BlockResult;
import io.tierlog.schemas.PagedBlock;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.decision.BlocksPlaced;
import io.tierlog.schemas.event.Event;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Whether the event that a placement fact answers names each of its blocks (I8). Without state. */
final class Naming {
    private Naming() {}

    /** Checks {@code placed}; {@code node} is null for a shard of the store. */
    static void check(Findings findings, BlocksPlaced placed, Cause cause, @Nullable NodeFold node) {
        Event event = cause.event;
        if (event == null) {
            findings.say(Invariant.I8, "blocks serve, and the event that it answers cannot be read");
            return;
        }
        if (placed.tier() != Tier.STORE && !NodeFold.sameIncarnation(placed.envelope(), cause)) {
            findings.say(Invariant.I8, "blocks serve in incarnation " + placed.envelope().incarnation() + ", and the event is of "
                    + event.envelope().incarnation());
        }
        if (Claim.of(event) instanceof Claim.Serves claim) {
            paged(findings, placed, claim.tier(), claim.namespace(), claim.blocks());
        } else {
            results(findings, placed, cause, node);
        }
    }

    private static void paged(Findings findings, BlocksPlaced placed, Tier tier, String namespace, List<PagedBlock> named) {
        if (placed.tier() != tier || !placed.namespace().equals(namespace)) {
            findings.say(Invariant.I8, "blocks serve on " + placed.tier() + ", and the event is about " + tier + " or another namespace");
        }
        int at = 0;
        for (PagedBlock block : placed.blocks()) {
            while (at < named.size() && !named.get(at).equals(block)) {
                at++;
            }
            if (at++ >= named.size()) {
                notNamed(findings, block);
                return;
            }
        }
    }

    private static void results(Findings findings, BlocksPlaced placed, Cause cause, @Nullable NodeFold node) {
        Ending ending = cause.ending;
        // A failed operation may name blocks that were there already.
        if (ending == null || node == null) {
            findings.say(Invariant.I8, "blocks serve, and the event that it answers ends no operation");
            return;
        }
        // An event that reports only CANCELLED leaves the tier to the operation; when the operation is gone, the tier cannot be determined.
        Tier tier = ending.to() == Tier.UNKNOWN ? node.operations.destination(ending.operation()) : ending.to();
        if ((tier != Tier.UNKNOWN && tier != placed.tier()) || !ending.namespace().equals(placed.namespace())
                || !ending.operation().equals(placed.operation())) {
            findings.say(Invariant.I8, "blocks serve on " + placed.tier() + " by " + placed.operation() + ", and the event is about " + tier
                    + " and " + ending.operation());
        }
        List<BlockResult> results = ending.blocks();
        int at = 0;
        for (PagedBlock block : placed.blocks()) {
            while (at < results.size() && !isNamed(block, results.get(at))) {
                at++;
            }
            if (at >= results.size()) {
                notNamed(findings, block);
                return;
            }
            node.copies.checkHeldAlso(placed, ending, results.get(at));
            at++;
        }
    }

    private static boolean isNamed(PagedBlock block, BlockResult result) {
        return Ending.isThere(result) && result.page() == block.page() && result.generation() == block.generation()
                && result.crc32c() == block.crc32c() && result.block().equals(block.block());
    }

    private static void notNamed(Findings findings, PagedBlock block) {
        findings.say(Invariant.I8, "block " + block.block().key() + " serves in page " + block.page() + ", generation " + block.generation()
                + ", and the event that it answers does not name it so");
    }
}
