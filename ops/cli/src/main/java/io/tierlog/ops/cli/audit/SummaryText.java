/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.audit;

import static io.tierlog.ops.cli.command.Sections.bytes;
import static io.tierlog.ops.cli.command.Sections.count;
import static io.tierlog.ops.cli.command.Sections.pad;
import static io.tierlog.ops.cli.command.Sections.ratio;
import static io.tierlog.ops.cli.command.Sections.share;

import io.tierlog.ops.audit.stats.HitCounts;
import io.tierlog.ops.audit.stats.LogSummary;
import io.tierlog.ops.audit.stats.Percentiles;
import io.tierlog.ops.cli.command.Columns;
import io.tierlog.ops.cli.command.Sections;
import io.tierlog.schemas.OperationReason;
import io.tierlog.schemas.OperationState;
import io.tierlog.schemas.PromotionOutcome;
import io.tierlog.schemas.RemovalReason;
import io.tierlog.schemas.Tier;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;

/** Statistics of a log for people, also in the report of the demo. What looks bad is explained beside its number. Not thread-safe. */
public final class SummaryText {
    private final Sections sections;

    /** Adds sections to {@code sections}. */
    public SummaryText(Sections sections) {
        this.sections = sections;
    }

    /** All statistics. */
    void all(LogSummary summary) {
        reuse(summary.requests());
        latencies(summary);
        operations(summary.operations());
        evictions(summary.placements());
        watermarks(summary);
        placements(summary.placements());
        promotions(summary.promotions(), summary.requests().hits().disk());
        peerReads(summary.peerReads());
        records(summary);
        LogSummary.Records records = summary.records();
        if (records.firstMs() > 0) {
            sections.row("from", Columns.time(records.firstMs()));
            sections.row("to", Columns.time(records.lastMs()));
        }
    }

    private void reuse(LogSummary.Requests requests) {
        HitCounts hits = requests.hits();
        long all = hits.accesses();
        sections.title("Reuse, of prefilled requests");
        sections.row("hit ratio", ratio(hits.ratio()));
        sections.row("prompt blocks", pad(count(all)) + "  in " + count(hits.requests()) + " requests");
        sections.row("  reused on the device", share(hits.device(), all));
        sections.row("  loaded from the host", share(hits.host(), all));
        sections.row("  fetched from disk", share(hits.disk(), all));
        sections.row("  fetched from the store", share(hits.store(), all));
        sections.row("  fetched from other nodes", share(hits.peer(), all));
        sections.row("  computed", share(hits.computed(), all));
        requests.misses().forEach((cause, blocks) -> sections.row("    " + words(cause), share(blocks, all) + explained(missed(cause))));
        sections.title("Requests");
        sections.row("submitted", pad(count(requests.submitted())) + "  of these, " + count(requests.answeredAtOnce()) + " answered at once");
        requests.states().forEach((state, attempts) -> sections.row("  now " + words(state), pad(count(attempts))));
        requests.ends().forEach((reason, attempts) -> sections.row("  ended: " + words(reason), pad(count(attempts))));
    }

    private static String missed(String cause) {
        return switch (cause) {
            case "last_block" -> "the block of the last token is always computed";
            case "nothing_below" -> "no tier had them";
            case "answered_at_once" -> "no tier below the host had them, the agent was busy, or the controller was behind";
            case "below_threshold" -> "fewer than the policy fetches";
            case "fetch_arrived" -> "beyond what was fetched";
            case "wait_expired" -> "the fetch took longer than the request may wait";
            case "not_reuse_eligible" -> "the request may not reuse a prefix";
            case "quota_exceeded" -> "the fetch would exceed the group's quota";
            case "draining" -> "the node drains";
            default -> "";
        };
    }

    private void latencies(LogSummary summary) {
        sections.title(Sections.timesTitle());
        times("submit to command", summary.requests().submitToCommand());
        times("submit to ready, if waiting", summary.requests().submitToReady());
        summary.operations().durations().forEach((kind, times) -> times(words(kind), times));
    }

    private void times(String label, Percentiles times) {
        sections.row(label, Sections.times(times.p50(), times.p90(), times.p99(), times.count()));
    }

