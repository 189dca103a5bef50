/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.evolve;

import io.tierlog.controller.core.api.IllegalHistory;
import io.tierlog.controller.core.policy.Policies;
import io.tierlog.controller.core.state.MarkRows;
import io.tierlog.controller.core.state.NodeRows;
import io.tierlog.controller.core.state.OperationRows;
import io.tierlog.controller.core.state.PromotionRows;
import io.tierlog.controller.core.table.Namespaces;
import io.tierlog.controller.core.table.RowKey;
import io.tierlog.controller.core.table.Rows;
import io.tierlog.controller.core.table.Tables;
import io.tierlog.schemas.Block;
import io.tierlog.schemas.OperationKind;
import io.tierlog.schemas.OperationReason;
import io.tierlog.schemas.PagedBlock;
import io.tierlog.schemas.PromotionAnswer;
import io.tierlog.schemas.PromotionOutcome;
import io.tierlog.schemas.PromotionPolicy;
import io.tierlog.schemas.PromotionReply;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.decision.BlocksPlaced;
import io.tierlog.schemas.decision.Fact;
import io.tierlog.schemas.decision.OperationEnded;
import io.tierlog.schemas.decision.OperationIssued;
import io.tierlog.schemas.decision.PromotionAnswered;
import io.tierlog.schemas.decision.PromotionSettled;
import io.tierlog.schemas.decision.PromotionsPaused;
import io.tierlog.schemas.state.NodeRow;
import io.tierlog.schemas.state.OperationRow;
import io.tierlog.schemas.state.PlacementRow;
import io.tierlog.schemas.state.PromotionRow;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What facts about promotions change. Without state. */
final class EvolvePromotions {
    private EvolvePromotions() {}

    /** What is to wait does; what was started is in the operations that were issued with the answer. */
    static void answered(Tables t, PromotionAnswered fact) {
        if (fact.answers().stream().noneMatch(answer -> answer.reply() == PromotionReply.QUEUED)) {
            return;
        }
        long place = offsetOfCause(fact);
        PromotionWriter book = new PromotionWriter(t, fact.envelope().aggregate());
        for (PromotionAnswer answer : fact.answers()) {
            if (answer.reply() == PromotionReply.QUEUED) {
                answer.blocks().forEach(block -> book.queue(fact, book.key(fact.namespace(), block.key()), block, place));
            }
        }
        book.close();
    }

    private static long offsetOfCause(Fact fact) {
        String cause = fact.envelope().cause();
        if (cause == null) {
            throw new IllegalHistory("An answer without a cause");
        }
        return Long.parseLong(cause, cause.lastIndexOf('@') + 1, cause.length(), 10);
    }

    static void paused(Tables t, PromotionsPaused fact) {
        PromotionWriter book = new PromotionWriter(t, fact.envelope().aggregate());
        for (RowKey.Order place : book.waiting()) {
            RowKey.Mark key = PromotionRows.ofPlace(place);
            book.end(fact, key, need(book, key), 0, OperationReason.NO_ROOM);
        }
        book.counts().pausedUntilMs = fact.untilMs();
        book.close();
    }

    private static PromotionRow need(PromotionWriter book, RowKey.Mark key) {
        PromotionRow row = book.find(key);
        if (row == null) {
            throw new IllegalHistory("What waits has no row: " + key);
        }
        return row;
    }

    static void settled(Tables t, PromotionSettled fact) {
        if (fact.outcome() != PromotionOutcome.MISSED_RACE && fact.outcome() != PromotionOutcome.FAILED) {
            PlacementWriter copies = EvolvePlacements.open(t, fact, Tier.HOST, fact.namespace());
            fact.blocks().forEach(copies::used);
            EvolvePlacements.close(t, fact, Tier.HOST, copies);
            return;
        }
        PromotionWriter book = new PromotionWriter(t, fact.envelope().aggregate());
        for (Block block : fact.blocks()) {
            RowKey.Mark key = book.key(fact.namespace(), block.key());
            PromotionRow row = book.find(key);
            if (row != null && fact.outcome() == PromotionOutcome.MISSED_RACE && row.operation() != null) {
                book.race(fact, key, row);
            } else if (row != null && fact.outcome() == PromotionOutcome.FAILED && row.queued() > 0) {
                book.end(fact, key, row, after(fact, policy(t, fact).cooldownMs()), fact.reason());
            }
        }
        book.close();
    }

