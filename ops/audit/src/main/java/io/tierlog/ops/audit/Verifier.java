/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.audit;

import io.tierlog.controller.core.invariant.LogInvariants;
import io.tierlog.events.Codec;
import io.tierlog.events.Topics;
import io.tierlog.events.sign.RecordSigning;
import io.tierlog.schemas.decision.Fact;
import io.tierlog.schemas.directory.Published;
import io.tierlog.schemas.event.Event;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * Verifies a log: the bytes and sequence numbers of every event and fact, the invariants, the fold of the facts, and the placements topic.
 *
 * <p>Partitions share nothing and are read side by side. One instance verifies once.
 */
public final class Verifier {
    /** Which finding is reported as the first: one that names a wrong record goes before one that may only follow from it, then the earliest. */
    private static final Comparator<Finding> IN_PARTITION =
            Comparator.<Finding, Boolean>comparing(f -> !f.isRoot()).thenComparingLong(Finding::order);

    private static final Comparator<Finding> OVERALL = Comparator.<Finding, Boolean>comparing(f -> !f.isRoot())
            .thenComparingLong(Finding::timestampMs).thenComparingInt(Finding::partition);

    private final LogSource source;
    private final Topics topics;
    private final Codec codec;
    private final Options options;
    private final LongAdder records = new LongAdder();
    private final LongAdder bytes = new LongAdder();
    private final Map<String, Long> counts = new TreeMap<>();
    private final Map<Integer, Finding> firsts = new TreeMap<>();

    /**
     * Extent of a verification.
     *
     * @param threads partitions read at a time, 1 or more
     * @param atRest whether the log must end with nothing in flight
     * @param fold whether the facts are folded into tables (I13), which needs memory for them
     * @param placements whether the placements topic is compared with the facts (I13)
     * @param start where to begin
     * @param signing checks the codes of events, decisions and placements; empty when they are not checked
     */
    public record Options(int threads, boolean atRest, boolean fold, boolean placements, LogStart start, Optional<RecordSigning> signing) {
        /** From the beginning, without codes. */
        public Options(int threads, boolean atRest, boolean fold, boolean placements) {
            this(threads, atRest, fold, placements, LogStart.BEGINNING, Optional.empty());
        }
    }

    /** A log to verify. */
    public Verifier(LogSource source, Topics topics, Codec codec, Options options) {
        this.source = source;
        this.topics = topics;
        this.codec = codec;
        this.options = options;
    }

    /** Records read so far, from any thread. */
    public long recordsSoFar() {
        return records.sum();
    }

    /**
     * Verifies.
     *
     * @throws AuditException when the log cannot be read
     * @throws InterruptedException when the thread is interrupted; nothing is left running
     */
    public VerifyReport verify() throws InterruptedException {
        long start = System.nanoTime();
        int partitions = source.partitions(topics.events());
        if (source.partitions(topics.decisions()) != partitions) {
            throw new AuditException(topics.events() + " has " + partitions + " partitions, and " + topics.decisions() + " has "
                    + source.partitions(topics.decisions()), "these are not the topics of one log: look at --topic-prefix");
        }
        List<PlacementCheck> placements = new ArrayList<>();
        List<Callable<LogInvariants.Counts>> jobs = new ArrayList<>();
        for (int p = 0; p < partitions; p++) {
            PlacementCheck check = new PlacementCheck(p);
            placements.add(check);
            int partition = p;
            jobs.add(() -> audit(partition, check).run(options.atRest()));
        }
        LogInvariants.Counts operations = new LogInvariants.Counts(0, 0, 0, 0, 0, 0);
        for (LogInvariants.Counts counted : PartitionJobs.run(jobs, options.threads())) {
            operations = operations.plus(counted);
        }
        List<String> notes = new ArrayList<>(options.placements() ? comparePlacements(placements) : List.of());
        options.signing().filter(codes -> codes.unsigned() > 0).ifPresent(codes ->
                notes.add(codes.unsigned() + " records have no code, which --record-check WARN takes"));
        Optional<Finding> first = firsts.values().stream().min(OVERALL);
        long elapsedMs = (System.nanoTime() - start) / 1_000_000;
        return new VerifyReport(partitions, records.sum(), bytes.sum(), elapsedMs, operations, first, Map.copyOf(counts), List.copyOf(notes));
    }

    private PartitionAudit audit(int partition, PlacementCheck check) {
        Optional<PartitionStart> start = options.start().of(partition);
        PartitionAudit.Job job = new PartitionAudit.Job(source, topics, codec, partition, options.fold(), start, Long.MAX_VALUE, options.signing());
        PartitionAudit audit = new PartitionAudit(job, new Listener(options.placements() ? check : null));
        start.ifPresent(from -> SnapshotFold.goOn(from, audit, check));
        return audit;
    }

    /**
     * Reads and decodes the same records and does nothing else, as the baseline for the speed of an audit. One reader for each topic, in as many
     * threads as the audit.
     *
     * @return records read
     */
    public long readBare() throws InterruptedException {
        List<Callable<Long>> jobs = new ArrayList<>();
        jobs.add(() -> BareReader.read(source, codec.reader(Event.class), topics.events()));
        jobs.add(() -> BareReader.read(source, codec.reader(Fact.class), topics.decisions()));
        if (options.placements()) {
            jobs.add(() -> BareReader.read(source, codec.reader(Published.class), topics.placements()));
        }
        return PartitionJobs.run(jobs, options.threads()).stream().mapToLong(Long::longValue).sum();
    }

    private List<String> comparePlacements(List<PlacementCheck> checks) throws InterruptedException {
        Listener listener = new Listener(null);
        List<Callable<PlacementCheck.TopicPlacements>> jobs = new ArrayList<>();
        for (int p = 0; p < source.partitions(topics.placements()); p++) {
            PlacementCheck.TopicPlacements topic = new PlacementCheck.TopicPlacements(topics.placements(), p, listener, options.signing());
            jobs.add(() -> topic.read(source, codec));
        }
        PlacementCheck.compare(checks, PartitionJobs.run(jobs, options.threads()), source.isLive());
        if (source.isLive()) {
            return List.of("the cluster is running: of " + topics.placements() + ", only placements that cannot have changed since were compared");
        }
        checks.forEach(check -> check.reportMissing(topics.decisions(), topics.placements(), listener));
        return List.of();
    }

    private synchronized void found(Finding finding) {
        counts.merge(finding.check(), 1L, Long::sum);
        firsts.merge(finding.partition(), finding, (a, b) -> IN_PARTITION.compare(a, b) <= 0 ? a : b);
    }

    private final class Listener implements PartitionAudit.Listener {
        private final @Nullable PlacementCheck placements;

        Listener(@Nullable PlacementCheck placements) {
            this.placements = placements;
        }

        @Override
        public void found(Finding finding) {
            Verifier.this.found(finding);
        }

        @Override
        public void read(long moreRecords, long moreBytes) {
            records.add(moreRecords);
            bytes.add(moreBytes);
        }

        @Override
        public void fact(long offset, Fact decision) {
            if (placements != null) {
                placements.fact(offset, decision);
            }
        }
    }
}
