/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.audit.stats;

import io.tierlog.schemas.BlockStatus;
import io.tierlog.schemas.OperationKind;
import io.tierlog.schemas.PeerReadReason;
import io.tierlog.schemas.PromotionOutcome;
import io.tierlog.schemas.PromotionReply;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.decision.Fact;
import io.tierlog.schemas.decision.OperationEnded;
import io.tierlog.schemas.decision.OperationIssued;
import io.tierlog.schemas.decision.PeerReadClosed;
import io.tierlog.schemas.decision.PeerReadGranted;
import io.tierlog.schemas.decision.PeerReadRefused;
import io.tierlog.schemas.decision.PromotionAnswered;
import io.tierlog.schemas.decision.PromotionSettled;
import io.tierlog.schemas.event.Event;
import io.tierlog.schemas.event.PeerReadRequested;
import io.tierlog.schemas.event.PrefetchDone;
import java.util.EnumMap;
import java.util.Map;

/** Promotions from the disk ahead of requests, and reads from other nodes. Memory: a counter for each reason. Not thread-safe. */
final class FetchStatistics {
    private final Map<PromotionReply, Long> replies = new EnumMap<>(PromotionReply.class);
    private final Map<PromotionOutcome, Long> outcomes = new EnumMap<>(PromotionOutcome.class);
    private final Map<PeerReadReason, Long> refused = new EnumMap<>(PeerReadReason.class);
    private final Map<PeerReadReason, Long> ended = new EnumMap<>(PeerReadReason.class);
    private long begunBlocks;
    private long doneBlocks;
    private long asked;
    private long askedBlocks;
    private long granted;
    private long fetchedBlocks;
    private long sentBlocks;
    private long sentBytes;

    void event(Event event) {
        if (event instanceof PeerReadRequested e) {
            asked++;
            askedBlocks += e.blocks().size();
        } else if (event instanceof PrefetchDone e) {
            // A node never fetches from its own host: the host is another node's.
            fetchedBlocks += e.blocks().stream()
                    .filter(block -> block.status() == BlockStatus.ARRIVED && block.source() == Tier.HOST)
                    .count();
        }
    }

    void fact(Fact fact) {
        // Facts of other types concern neither promotions nor peer reads.
        switch (fact) {
            case PromotionAnswered f -> f.answers().forEach(answer -> replies.merge(answer.reply(), (long) answer.blocks().size(), Long::sum));
            case PromotionSettled f -> outcomes.merge(f.outcome(), (long) f.blocks().size(), Long::sum);
            case OperationIssued f when f.kind() == OperationKind.PROMOTE -> begunBlocks += f.blocks().size();
            case OperationEnded f when f.kind() == OperationKind.PROMOTE -> doneBlocks += f.doneBlocks();
            case PeerReadGranted _ -> granted++;
            case PeerReadRefused f -> refused.merge(f.reason(), 1L, Long::sum);
            case PeerReadClosed f -> {
                ended.merge(f.reason(), 1L, Long::sum);
                sentBlocks += f.sentBlocks();
                sentBytes += f.sentBytes();
            }
            default -> {}
        }
    }

    LogSummary.Promotions promotions() {
        return new LogSummary.Promotions(new EnumMap<>(replies), new EnumMap<>(outcomes), begunBlocks, doneBlocks);
    }

    LogSummary.PeerReads peerReads() {
        return new LogSummary.PeerReads(
                asked, askedBlocks, granted, new EnumMap<>(refused), new EnumMap<>(ended), fetchedBlocks, sentBlocks, sentBytes);
    }
}