    /** An operation was issued: a promotion begins, or something else brings to the host what waited for one. */
    static void issued(Tables t, OperationIssued fact) {
        boolean promotes = fact.kind() == OperationKind.PROMOTE;
        NodeRow node = Evolve.node(t, fact);
        if (!promotes && (fact.to() != Tier.HOST || PromotionRows.orNothing(node.promotions()).queuedBlocks() == 0)) {
            return;
        }
        PromotionWriter book = new PromotionWriter(t, fact.envelope().aggregate());
        book.counts().operations += promotes ? 1 : 0;
        for (Block block : fact.blocks()) {
            RowKey.Mark key = book.key(fact.namespace(), block.key());
            PromotionRow row = book.find(key);
            if (promotes) {
                book.begin(fact, key, block, fact.operation());
            } else if (row != null && row.queued() > 0) {
                book.end(fact, key, row, 0, OperationReason.COMPLETED);
            }
        }
        book.close();
    }

    /** A promoted block keeps on the host the last use that it has on the disk: a promotion is not a use. */
    static long touchOnDisk(Tables t, OperationIssued fact, Block block) {
        PlacementRow disk = t.get(Rows.PLACEMENTS,
                new RowKey.Placement(fact.envelope().aggregate(), Namespaces.digest(fact.namespace()), Tier.DISK, block.key()));
        return disk != null && NodeRows.isCurrent(Evolve.node(t, fact), Tier.DISK, disk) ? disk.touch() : 0;
    }

    /** Placed blocks that a promotion has brought under a lease, empty for none, and whose outcome is still to come. */
    record Placed(List<Block> blocks, String lease) {}

    /** Those of the placed blocks that a promotion has brought. */
    static Placed placed(Tables t, BlocksPlaced fact) {
        String operation = fact.operation();
        OperationRow row = operation == null ? null : t.get(Rows.OPERATIONS, new RowKey.Text(fact.envelope().aggregate(), operation));
        if (operation == null || row == null || row.kind() != OperationKind.PROMOTE || !OperationRows.isUnfinished(row.state())) {
            return new Placed(List.of(), "");
        }
        List<Block> fresh = new ArrayList<>(fact.blocks().size());
        PromotionWriter book = new PromotionWriter(t, fact.envelope().aggregate());
        for (PagedBlock block : fact.blocks()) {
            RowKey.Mark key = book.key(fact.namespace(), block.block().key());
            PromotionRow promotion = book.find(key);
            if (promotion != null && operation.equals(promotion.operation())) {
                book.end(fact, key, promotion, after(fact, policy(t, fact).dedupMs()), OperationReason.COMPLETED);
                if (!promotion.raced()) {
                    fresh.add(block.block());
                }
            }
        }
        book.close();
        String lease = row.lease();
        return new Placed(fresh, lease == null ? "" : lease);
    }

    /** A promotion has ended; what it did not bring is not tried again for a while. */
    static void ended(Tables t, OperationEnded fact, OperationRow operation) {
        PromotionWriter book = new PromotionWriter(t, fact.envelope().aggregate());
        book.counts().operations--;
        for (Block block : operation.blocks()) {
            RowKey.Mark key = book.key(operation.namespace(), block.key());
            PromotionRow row = book.find(key);
            if (row != null && fact.operation().equals(row.operation())) {
                book.end(fact, key, row, after(fact, policy(t, fact).cooldownMs()), fact.reason());
            }
        }
        book.close();
    }

    private static PromotionPolicy policy(Tables t, Fact fact) {
        return Policies.fetch(Evolve.policy(t, fact)).promotion();
    }

    private static long after(Fact fact, long ms) {
        long sum = fact.envelope().timeMs() + ms;
        return sum < fact.envelope().timeMs() ? Long.MAX_VALUE : sum;
    }

    /** Removes a promotion that has ended, or whose incarnation has; returns when to look again, or null when the row is gone. */
    static @Nullable Long forget(Tables t, RowKey.Timer timer, long nowMs) {
        RowKey.Mark key = MarkRows.ofTimer(timer.owner(), timer.id());
        PromotionWriter book = new PromotionWriter(t, timer.owner());
        PromotionRow row = t.get(Rows.PROMOTIONS, key);
        if (row == null) {
            return null;
        }
        boolean current = book.find(key) != null;
        if (current && !PromotionRows.isRemembered(row)) {
            return nowMs + Timers.KEPT_MS;
        }
        if (current && row.untilMs() >= nowMs) {
            return row.untilMs() + 1;
        }
        book.remove(key, row);
        book.close();
        return null;
    }
}
