/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.audit.stats;

import io.tierlog.schemas.GroupPolicy;
import io.tierlog.schemas.RefusalReason;
import io.tierlog.schemas.SkipReason;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.command.Command;
import io.tierlog.schemas.decision.Fact;
import io.tierlog.schemas.decision.InputRefused;
import io.tierlog.schemas.decision.InputSkipped;
import io.tierlog.schemas.decision.PolicyAdopted;
import io.tierlog.schemas.event.BlocksRecovered;
import io.tierlog.schemas.event.Event;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Folds the records of a log into statistics: requests and hits, operations, watermarks, placements and evictions, promotions, peer reads.
 *
 * <p>Records of one topic and partition come in log order. Partitions, and the three topics, may be read side by side: what belongs together is
 * joined in either order. It uses no clock: {@code atMs} is the append time of the record, or, when a record is read as it arrives, that time.
 *
 * <p>A stretch needs what was before it: an operation may have been issued before it and end in it. So all records are folded from the beginning of
 * the log, and those before the stretch are remembered and not counted.
 *
 * <p>Memory follows what is live: unfinished requests and operations, and the keys of blocks on hosts and disks. Every table has a limit.
 *
 * <p>Trade-off: the fold reads the log alone, so blocks of attempts that never reached prefill do not count, and a cause of a miss is the reason for
 * which the request went on, not the history of the block. Not thread-safe.
 */
public final class LogStatistics {
    /** The stretch of a whole log: every time is at or after it. */
    static final long FROM_THE_BEGINNING = Long.MIN_VALUE;

    private final Optional<LogDetail> detail;
    private final long fromMs;
    private final RequestStatistics requests;
    private final OperationStatistics operations;
    private final WatermarkStatistics watermarks;
    private final PlacementStatistics placements;
    private final FetchStatistics fetches = new FetchStatistics();
    private final Map<RefusalReason, Long> refused = new EnumMap<>(RefusalReason.class);
    private final Map<SkipReason, Long> skipped = new EnumMap<>(SkipReason.class);
    private List<GroupPolicy> groups = List.of();
    private long policyVersion;
    private long events;
    private long facts;
    private long commands;
    private long unreadable;
    private long recovered;
    private long firstMs;
    private long lastMs;

    /** Of all records, without detail. */
    public LogStatistics() {
        this(Optional.empty(), FROM_THE_BEGINNING);
    }

    /** Of the records from {@code fromMs} on, with what {@code detail} adds to the sums. */
    LogStatistics(Optional<LogDetail> detail, long fromMs) {
        this.detail = detail;
        this.fromMs = fromMs;
        this.requests = new RequestStatistics(
                fromMs, (atMs, part, root, more) -> detail.ifPresent(sink -> sink.hits(atMs, part, root, more)));
        this.operations = new OperationStatistics(fromMs);
        this.watermarks = new WatermarkStatistics(fromMs);
        this.placements = new PlacementStatistics(fromMs);
    }

    /** Applies an event. */
    public void event(Event event, long atMs) {
        boolean counts = counts(atMs);
        if (counts) {
            events++;
            fetches.event(event);
            if (event instanceof BlocksRecovered e && e.tier() == Tier.DISK) {
                recovered += e.blocks().size();
            }
        }
        requests.event(event, atMs);
        detail.ifPresent(sink -> sink.event(event, atMs, counts));
    }

    /** Applies a fact. */
    public void fact(Fact fact, long atMs) {
        boolean counts = counts(atMs);
        if (counts) {
            facts++;
            fetches.fact(fact);
            if (fact instanceof InputRefused f) {
                refused.merge(f.reason(), 1L, Long::sum);
            } else if (fact instanceof InputSkipped f) {
                skipped.merge(f.reason(), 1L, Long::sum);
            }
        }
        if (fact instanceof PolicyAdopted f && f.version() > policyVersion) {
            policyVersion = f.version();
            groups = LogSummary.Requests.groupsOf(f.policy());
        }
        requests.fact(fact, atMs);
        operations.fact(fact, atMs);
        watermarks.fact(fact, atMs);
        placements.fact(fact, atMs);
        detail.ifPresent(sink -> sink.fact(fact, atMs, counts));
    }

    /** Applies a command. */
    public void command(Command command, long atMs) {
        commands += counts(atMs) ? 1 : 0;
        requests.command(command, atMs);
    }

    /** Counts an event that cannot be decoded. */
    public void unreadableEvent() {
        events++;
        unreadable++;
    }

    /** Counts a fact that cannot be decoded. */
    public void unreadableFact() {
        facts++;
        unreadable++;
    }

    /** Counts a command that cannot be decoded. */
    public void unreadableCommand() {
        commands++;
        unreadable++;
    }

    /** Whether a record is in the stretch; if so, notes its time. */
    private boolean counts(long atMs) {
        if (atMs >= fromMs) {
            firstMs = firstMs == 0 ? atMs : Math.min(firstMs, atMs);
            lastMs = Math.max(lastMs, atMs);
            return true;
        }
        return false;
    }

    /** Events so far. */
    public long events() {
        return events;
    }

    /** Operations that have not ended. */
    public long unfinishedOperations() {
        return operations.unfinished();
    }

    /** Append time of the latest record so far, milliseconds since 1970; 0 when there is none. */
    public long lastMs() {
        return lastMs;
    }

    /**
     * The statistics so far.
     *
     * @param nowMs until when a watermark that is still above its low mark counts, milliseconds since 1970
     */
    public LogSummary summary(long nowMs) {
        LogSummary.Records records = new LogSummary.Records(
                events, facts, commands, unreadable, firstMs, lastMs, new EnumMap<>(refused), new EnumMap<>(skipped));
        return new LogSummary(records, requests.summary(groups), operations.summary(), watermarks.summary(nowMs), placements.summary(recovered),
                fetches.promotions(), fetches.peerReads());
    }
}
