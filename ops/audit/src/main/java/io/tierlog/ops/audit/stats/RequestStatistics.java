/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.audit.stats;

import io.tierlog.ops.audit.stats.LogSummary.Part;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.GroupPolicy;
import io.tierlog.schemas.RequestReason;
import io.tierlog.schemas.RequestState;
import io.tierlog.schemas.command.Command;
import io.tierlog.schemas.decision.Fact;
import io.tierlog.schemas.decision.RequestAdmitted;
import io.tierlog.schemas.decision.RequestTransitioned;
import io.tierlog.schemas.event.Event;
import io.tierlog.schemas.event.RequestSubmitted;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.HdrHistogram.Histogram;

/**
 * Counts what {@link RequestJoin} finds about attempts of requests, and their states.
 *
 * <p>What happened before {@code fromMs} is remembered and not counted: a request may have been submitted before it and end after it.
 *
 * <p>Memory: that of the join, and an entry for each node and namespace, {@value #MAX_PARTS} at most, further namespaces count together. Not
 * thread-safe.
 */
final class RequestStatistics implements RequestJoin.Findings {
    static final String LAST_BLOCK = RequestJoin.LAST_BLOCK;
    static final String OTHERS = "(others)";
    private static final Part OTHER_PART = new Part(OTHERS, OTHERS);

    private static final int MAX_PARTS = 10_000;

    private final RequestJoin join = new RequestJoin(this);
    private final Map<Part, HitCounts> parts = new TreeMap<>();
    private final Map<String, Long> misses = new TreeMap<>();
    private final Map<RequestState, Long> states = new EnumMap<>(RequestState.class);
    private final Map<RequestReason, Long> ends = new EnumMap<>(RequestReason.class);
    private final Histogram submitToCommand = Latencies.histogram();
    private final Histogram submitToReady = Latencies.histogram();
    private long submitted;
    private long answeredAtOnce;
    private long waitsExpired;

    private final long fromMs;
    private final HitListener hitListener;

    /** Receives further blocks of the prompt of a prefilled attempt, as their origin becomes known. */
    @FunctionalInterface
    interface HitListener {
        void hits(long prefilledMs, Part part, Bytes root, HitCounts more);
    }

    RequestStatistics(long fromMs, HitListener hitListener) {
        this.fromMs = fromMs;
        this.hitListener = hitListener;
    }

    void event(Event event, long atMs) {
        join.event(event, atMs);
    }

    void command(Command command, long atMs) {
        join.command(command, atMs);
    }

    void fact(Fact fact, long atMs) {
        join.fact(fact, atMs);
        // Facts of other types do not change the state of a request.
        switch (fact) {
            case RequestAdmitted _ -> states.merge(RequestState.SUBMITTED, 1L, Long::sum);
            case RequestTransitioned f -> transitioned(f, atMs);
            default -> {}
        }
    }

    @Override
    public void submitted(RequestJoin.Attempt attempt, RequestSubmitted event, long atMs) {
        if (atMs >= fromMs) {
            submitted++;
            answeredAtOnce += event.answered() ? 1 : 0;
        }
    }

    @Override
    public void expired(RequestJoin.Attempt attempt, long atMs) {
        waitsExpired += atMs >= fromMs ? 1 : 0;
    }

    @Override
    public void commanded(RequestJoin.Attempt attempt, long atMs, long ms) {
        if (atMs >= fromMs) {
            submitToCommand.recordValue(Latencies.clamp(ms));
        }
    }

    @Override
    public void ready(RequestJoin.Attempt attempt, long atMs, long ms) {
        if (atMs >= fromMs) {
            submitToReady.recordValue(Latencies.clamp(ms));
        }
    }

    @Override
    public void hits(RequestJoin.Attempt attempt, long prefilledMs, Part part, Bytes root, HitCounts more) {
        if (prefilledMs >= fromMs) {
            Part counted = parts.size() < MAX_PARTS || parts.containsKey(part) ? part : OTHER_PART;
            parts.merge(counted, more, HitCounts::plus);
            hitListener.hits(prefilledMs, counted, root, more);
        }
    }

    @Override
    public void missed(long prefilledMs, String cause, long blocks) {
        if (prefilledMs >= fromMs) {
            misses.merge(cause, blocks, Long::sum);
        }
    }

    private void transitioned(RequestTransitioned f, long atMs) {
        boolean end = RequestJoin.isEnd(f.to());
        states.computeIfPresent(f.from(), (state, count) -> count > 1 ? Long.valueOf(count - 1) : null);
        if (!end || atMs >= fromMs) {
            states.merge(f.to(), 1L, Long::sum);
        }
        if (end && atMs >= fromMs) {
            ends.merge(f.reason(), 1L, Long::sum);
        }
    }

    LogSummary.Requests summary(List<GroupPolicy> groups) {
        return new LogSummary.Requests(submitted, answeredAtOnce, waitsExpired, new EnumMap<>(states), new EnumMap<>(ends), new TreeMap<>(parts),
                new TreeMap<>(misses), groups, Percentiles.of(submitToCommand), Percentiles.of(submitToReady));
    }
}
