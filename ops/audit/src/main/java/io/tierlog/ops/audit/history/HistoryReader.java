/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.audit.history;

import io.tierlog.events.Codec;
import io.tierlog.events.Partitions;
import io.tierlog.events.topic.Topics;
import io.tierlog.ops.audit.AuditException;
import io.tierlog.ops.audit.LogSource;
import io.tierlog.ops.audit.PartitionJobs;
import io.tierlog.ops.audit.Stretch;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.OptionalInt;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.LongAdder;

/** Reads what a log says about one subject. Partitions share nothing and are read side by side. One instance reads once. */
public final class HistoryReader {
    private final LogSource source;
    private final Topics topics;
    private final Codec codec;
    private final int threads;
    private final LongAdder progress = new LongAdder();

    /**
     * A log.
     *
     * @param threads partitions read at a time, 1 or more
     */
    public HistoryReader(LogSource source, Topics topics, Codec codec, int threads) {
        this.source = source;
        this.topics = topics;
        this.codec = codec;
        this.threads = threads;
    }

    /** Records read so far, from any thread. */
    public long recordsSoFar() {
        return progress.sum();
    }

    /**
     * Reads the history of {@code subject}.
     *
     * @throws AuditException when the log has no such stretch, cannot be read, or is damaged
     * @throws InterruptedException when the thread is interrupted; nothing is left running
     */
    public History read(Subject subject, Stretch stretch) throws InterruptedException {
        int partitions = source.partitions(topics.decisions());
        // The records of a node are in one partition.
        OptionalInt only = subject instanceof Subject.Node node ? OptionalInt.of(Partitions.of(node.aggregate(), partitions)) : OptionalInt.empty();
        Stretch part = stretch.in(partitions, only);
        List<Callable<PartitionHistory.Result>> jobs = new ArrayList<>();
        for (int p : only.isPresent() ? List.of(only.getAsInt()) : part.chosen(partitions)) {
            PartitionHistory.Job job = new PartitionHistory.Job(source, topics, codec, p, subject, part, progress);
            jobs.add(() -> new PartitionHistory(job).run());
        }
        List<PartitionHistory.Result> results = PartitionJobs.run(jobs, threads);
        // The sort is stable: within a partition, equal times stay in the order of the log.
        List<History.Entry> entries = results.stream().flatMap(result -> result.entries().stream())
                .sorted(Comparator.comparingLong(History.Entry::timeMs)).toList();
        List<History.Location> placements = results.stream().flatMap(result -> result.placements().stream())
                .sorted(Comparator.comparing(History.Location::aggregate).thenComparing(History.Location::tier)).toList();
        PrefixTree prefix = new PrefixTree();
        results.forEach(result -> prefix.add(result.prefix()));
        return new History(entries, placements, results.stream().flatMap(result -> result.attempts().stream()).toList(), prefix.blocks(),
                entries.isEmpty() ? new NearIds(subject).read(source, topics, codec) : List.of());
    }
}
