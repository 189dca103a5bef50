/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.simulation.hardware;

import io.tierlog.agent.core.api.AgentInput.UnitResult;
import io.tierlog.schemas.BlockResult;
import io.tierlog.schemas.BlockStatus;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.event.BackUpDone;
import io.tierlog.schemas.event.CopyDone;
import io.tierlog.schemas.event.Event;
import io.tierlog.schemas.event.PrefetchDone;
import io.tierlog.schemas.event.PromoteDone;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What one agent process reports of its disk and the store, next to what they have answered: a block counts as written only where that was the
 * answer, and a block serves only where the disk returned the placement that was read. For one thread.
 */
final class ClaimBook {
    /** An answer to a write; the store has no generations. */
    private record Answer(Tier tier, String namespace, Bytes key, BlockStatus status, long generation) {}

    private final String node;
    /** Answers that no event has reported, count. */
    private final Map<Answer, Integer> answers = new LinkedHashMap<>();
    /** Operations whose end was reported: to a repeated command the agent repeats it, when its pages may hold other blocks. */
    private final Set<String> reported = new LinkedHashSet<>();
    /** What the disk returned instead of what was read, by page. */
    private final @Nullable String[] misread;

    ClaimBook(String node, int pages) {
        this.node = node;
        this.misread = new @Nullable String[pages];
    }

    /** The disk or the store has answered to the write of a block. */
    void answered(Tier tier, String namespace, Bytes key, UnitResult result) {
        long generation = tier == Tier.DISK ? result.generation() : 0;
        answers.merge(new Answer(tier, namespace, key, result.status(), generation), 1, Integer::sum);
    }

    /** The page holds something else than what was read. */
    void misread(int page, String what) {
        misread[page] = what;
    }

    /** Other bytes come to the page. */
    void written(int page) {
        misread[page] = null;
    }

    /** The bytes of the page go elsewhere. */
    void used(int page) {
        String what = misread[page];
        if (what != null) {
            throw new IllegalStateException("I8, misread: " + node + " uses page " + page + " for " + what);
        }
    }

    /** The agent emits an event. */
    void emitted(Event event) {
        switch (event) {
            case BackUpDone e when reported.add(e.operation()) -> written(Tier.STORE, e.namespace(), e.blocks());
            case CopyDone e when reported.add(e.operation()) -> written(e.target(), e.namespace(), e.blocks());
            case PrefetchDone e when reported.add(e.operation()) -> served(e.blocks());
            case PromoteDone e when reported.add(e.operation()) -> served(e.blocks());
            default -> {}
        }
    }

    private void written(Tier tier, String namespace, List<BlockResult> blocks) {
        for (BlockResult block : blocks) {
            boolean arrived = block.status() == BlockStatus.ARRIVED;
            // A block that was on the disk before the operation began needs no answer.
            if (arrived || (tier == Tier.STORE && block.status() == BlockStatus.ALREADY_THERE)) {
                long generation = tier == Tier.DISK ? block.generation() : 0;
                Answer answer = new Answer(tier, namespace, block.block().key(), block.status(), generation);
                int times = answers.getOrDefault(answer, 0);
                if (times == 0) {
                    throw new IllegalStateException("I8, outcome: " + node + " reports a write of which " + tier + " reported nothing: " + answer);
                }
                answers.put(answer, times - 1);
            }
        }
    }

    private void served(List<BlockResult> blocks) {
        for (BlockResult block : blocks) {
            if (block.status() == BlockStatus.ARRIVED && block.source() == Tier.DISK) {
                used(block.page());
            }
        }
    }
}
