/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.promotion;

import io.tierlog.controller.core.decide.Checks;
import io.tierlog.controller.core.decide.NodeContext;
import io.tierlog.controller.core.decide.Quotas;
import io.tierlog.controller.core.policy.Groups;
import io.tierlog.controller.core.state.PromotionRows;
import io.tierlog.controller.core.table.Namespaces;
import io.tierlog.schemas.Block;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.OperationReason;
import io.tierlog.schemas.PagedBlock;
import io.tierlog.schemas.PromotionAnswer;
import io.tierlog.schemas.PromotionPolicy;
import io.tierlog.schemas.PromotionReply;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.decision.PromotionAnswered;
import io.tierlog.schemas.event.PromotionRequested;
import io.tierlog.schemas.state.PlacementRow;
import io.tierlog.schemas.state.PromotionRow;
import io.tierlog.schemas.state.PromotionsRow;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * A node's reply to a probe, block by block: the first of these that applies.
 *
 * <pre>
 *   of the block   DISABLED INVALID_SIZE RESIDENT JOINED (also what waits) PRESSURE (it is leaving the host) NOT_FOUND DRAINING DUPLICATE COOLDOWN
 *   of the space   QUOTA_EXCEEDED PRESSURE (paused, or none below the high marks; then so are all after it) QUEUE_FULL STARTED QUEUED
 * </pre>
 *
 * Space is given to the shallowest blocks first: a prefix is of use from its front. Confined to one decision.
 */
final class PromotionProbe {
    private final NodeContext n;
    private final PromotionRequested e;
    private final Bytes namespace;
    private final PromotionPolicy policy;
    private final PromotionsRow counts;
    /** Blocks by reply, in the order of the replies; within one reply the earliest retry first. */
    private final Map<Answer, List<Block>> answers =
            new TreeMap<>(Comparator.comparing(Answer::reply).thenComparingLong(Answer::retryMs));
    private final Map<Bytes, Answer> byKey = new LinkedHashMap<>();
    private final List<PagedBlock> started = new ArrayList<>();
    /** Bounds in blocks: how many more may begin at once, wait, come to the host, come of this group, and be recorded. */
    private long toStart;
    private long toQueue;
    private long free;
    private long quota;
    private long memory;
    /** How much longer the node begins none; milliseconds. */
    private long pauseMs;

    /** The reply for a block, and how long no promotion of it begins; 0 when that time is unknown. */
    private record Answer(PromotionReply reply, long retryMs) {
        static final Answer NOTHING = new Answer(PromotionReply.UNKNOWN, 0);

        static Answer of(PromotionReply reply) {
            return new Answer(reply, 0);
        }
    }

    PromotionProbe(NodeContext n, PromotionRequested e) {
        this.n = n;
        this.e = e;
        this.namespace = Namespaces.digest(e.namespace());
        this.policy = Promotions.policy(n);
        this.counts = PromotionRows.orNothing(n.row().promotions());
    }

    void decide() {
        List<PagedBlock> wanted = new ArrayList<>();
        List<Block> again = new ArrayList<>();
        for (Block block : e.blocks()) {
            PlacementRow disk = byKey.containsKey(block.key()) ? null : Promotions.source(n, namespace, block.key());
            Answer standing = byKey.containsKey(block.key()) ? null : standing(block, disk);
            if (byKey.containsKey(block.key())) {
                again.add(block);
            } else if (standing != null || disk == null) {
                answer(standing == null ? Answer.of(PromotionReply.NOT_FOUND) : standing, block);
            } else {
                byKey.put(block.key(), Answer.NOTHING);
                wanted.add(Promotions.paged(block.key(), disk));
            }
        }
        wanted.sort(Comparator.comparingInt((PagedBlock block) -> block.block().index()).thenComparing(block -> block.block().key()));
        admit(wanted);
        again.forEach(this::answerAgain);
        List<PromotionAnswer> all = new ArrayList<>();
        answers.forEach((what, blocks) -> all.add(new PromotionAnswer(what.reply(), List.copyOf(blocks), what.retryMs())));
        n.fact(new PromotionAnswered(n.envelope(), e.probe(), e.namespace(), all, n.clock().policyVersion()));
        for (int from = 0; from < started.size(); from += policy.operationBlocks()) {
            Promotions.issue(n, e.namespace(), started.subList(from, Math.min(started.size(), from + policy.operationBlocks())));
        }
    }

