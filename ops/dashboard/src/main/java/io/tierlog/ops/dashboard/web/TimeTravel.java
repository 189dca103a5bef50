/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.dashboard.web;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.tierlog.controller.http.Problem;
import io.tierlog.events.Codec;
import io.tierlog.events.topic.Topics;
import io.tierlog.ops.audit.ClusterLog;
import io.tierlog.ops.audit.LogSource;
import io.tierlog.ops.audit.Moment;
import io.tierlog.ops.audit.state.LogState;
import io.tierlog.ops.audit.state.StateReader;
import io.tierlog.ops.dashboard.fold.FoldLimits;
import io.tierlog.ops.dashboard.fold.PastFold;
import io.tierlog.ops.dashboard.streams.FoldTasks;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The pages as they were at a moment: the controller's tables by the code of {@code audit state --at}, figures over time from the windows that the
 * live page keeps. One moment at a time ({@link LogWork}), of logs of at most {@value #DECISIONS} decisions; the last one is kept, so that its pages
 * come at once. Safe for use by several threads.
 */
public final class TimeTravel {
    private static final long DECISIONS = 2_000_000;
    private static final String INSTEAD = "use audit state --at, with a snapshot";

    private final Supplier<ClusterLog> log;
    private final Topics topics;
    private final Codec codec;
    private final LogWork work;
    private final Pages live;
    private volatile @Nullable Held held;

    private record Held(long atMs, Pages pages, LogState state) {}

    /** @param live the pages that have the windows */
    public TimeTravel(Supplier<ClusterLog> log, Topics topics, Codec codec, LogWork work, Pages live) {
        this.log = log;
        this.topics = topics;
        this.codec = codec;
        this.work = work;
        this.live = live;
    }

    /**
     * The page of a query at its moment.
     *
     * @throws Problem NOT_READY for a log that is too long, and those of {@link LogWork}
     */
    ObjectNode json(PageQuery query) {
        return held(query.atMs()).pages().json(query);
    }

    /**
     * The controller's tables at a moment; read-only.
     *
     * @throws Problem as {@link #json} does
     */
    LogState state(long atMs) {
        return held(atMs).state();
    }

    private Held held(long atMs) {
        Held last = held;
        if (last == null || last.atMs() != atMs) {
            last = work.run(() -> read(atMs), INSTEAD);
            held = last;
        }
        return last;
    }

    private Held read(long atMs) throws InterruptedException {
        try (ClusterLog source = log.get()) {
            requireShort(source);
            LogState state = new StateReader(source, topics, codec, 1).read(new Moment.Time(atMs), Optional.empty());
            return new Held(atMs, live.at(FoldTasks.of(PastFold.all(FoldLimits.DEFAULTS, state.partitions())), atMs), state);
        }
    }

    private void requireShort(LogSource source) {
        long decisions = 0;
        for (int p = 0; p < source.partitions(topics.decisions()); p++) {
            try (LogSource.Stream stream = source.open(topics.decisions(), p)) {
                decisions += stream.end() - stream.begin();
            }
        }
        if (decisions > DECISIONS) {
            throw new Problem(Problem.Kind.NOT_READY, "the log has " + decisions + " decisions, and the page reads at most " + DECISIONS, INSTEAD);
        }
    }
}