    /** Operations, with why some of them failed. */
    public void operations(LogSummary.Operations operations) {
        sections.title("Operations");
        if (operations.unfinishedBefore() > 0) {
            sections.row("unfinished before", pad(count(operations.unfinishedBefore())));
        }
        sections.row("started", pad(count(operations.started())));
        Map<OperationReason, Long> reasons = new EnumMap<>(OperationReason.class);
        operations.byKind().values().forEach(kind -> kind.reasons().forEach((reason, ended) -> reasons.merge(reason, ended, Long::sum)));
        sections.row("  done", pad(count(operations.ended(OperationState.DONE))));
        Long partial = reasons.remove(OperationReason.PARTIAL);
        if (partial != null) {
            sections.row("    in part", pad(count(partial)) + "  some of their blocks did not arrive");
        }
        sections.row("  failed", pad(count(operations.ended(OperationState.FAILED))));
        reasons.forEach((reason, ended) -> {
            String why = failed(reason);
            if (!why.isEmpty()) {
                sections.row("    " + words(reason), pad(count(ended)) + explained(why));
            }
        });
        sections.row("  cancelled", pad(count(operations.ended(OperationState.CANCELLED))));
        sections.row("  fenced", pad(count(operations.ended(OperationState.FENCED))));
        sections.row("  unfinished", pad(count(operations.unfinished())));
        if (operations.breaches() > 0) {
            sections.row("  BREACHES", pad(count(operations.breaches())) + "  ends without a start, or second ends: please report this");
        }
        operations.byKind().forEach((kind, counts) ->
                sections.row(words(kind), pad(count(counts.started())) + "  " + bytes(counts.movedBytes()) + " moved"));
    }

    /** What a reason means for the operation; empty text for reasons of success. */
    private static String failed(OperationReason reason) {
        return switch (reason) {
            case UNKNOWN, COMPLETED, PARTIAL, REPORTED_BY_AGENT, ALREADY_THERE -> "";
            case NO_ROOM -> "no free page on the target; watermark eviction frees some";
            case PINNED -> "a request still used the blocks; they stay";
            case STALE_GENERATION, NOT_SERVING, SOURCE_LOST, PREFIX_GONE -> "the blocks had left before the command ran";
            case LAST_COPY -> "the only copy stays";
            case NOT_IN_STORE -> "the store has lost the blocks: the only copy stays";
            case MOVED_ON -> "the request went on before the fetch began";
            case NOT_FOUND -> "the source no longer had the blocks";
            case QUEUE_FULL -> "the agent had too many operations";
            case CANCELLED, NEVER_STARTED -> "no longer needed";
            case NODE_LOST, ENGINE_GONE, STALE_INCARNATION -> "the node or engine had ended";
            case QUOTA_EXCEEDED -> "the group's quota was used up";
            case DRAINING -> "the node drains";
            case IO, CHECKSUM, DEVICE_FAULT, STORE_UNAVAILABLE, COPY_RESULT_MISMATCH -> "a fault: look at the agent's output";
            case STALE_COMMAND, COMMAND_CONFLICT, UNSUPPORTED -> "refused by the agent: look at its output";
        };
    }

    /** Records of the log. */
    public void records(LogSummary summary) {
        LogSummary.Records records = summary.records();
        sections.title("Records");
        sections.row("events", pad(count(records.events())));
        sections.row("facts", pad(count(records.facts())));
        sections.row("commands", pad(count(records.commands())));
        if (records.unreadable() > 0) {
            sections.row("  UNREADABLE", pad(count(records.unreadable())) + "  not counted: run tierlog audit verify");
        }
        sections.row("waits for a fetch expired", pad(count(summary.requests().waitsExpired())));
        if (summary.placements().recovered() > 0) {
            sections.row("blocks recovered from disks", pad(count(summary.placements().recovered())));
        }
    }

    private void evictions(LogSummary.Placements placements) {
        sections.title("Blocks that left a tier, and those without another copy");
        placements.evictionsOfAll().forEach((eviction, evicted) -> sections.row(
                words(eviction.tier()) + ": " + words(eviction.reason()),
                pad(count(evicted.blocks())) + pad(count(evicted.lastCopies())) + lastCopies(eviction, evicted.lastCopies())));
    }

