/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.demo;

import io.tierlog.schemas.OperationKind;
import io.tierlog.schemas.PromotionOutcome;
import io.tierlog.schemas.PromotionReply;
import io.tierlog.schemas.decision.Fact;
import io.tierlog.schemas.decision.OperationEnded;
import io.tierlog.schemas.decision.OperationIssued;
import io.tierlog.schemas.decision.PromotionAnswered;
import io.tierlog.schemas.decision.PromotionSettled;
import java.util.Map;
import java.util.TreeMap;

/** What the log says of promotions, in blocks. Not thread-safe. */
final class PromotionCount {
    private final Map<PromotionReply, Long> replies = new TreeMap<>();
    private final Map<PromotionOutcome, Long> outcomes = new TreeMap<>();
    private long begun;
    private long done;

    /**
     * Blocks by what became of them.
     *
     * @param replies what nodes said to probes
     * @param outcomes what became of promotions
     * @param begun blocks of promotions that were begun
     * @param done blocks that promotions have brought to the host
     */
    record Counts(Map<PromotionReply, Long> replies, Map<PromotionOutcome, Long> outcomes, long begun, long done) {
        /** Blocks with that outcome. */
        long of(PromotionOutcome outcome) {
            return outcomes.getOrDefault(outcome, 0L);
        }

        /** Blocks that were read because promotions had brought them, or were waited for on their way. */
        long promoted() {
            return of(PromotionOutcome.PROMOTED_HIT) + of(PromotionOutcome.PROMOTED_HIT_WAITED);
        }

        double inMemory(long fetchedFromDisk) {
            return share(promoted(), of(PromotionOutcome.MISSED_RACE) + fetchedFromDisk);
        }
    }

    /**
     * Share of the blocks asked for that only a disk had held which were in memory by then, or waited for on their way; those that were asked for
     * too early, and not waited for, count among the {@code others}. 0 when there were none.
     */
    static double share(long promoted, long others) {
        return promoted == 0 ? 0 : (double) promoted / (promoted + others);
    }

    void take(Fact decision) {
        switch (decision) {
            case PromotionAnswered f -> f.answers().forEach(answer -> replies.merge(answer.reply(), (long) answer.blocks().size(), Long::sum));
            case PromotionSettled f -> outcomes.merge(f.outcome(), (long) f.blocks().size(), Long::sum);
            case OperationIssued f when f.kind() == OperationKind.PROMOTE -> begun += f.blocks().size();
            case OperationEnded f when f.kind() == OperationKind.PROMOTE -> done += f.doneBlocks();
            default -> {}
        }
    }

    Counts counts() {
        return new Counts(new TreeMap<>(replies), new TreeMap<>(outcomes), begun, done);
    }
}