    private void answer(Answer what, Block block) {
        byKey.put(block.key(), what);
        answers.computeIfAbsent(what, w -> new ArrayList<>()).add(block);
    }

    /** A block that the probe names again: it joins the promotion that was begun for it. */
    private void answerAgain(Block block) {
        Answer first = byKey.getOrDefault(block.key(), Answer.NOTHING);
        boolean begun = first.reply() == PromotionReply.STARTED || first.reply() == PromotionReply.QUEUED;
        answers.computeIfAbsent(begun ? Answer.of(PromotionReply.JOINED) : first, w -> new ArrayList<>()).add(block);
    }

    /** The reply that does not depend on free space; null when the block may be promoted. */
    private @Nullable Answer standing(Block block, @Nullable PlacementRow disk) {
        if (!policy.enabled() || n.row().foreign()) {
            return Answer.of(PromotionReply.DISABLED);
        }
        if (Checks.key(block.key()) != null) {
            return Answer.of(PromotionReply.INVALID_SIZE);
        }
        PlacementRow host = n.placement(namespace, Tier.HOST, block.key());
        if (host != null) {
            return Answer.of(switch (host.state()) {
                case SERVING, COPYING, COPYING_KEEP -> PromotionReply.RESIDENT;
                case WRITING -> PromotionReply.JOINED;
                case LEAVING, ABSENT, UNKNOWN -> PromotionReply.PRESSURE;
            });
        }
        PromotionRow row = Promotions.find(n, namespace, block.key());
        if (row != null && !PromotionRows.isRemembered(row)) {
            return Answer.of(PromotionReply.JOINED);
        }
        if (disk == null) {
            return Answer.of(PromotionReply.NOT_FOUND);
        }
        if (n.isDraining()) {
            return Answer.of(PromotionReply.DRAINING);
        }
        if (row != null && row.untilMs() >= n.clock().logTimeMs() && row.untilMs() > 0) {
            boolean came = row.reason() == OperationReason.COMPLETED;
            return new Answer(came ? PromotionReply.DUPLICATE : PromotionReply.COOLDOWN, leftMs(row.untilMs()));
        }
        return null;
    }

    /** Time until the first moment after that one: rows store the last moment in which nothing begins. */
    private long leftMs(long untilMs) {
        return untilMs - n.clock().logTimeMs() + 1;
    }

    private void admit(List<PagedBlock> wanted) {
        String group = Groups.of(n.policy(), e.namespace());
        boolean paused = counts.pausedUntilMs() > 0 && counts.pausedUntilMs() >= n.clock().logTimeMs();
        pauseMs = paused ? leftMs(counts.pausedUntilMs()) : 0;
        int slots = counts.queuedBlocks() > 0 ? 0 : Math.max(0, policy.operations() - counts.operations());
        toStart = Math.min((long) slots * policy.operationBlocks(), n.limits().blocksPerDecision());
        toQueue = Math.max(0, policy.queuedBlocks() - counts.queuedBlocks());
        free = paused ? 0 : Math.max(0, Promotions.free(n, group) - counts.queuedBlocks());
        quota = Quotas.free(n, group, Tier.HOST);
        memory = Math.max(0, PromotionLimits.DEFAULTS.rememberedBlocks() - counts.rememberedBlocks());
        for (PagedBlock block : wanted) {
            PromotionReply reply = reply();
            if (reply == PromotionReply.STARTED) {
                started.add(block);
            }
            answer(reply == PromotionReply.PRESSURE ? new Answer(reply, pauseMs) : Answer.of(reply), block.block());
        }
    }

    private PromotionReply reply() {
        if (quota == 0) {
            return PromotionReply.QUOTA_EXCEEDED;
        }
        if (free == 0) {
            return PromotionReply.PRESSURE;
        }
        if (memory == 0 || (toStart == 0 && toQueue == 0)) {
            return PromotionReply.QUEUE_FULL;
        }
        boolean starts = toStart > 0;
        toStart -= starts ? 1 : 0;
        toQueue -= starts ? 0 : 1;
        free--;
        quota--;
        memory--;
        return starts ? PromotionReply.STARTED : PromotionReply.QUEUED;
    }
}
