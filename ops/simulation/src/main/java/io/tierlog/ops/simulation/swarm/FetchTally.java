/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.simulation.swarm;

import io.tierlog.ops.simulation.world.World;
import io.tierlog.schemas.PeerReadReason;
import io.tierlog.schemas.PromotionAnswer;
import io.tierlog.schemas.PromotionOutcome;
import io.tierlog.schemas.PromotionReply;
import io.tierlog.schemas.decision.DeletionEnded;
import io.tierlog.schemas.decision.Fact;
import io.tierlog.schemas.decision.PeerReadClosed;
import io.tierlog.schemas.decision.PeerReadGranted;
import io.tierlog.schemas.decision.PeerReadRefused;
import io.tierlog.schemas.decision.PromotionAnswered;
import io.tierlog.schemas.decision.PromotionSettled;
import io.tierlog.schemas.decision.PromotionsPaused;
import java.util.EnumMap;
import java.util.Map;

/** Counts what committed decisions say of promotions, of reads across nodes and of deletions from the store. For one thread. */
final class FetchTally implements World.Watcher {
    private final Map<FetchCount, Long> counts = new EnumMap<>(FetchCount.class);

    Map<FetchCount, Long> counts() {
        return counts;
    }

    @Override
    public void committed(int partition, long offset, Fact fact) {
        switch (fact) {
            case PromotionAnswered f -> f.answers().forEach(this::answered);
            case PromotionsPaused _ -> count(FetchCount.PAUSED, 1);
            case PromotionSettled f -> count(of(f.outcome()), f.blocks().size());
            case PeerReadGranted f -> {
                count(FetchCount.GRANTED, 1);
                count(FetchCount.GRANTED_FROM_DISK, f.promotion() == null ? 0 : 1);
            }
            case PeerReadRefused _ -> count(FetchCount.REFUSED, 1);
            case PeerReadClosed f -> closed(f.reason());
            case DeletionEnded f -> {
                count(FetchCount.DELETED_OBJECTS, f.deletedBlocks());
                count(FetchCount.KEPT_OBJECTS, f.keptBlocks());
            }
            default -> {}
        }
    }

    private void answered(PromotionAnswer answer) {
        count(of(answer.reply()), answer.blocks().size());
        if (answer.reply() == PromotionReply.STARTED) {
            counts.put(FetchCount.PROMOTING_EPISODES, 1L);
        }
    }

    private void closed(PeerReadReason reason) {
        count(switch (reason) {
            case COMPLETED -> FetchCount.READ;
            case EXPIRED, UNREPORTED -> FetchCount.EXPIRED;
            default -> FetchCount.READ_FAILED;
        }, 1);
        if (reason == PeerReadReason.COMPLETED) {
            counts.put(FetchCount.READING_EPISODES, 1L);
        }
    }

    private static FetchCount of(PromotionReply reply) {
        return switch (reply) {
            case STARTED -> FetchCount.STARTED;
            case QUEUED -> FetchCount.QUEUED;
            case JOINED -> FetchCount.JOINED;
            case DUPLICATE -> FetchCount.DUPLICATE;
            case COOLDOWN -> FetchCount.COOLDOWN;
            case PRESSURE -> FetchCount.PRESSURE;
            case RESIDENT -> FetchCount.RESIDENT;
            case NOT_FOUND -> FetchCount.NOT_ON_DISK;
            case QUEUE_FULL -> FetchCount.QUEUE_FULL;
            case QUOTA_EXCEEDED -> FetchCount.NO_QUOTA;
            case DRAINING -> FetchCount.OF_DRAINING;
            case DISABLED -> FetchCount.DISABLED;
            case INVALID_SIZE, UNKNOWN -> throw new SimulationFailure("promotion, reply: no probe has such a block: " + reply);
        };
    }

    private static FetchCount of(PromotionOutcome outcome) {
        return switch (outcome) {
            case PROMOTED_HIT -> FetchCount.PROMOTED_HIT;
            case PROMOTED_HIT_WAITED -> FetchCount.PROMOTED_HIT_WAITED;
            case PROMOTED_EVICTED_BEFORE_USE -> FetchCount.PROMOTED_EVICTED_BEFORE_USE;
            case MISSED_RACE -> FetchCount.MISSED_RACE;
            case FAILED -> FetchCount.PROMOTION_FAILED;
            case UNKNOWN -> throw new SimulationFailure("promotion, outcome: unknown");
        };
    }

    private void count(FetchCount what, long times) {
        if (times > 0) {
            counts.merge(what, times, Long::sum);
        }
    }
}
