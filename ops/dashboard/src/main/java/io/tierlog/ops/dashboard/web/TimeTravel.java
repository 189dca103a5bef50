/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.dashboard.web;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.tierlog.controller.http.Problem;
import io.tierlog.events.Codec;
import io.tierlog.events.topic.Topics;
import io.tierlog.ops.audit.ClusterLog;
import io.tierlog.ops.audit.LogSource;
import io.tierlog.ops.audit.Moment;
import io.tierlog.ops.audit.state.StateReader;
import io.tierlog.ops.dashboard.fold.FoldLimits;
import io.tierlog.ops.dashboard.fold.PastFold;
import io.tierlog.ops.dashboard.streams.FoldTasks;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The pages as they were at a moment: the controller's tables by the code of {@code audit state --at}, figures over time from the windows that the
 * live page keeps. One moment at a time ({@link LogWork}), of logs of at most {@value #DECISIONS} decisions; the last one is kept, so that its pages
 * come at once. Safe for use by several threads.
 */
public final class TimeTravel {
    static final Set<String> PAGES = Set.of("overview", "nodes", "node", "requests", "operate");
    private static final long DECISIONS = 2_000_000;
    private static final String INSTEAD = "use audit state --at, with a snapshot";

    private final Supplier<ClusterLog> log;
    private final Topics topics;
    private final Codec codec;
    private final LogWork work;
    private final Pages live;
    private volatile @Nullable Held held;

    private record Held(long atMs, Pages pages) {}

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
     * @throws Problem INVALID_REQUEST for a page that has no past, NOT_READY for a log that is too long, and those of {@link LogWork}
     */
    ObjectNode json(PageQuery query) {
        if (!PAGES.contains(query.page())) {
            throw new Problem(Problem.Kind.INVALID_REQUEST, "the page " + query.page() + " is not kept for past moments", "leave out at=");
        }
        Held last = held;
        if (last == null || last.atMs() != query.atMs()) {
            last = new Held(query.atMs(), work.run(() -> pages(query.atMs()), INSTEAD));
            held = last;
        }
        return last.pages().json(query);
    }

    private Pages pages(long atMs) throws InterruptedException {
        try (ClusterLog source = log.get()) {
            requireShort(source);
            StateReader reader = new StateReader(source, topics, codec, 1);
            return live.at(FoldTasks.of(PastFold.all(FoldLimits.DEFAULTS, reader.read(new Moment.Time(atMs), Optional.empty()).partitions())), atMs);
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