    private static String lastCopies(LogSummary.Eviction eviction, long lastCopies) {
        boolean early = lastCopies > 0 && eviction.tier() == Tier.DEVICE && eviction.reason() == RemovalReason.ENGINE_EVICTED;
        return early ? explained("the engine evicted them before their write-back") : "";
    }

    /** Time above watermarks. */
    public void watermarks(LogSummary summary) {
        Map<LogSummary.Watermark, LogSummary.TimeAbove> all = summary.watermarks().above();
        if (all.isEmpty()) {
            return;
        }
        sections.title("Watermarks: time from the high mark until eviction was below the low mark");
        all.forEach((watermark, above) -> sections.row(
                watermark.node() + " " + watermark.tier() + (watermark.group().isEmpty() ? "" : " of " + watermark.group()),
                pad(count(above.crossings())) + " times, longest " + count(above.longestMs()) + " ms, in all " + count(above.sumMs()) + " ms"));
        sections.row("longest copy or drop", pad(count(summary.operations().longestBatchMs())) + " ms, of " + count(summary.operations().batches()));
    }

    /** Blocks on hosts and disks. */
    public void placements(LogSummary.Placements placements) {
        if (placements.most().isEmpty()) {
            return;
        }
        sections.title("Blocks on hosts and disks, the most at once and at the end");
        placements.most().forEach((place, most) -> sections.row(place.node() + " " + place.tier() + " of " + place.namespace(),
                pad(count(most)) + pad(count(placements.end().getOrDefault(place, 0L)))));
        if (!placements.complete()) {
            sections.row("  INCOMPLETE", "too many blocks at once to count them all");
        }
    }

    /** Last copies that were lost, by tier and reason. */
    public void lastCopiesLost(LogSummary.Placements placements) {
        placements.evictionsOfAll().forEach((eviction, evicted) -> {
            if (evicted.lastCopies() > 0) {
                sections.row("last copies lost on " + eviction.tier() + ": " + words(eviction.reason()),
                        pad(count(evicted.lastCopies())) + lastCopies(eviction, evicted.lastCopies()));
            }
        });
    }

    /** Promotions; nothing when no probe came. */
    public void promotions(LogSummary.Promotions promotions, long fetchedFromDisk) {
        if (promotions.replies().isEmpty()) {
            return;
        }
        sections.title("Promotions from the disk ahead of requests, in blocks");
        promotions.replies().forEach((reply, blocks) -> sections.row("reply: " + words(reply), pad(count(blocks))));
        promotions.outcomes().forEach((outcome, blocks) -> sections.row("outcome: " + words(outcome), pad(count(blocks))));
        sections.row("of what was on disk, in memory when read", String.format(Locale.ROOT, "%9.1f %%",
                100 * promotions.inMemory(promotions.of(PromotionOutcome.MISSED_RACE) + fetchedFromDisk)));
    }

    /** Reads from other nodes; nothing when there were none. */
    public void peerReads(LogSummary.PeerReads reads) {
        if (reads.asked() == 0) {
            return;
        }
        sections.title("Reads from other nodes");
        sections.row("requested", pad(count(reads.asked())) + "  of " + count(reads.askedBlocks()) + " blocks");
        sections.row("  granted", pad(count(reads.granted())));
        reads.refused().forEach((reason, refused) -> sections.row("  refused: " + words(reason), pad(count(refused))));
        reads.ended().forEach((reason, ended) -> sections.row("  granted, ended: " + words(reason), pad(count(ended))));
        sections.row("blocks fetched", pad(count(reads.fetchedBlocks())));
        sections.row("blocks sent", pad(count(reads.sentBlocks())) + "  " + bytes(reads.sentBytes()));
    }

    private static String explained(String why) {
        return why.isEmpty() ? "" : "  " + why;
    }

    /** A name of the log for people: lower case, blanks for underscores. */
    static String words(Object name) {
        return name.toString().toLowerCase(Locale.ROOT).replace('_', ' ');
    }
}
