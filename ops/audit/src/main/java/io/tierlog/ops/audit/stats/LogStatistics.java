/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.audit.stats;

import io.tierlog.schemas.GroupPolicy;
import io.tierlog.schemas.MigrationPolicy;
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
 * <p>Memory follows what is live: unfinished requests and operations, and the keys of blocks on hosts and disks. Every table has a limit.
 *
 * <p>Trade-off: the fold reads the log alone, so blocks of attempts that never reached prefill do not count, and a cause of a miss is the reason for
 * which the request went on, not the history of the block. Not thread-safe.
 */
public final class LogStatistics {
    private final Optional<LogDetail> detail;
    private final RequestStatistics requests;
    private final OperationStatistics operations = new OperationStatistics();
    private final WatermarkStatistics watermarks = new WatermarkStatistics();
    private final PlacementStatistics placements = new PlacementStatistics();
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

    /** Without detail. */
    public LogStatistics() {
        this(Optional.empty());
    }

    /** With what {@code detail} adds to the sums. */
    LogStatistics(Optional<LogDetail> detail) {
        this.detail = detail;
        this.requests = new RequestStatistics(
                (atMs, part, root, more) -> detail.ifPresent(sink -> sink.hits(atMs, part, root, more)));
    }

    /** Applies an event. */
    public void event(Event event, long atMs) {
        seen(atMs);
        events++;
        if (event instanceof BlocksRecovered e && e.tier() == Tier.DISK) {
            recovered += e.blocks().size();
        }
        requests.event(event, atMs);
        fetches.event(event);
        detail.ifPresent(sink -> sink.event(event, atMs));
    }

    /** Applies a fact. */
    public void fact(Fact fact, long atMs) {
        seen(atMs);
        facts++;
        if (fact instanceof InputRefused f) {
            refused.merge(f.reason(), 1L, Long::sum);
        } else if (fact instanceof InputSkipped f) {
            skipped.merge(f.reason(), 1L, Long::sum);
        } else if (fact instanceof PolicyAdopted f && f.version() > policyVersion) {
            policyVersion = f.version();
            MigrationPolicy migration = f.policy().migration();
            groups = migration == null ? List.of() : migration.groups();
        }
        requests.fact(fact);
        operations.fact(fact, atMs);
        watermarks.fact(fact, atMs);
        placements.fact(fact);
        fetches.fact(fact);
        detail.ifPresent(sink -> sink.fact(fact, atMs));
    }

    /** Applies a command. */
    public void command(Command command, long atMs) {
        seen(atMs);
        commands++;
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

    private void seen(long atMs) {
        firstMs = firstMs == 0 ? atMs : Math.min(firstMs, atMs);
        lastMs = Math.max(lastMs, atMs);
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
