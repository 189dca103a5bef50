/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.audit.history;

import io.tierlog.events.Codec;
import io.tierlog.events.Reading;
import io.tierlog.events.RecordReader;
import io.tierlog.events.Topics;
import io.tierlog.ops.audit.AuditException;
import io.tierlog.ops.audit.LogEntry;
import io.tierlog.ops.audit.LogSource;
import io.tierlog.ops.audit.PartitionJobs;
import io.tierlog.ops.audit.RecordCursor;
import io.tierlog.schemas.WireRecord;
import io.tierlog.schemas.decision.Fact;
import io.tierlog.schemas.decision.OperationIssued;
import io.tierlog.schemas.decision.RequestAdmitted;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/** Reads what a log says about one subject. Partitions share nothing and are read side by side. One instance reads once. */
public final class HistoryReader {
    private static final int MAX_SIMILAR = 5;

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
     * @throws AuditException when the log cannot be read, or is damaged
     * @throws InterruptedException when the thread is interrupted; nothing is left running
     */
    public History read(Subject subject) throws InterruptedException {
        int partitions = source.partitions(topics.decisions());
        List<Callable<PartitionHistory.Result>> jobs = new ArrayList<>();
        for (int p = 0; p < partitions; p++) {
            PartitionHistory.Job job = new PartitionHistory.Job(source, topics, codec, p, subject, progress);
            jobs.add(() -> new PartitionHistory(job).run());
        }
        List<PartitionHistory.Result> results = PartitionJobs.run(jobs, threads);
        // The sort is stable: within a partition, equal times stay in the order of the log.
        List<History.Entry> entries = results.stream().flatMap(result -> result.entries().stream())
                .sorted(Comparator.comparingLong(History.Entry::timeMs)).toList();
        List<History.Location> placements = results.stream().flatMap(result -> result.placements().stream())
                .sorted(Comparator.comparing(History.Location::aggregate).thenComparing(History.Location::tier)).toList();
        return new History(entries, placements, entries.isEmpty() ? similar(subject, partitions) : List.of());
    }

    /** Ids of the same kind that contain the one in question, or share the beginning of it. */
    private List<String> similar(Subject subject, int partitions) {
        String wanted = switch (subject) {
            case Subject.Request request -> request.id();
            case Subject.Operation operation -> operation.id();
            case Subject.Block _, Subject.Migration _ -> "";
        };
        if (wanted.isEmpty()) {
            return List.of();
        }
        RecordReader<Fact> facts = codec.reader(Fact.class);
        Set<String> found = new TreeSet<>();
        String beginning = wanted.substring(0, Math.max(1, wanted.length() * 2 / 3));
        for (int p = 0; p < partitions && found.size() < MAX_SIMILAR; p++) {
            try (RecordCursor decisions = new RecordCursor(source, topics.decisions(), p)) {
                for (LogEntry.Data data = decisions.next(); data != null && found.size() < MAX_SIMILAR; data = decisions.next()) {
                    String id = id(subject, facts, data.value());
                    if (id != null && (id.contains(wanted) || id.startsWith(beginning))) {
                        found.add(id);
                    }
                }
            }
        }
        return List.copyOf(found);
    }

    private static @Nullable String id(Subject subject, RecordReader<Fact> facts, byte @Nullable [] value) {
        boolean request = subject instanceof Subject.Request;
        if (!facts.is(value, request ? RequestAdmitted.TYPE : OperationIssued.TYPE)
                || !(facts.read(value) instanceof Reading.Decoded<Fact> good)) {
            return null;
        }
        WireRecord fact = good.value();
        return switch (fact) {
            case RequestAdmitted admitted -> admitted.request();
            case OperationIssued issued -> issued.operation();
            default -> null;
        };
    }
}
