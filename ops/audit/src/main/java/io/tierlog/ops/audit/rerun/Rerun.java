/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.audit.rerun;

import io.tierlog.events.Codec;
import io.tierlog.events.topic.Topics;
import io.tierlog.ops.audit.AuditException;
import io.tierlog.ops.audit.LogSource;
import io.tierlog.ops.audit.LogStart;
import io.tierlog.ops.audit.PartitionJobs;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;

/** Decides a recorded log again with the core of this build. Partitions share nothing and run side by side. One instance reruns once. */
public final class Rerun {
    private final LogSource source;
    private final Topics topics;
    private final Codec codec;
    private final int threads;
    private final LogStart start;

    /**
     * A log to rerun.
     *
     * @param threads partitions at a time, 1 or more; each holds the tables of its partition
     */
    public Rerun(LogSource source, Topics topics, Codec codec, int threads) {
        this(source, topics, codec, threads, LogStart.BEGINNING);
    }

    /** As the other, from {@code start} on. */
    public Rerun(LogSource source, Topics topics, Codec codec, int threads, LogStart start) {
        this.start = start;
        this.source = source;
        this.topics = topics;
        this.codec = codec;
        this.threads = threads;
    }

    /**
     * Reruns.
     *
     * @throws AuditException when the log cannot be read, is damaged, or begins later than {@code start}
     * @throws InterruptedException when the thread is interrupted; nothing is left running
     */
    public RerunReport run() throws InterruptedException {
        long start = System.nanoTime();
        int partitions = source.partitions(topics.events());
        if (source.partitions(topics.decisions()) != partitions) {
            throw new AuditException(topics.events() + " has " + partitions + " partitions, and " + topics.decisions() + " has "
                    + source.partitions(topics.decisions()), "these are not the topics of one log: look at --topic-prefix");
        }
        List<Callable<PartitionRerun.Result>> jobs = new ArrayList<>();
        for (int p = 0; p < partitions; p++) {
            int partition = p;
            jobs.add(() -> new PartitionRerun(
                    new PartitionRerun.Job(source, topics, codec, partition, partitions, this.start.of(partition))).run());
        }
        List<PartitionRerun.Result> results = PartitionJobs.run(jobs, threads);
        Optional<RerunReport.Difference> first = results.stream().flatMap(result -> result.first().stream())
                .min(Comparator.comparingLong(RerunReport.Difference::inputTimeMs).thenComparingInt(RerunReport.Difference::partition));
        return new RerunReport(
                partitions,
                results.stream().mapToLong(PartitionRerun.Result::events).sum(),
                results.stream().mapToLong(PartitionRerun.Result::decisions).sum(),
                results.stream().mapToLong(PartitionRerun.Result::undecided).sum(),
                results.stream().mapToLong(PartitionRerun.Result::differences).sum(),
                (System.nanoTime() - start) / 1_000_000,
                first);
    }
}
