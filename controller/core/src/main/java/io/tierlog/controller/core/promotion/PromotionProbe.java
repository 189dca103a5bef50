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
    private final Map<Said, List<Block>> answers =
            new TreeMap<>(Comparator.comparing(Said::reply).thenComparingLong(Said::retryMs));
    private final Map<Bytes, Said> said = new LinkedHashMap<>();
    private final List<PagedBlock> started = new ArrayList<>();
    /** Bounds in blocks: how many more may begin at once, wait, come to the host, come of this group, and be recorded. */
    private long toStart;
    private long toQueue;
    private long room;
    private long quota;
    private long memory;
    /** How much longer the node begins none; milliseconds. */
    private long pauseMs;

    /** The reply for a block, and how long no promotion of it begins; 0 when that time is unknown. */
    private record Said(PromotionReply reply, long retryMs) {
        static final Said NOTHING = new Said(PromotionReply.UNKNOWN, 0);

        static Said of(PromotionReply reply) {
            return new Said(reply, 0);
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
            PlacementRow disk = said.containsKey(block.key()) ? null : Promotions.source(n, namespace, block.key());
            Said standing = said.containsKey(block.key()) ? null : standing(block, disk);
            if (said.containsKey(block.key())) {
                again.add(block);
            } else if (standing != null || disk == null) {
                say(standing == null ? Said.of(PromotionReply.NOT_FOUND) : standing, block);
            } else {
                said.put(block.key(), Said.NOTHING);
                wanted.add(Promotions.paged(block.key(), disk));
            }
        }
        wanted.sort(Comparator.comparingInt((PagedBlock block) -> block.block().index()).thenComparing(block -> block.block().key()));
        admit(wanted);
        again.forEach(this::sayAgain);
        List<PromotionAnswer> all = new ArrayList<>();
        answers.forEach((what, blocks) -> all.add(new PromotionAnswer(what.reply(), List.copyOf(blocks), what.retryMs())));
        n.fact(new PromotionAnswered(n.envelope(), e.probe(), e.namespace(), all, n.clock().policyVersion()));
        for (int from = 0; from < started.size(); from += policy.operationBlocks()) {
            Promotions.issue(n, e.namespace(), started.subList(from, Math.min(started.size(), from + policy.operationBlocks())));
        }
    }

    private void say(Said what, Block block) {
        said.put(block.key(), what);
        answers.computeIfAbsent(what, w -> new ArrayList<>()).add(block);
    }

    /** A block that the probe names again: it joins the promotion that was begun for it. */
    private void sayAgain(Block block) {
        Said first = said.getOrDefault(block.key(), Said.NOTHING);
        boolean begun = first.reply() == PromotionReply.STARTED || first.reply() == PromotionReply.QUEUED;
        answers.computeIfAbsent(begun ? Said.of(PromotionReply.JOINED) : first, w -> new ArrayList<>()).add(block);
    }

    /** The reply that does not depend on free space; null when the block may be promoted. */
    private @Nullable Said standing(Block block, @Nullable PlacementRow disk) {
        if (!policy.enabled() || n.row().foreign()) {
            return Said.of(PromotionReply.DISABLED);
        }
        if (Checks.key(block.key()) != null) {
            return Said.of(PromotionReply.INVALID_SIZE);
        }
        PlacementRow host = n.placement(namespace, Tier.HOST, block.key());
        if (host != null) {
            return Said.of(switch (host.state()) {
                case SERVING, COPYING, COPYING_KEEP -> PromotionReply.RESIDENT;
                case WRITING -> PromotionReply.JOINED;
                case LEAVING, ABSENT, UNKNOWN -> PromotionReply.PRESSURE;
            });
        }
        PromotionRow row = Promotions.find(n, namespace, block.key());
        if (row != null && !PromotionRows.isRemembered(row)) {
            return Said.of(PromotionReply.JOINED);
        }
        if (disk == null) {
            return Said.of(PromotionReply.NOT_FOUND);
        }
        if (n.isDraining()) {
            return Said.of(PromotionReply.DRAINING);
        }
        if (row != null && row.untilMs() >= n.clock().logTimeMs() && row.untilMs() > 0) {
            boolean came = row.reason() == OperationReason.COMPLETED;
            return new Said(came ? PromotionReply.DUPLICATE : PromotionReply.COOLDOWN, leftMs(row.untilMs()));
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
        room = paused ? 0 : Math.max(0, Promotions.room(n, group) - counts.queuedBlocks());
        quota = Quotas.room(n, group, Tier.HOST);
        memory = Math.max(0, PromotionLimits.DEFAULTS.rememberedBlocks() - counts.rememberedBlocks());
        for (PagedBlock block : wanted) {
            PromotionReply reply = reply();
            if (reply == PromotionReply.STARTED) {
                started.add(block);
            }
            say(reply == PromotionReply.PRESSURE ? new Said(reply, pauseMs) : Said.of(reply), block.block());
        }
    }

    private PromotionReply reply() {
        if (quota == 0) {
            return PromotionReply.QUOTA_EXCEEDED;
        }
        if (room == 0) {
            return PromotionReply.PRESSURE;
        }
        if (memory == 0 || (toStart == 0 && toQueue == 0)) {
            return PromotionReply.QUEUE_FULL;
        }
        boolean starts = toStart > 0;
        toStart -= starts ? 1 : 0;
        toQueue -= starts ? 0 : 1;
        room--;
        quota--;
        memory--;
        return starts ? PromotionReply.STARTED : PromotionReply.QUEUED;
    }
}
