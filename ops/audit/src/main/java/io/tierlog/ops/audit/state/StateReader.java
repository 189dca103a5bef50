/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.audit.state;

import io.tierlog.controller.core.table.Rows;
import io.tierlog.events.Codec;
import io.tierlog.events.Partitions;
import io.tierlog.events.topic.Topics;
import io.tierlog.ops.audit.AuditException;
import io.tierlog.ops.audit.LogSource;
import io.tierlog.ops.audit.LogStart;
import io.tierlog.ops.audit.Moment;
import io.tierlog.ops.audit.PartitionJobs;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import java.util.stream.IntStream;

/** Folds a log up to a moment. Partitions share nothing and run side by side. Memory: the tables of the partitions that are asked for. */
public final class StateReader {
    private static final String NODE = "node/";

    private final LogSource source;
    private final Topics topics;
    private final Codec codec;
    private final int threads;
    private final Function<Moment, LogStart> starts;

    /**
     * A log.
     *
     * @param threads partitions at a time, 1 or more
     */
    public StateReader(LogSource source, Topics topics, Codec codec, int threads) {
        this(source, topics, codec, threads, _ -> LogStart.BEGINNING);
    }

    /**
     * As the other, not from the beginning on.
     *
     * @param starts where to begin for the tables at a moment, which has its partition
     */
    public StateReader(LogSource source, Topics topics, Codec codec, int threads, Function<Moment, LogStart> starts) {
        this.starts = starts;
        this.source = source;
        this.topics = topics;
        this.codec = codec;
        this.threads = threads;
    }

    /**
     * The tables at a moment.
     *
     * @param node the only node of interest, whose partition alone is read; empty for all
     * @throws AuditException when the log has no such moment, or cannot be read or folded
     * @throws InterruptedException when the thread is interrupted; nothing is left running
     */
    public LogState read(Moment moment, Optional<String> node) throws InterruptedException {
        int partitions = source.partitions(topics.decisions());
        OptionalInt only = only(partitions, node);
        Moment at = moment.in(partitions, only);
        LogStart start = starts.apply(at);
        List<Callable<LogState.Partition>> jobs = new ArrayList<>();
        for (int p : chosen(partitions, only, at)) {
            jobs.add(() -> {
                try (StateFold fold = fold(p, start)) {
                    fold.advance(at);
                    return new LogState.Partition(at(fold), fold.tables());
                }
            });
        }
        return new LogState(PartitionJobs.run(jobs, threads));
    }

    /**
     * What changed between two moments.
     *
     * @param node as for {@link #read}: changes of other aggregates are left out
     * @throws AuditException as for {@link #read}, and when the second moment is before the first
     * @throws InterruptedException as for {@link #read}
     */
    public StateDiff difference(Moment first, Moment second, Optional<String> node) throws InterruptedException {
        int partitions = source.partitions(topics.decisions());
        OptionalInt only = only(partitions, node);
        Moment from = first.in(partitions, only);
        Moment to = second.in(partitions, from.onePartition().isPresent() ? from.onePartition() : only);
        from.in(partitions, to.onePartition().isPresent() ? to.onePartition() : only);
        LogStart start = starts.apply(from);
        AtomicLong decisions = new AtomicLong();
        List<Callable<Part>> jobs = new ArrayList<>();
        for (int p : chosen(partitions, from.onePartition().isPresent() ? from.onePartition() : only, to)) {
            jobs.add(() -> part(p, start, from, to, decisions));
        }
        List<Part> parts = PartitionJobs.run(jobs, threads);
        String aggregate = node.map(name -> NODE + name).orElse("");
        return new StateDiff(parts.stream().map(Part::from).toList(), parts.stream().map(Part::to).toList(), decisions.get(),
                parts.stream().flatMap(part -> part.changes.stream())
                        .filter(change -> aggregate.isEmpty() || change.aggregate().equals(aggregate))
                        .sorted(StateDiff.Change.ORDER).toList(),
                aggregate.isEmpty() || parts.stream().anyMatch(part -> part.nodes.contains(aggregate)));
    }

    /** What one partition has; {@code nodes} are those of either moment. */
    private record Part(LogState.At from, LogState.At to, List<StateDiff.Change> changes, Set<String> nodes) {}

    private Part part(int partition, LogStart start, Moment from, Moment to, AtomicLong decisions) {
        try (StateFold fold = fold(partition, start)) {
            fold.advance(from);
            LogState.At begin = at(fold);
            Set<String> nodes = new HashSet<>();
            fold.tables().rows(Rows.NODES).forEach((key, row) -> nodes.add(key.aggregate()));
            ChangedTables changed = new ChangedTables(fold.tables());
            fold.advance(to, changed, (offset, fact) -> {
                decisions.incrementAndGet();
                changed.by(new StateDiff.By(offset, fact.schema().getName()));
            });
            fold.tables().rows(Rows.NODES).forEach((key, row) -> nodes.add(key.aggregate()));
            return new Part(begin, at(fold), changed.changes(partition), nodes);
        }
    }

    private StateFold fold(int partition, LogStart start) {
        return new StateFold(new StateFold.Job(source, topics, codec, partition, start.of(partition)));
    }

    private static OptionalInt only(int partitions, Optional<String> node) {
        return node.isEmpty() ? OptionalInt.empty() : OptionalInt.of(Partitions.of(NODE + node.get(), partitions));
    }

    private static List<Integer> chosen(int partitions, OptionalInt only, Moment moment) {
        OptionalInt one = moment.onePartition().isPresent() ? moment.onePartition() : only;
        return one.isPresent() ? List.of(one.getAsInt()) : IntStream.range(0, partitions).boxed().toList();
    }

    private static LogState.At at(StateFold fold) {
        return new LogState.At(fold.partition(), fold.last().offset(), fold.last().timeMs());
    }
}
