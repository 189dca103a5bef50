/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.audit;

import io.tierlog.controller.core.invariant.LogInvariants;
import io.tierlog.controller.core.table.Rows;
import io.tierlog.events.Codec;
import io.tierlog.events.sign.RecordSigning;
import io.tierlog.events.topic.Topics;
import io.tierlog.schemas.decision.Fact;
import io.tierlog.schemas.directory.Published;
import io.tierlog.schemas.event.Event;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
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
    /** By default a controller commits each half a second what it has decided. */
    private static final long DECIDED_MS = 1_500;

    /** Which finding is reported as the first: one that names a wrong record goes before one that may only follow from it, then the earliest. */
    private static final Comparator<Finding> IN_PARTITION =
            Comparator.<Finding, Boolean>comparing(f -> !f.isRoot()).thenComparingLong(Finding::order);

    private static final Comparator<Finding> OVERALL = Comparator.<Finding, Boolean>comparing(f -> !f.isRoot())
            .thenComparingLong(Finding::timestampMs).thenComparingInt(Finding::partition);

    private final LogSource source;
    private final Topics topics;
    private final Codec codec;
    private final Options options;
    private final Pause pause;
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
     * @param continuation how it goes on from an earlier one; then facts are folded and placements compared. Empty when it does not
     */
    public record Options(
            int threads,
            boolean atRest,
            boolean fold,
            boolean placements,
            LogStart start,
            Optional<RecordSigning> signing,
            Optional<Continuation> continuation) {
        /** On its own. */
        public Options(int threads, boolean atRest, boolean fold, boolean placements, LogStart start, Optional<RecordSigning> signing) {
            this(threads, atRest, fold, placements, start, signing, Optional.empty());
        }

        /** From the beginning, without codes. */
        public Options(int threads, boolean atRest, boolean fold, boolean placements) {
            this(threads, atRest, fold, placements, LogStart.BEGINNING, Optional.empty());
        }

        /** The same, as part of a row of audits, each of which goes on from the one before. */
        public Options with(LogStart from, Continuation row) {
            return new Options(threads, atRest, true, true, from, signing, Optional.of(row));
        }
    }

    /** Time for a running cluster. */
    @FunctionalInterface
    interface Pause {
        /** Ends when what is on the log is decided. */
        void take() throws InterruptedException;
    }

    /** A log to verify. */
    public Verifier(LogSource source, Topics topics, Codec codec, Options options) {
        this(source, topics, codec, options, () -> Thread.sleep(DECIDED_MS));
    }

    /** With another pause. */
    Verifier(LogSource source, Topics topics, Codec codec, Options options, Pause pause) {
        this.pause = pause;
        this.source = source;
        this.topics = topics;
        this.codec = codec;
        this.options = options;
    }

    /**
     * Verifies.
     *
     * @throws AuditException when the log cannot be read
     * @throws InterruptedException when the thread is interrupted; nothing is left running
     */
    public VerifyReport verify() throws InterruptedException {
        if (options.atRest() && !source.isLive() && !source.endsAtOnce()) {
            throw new AuditException("whether it was at rest does not show in an archive that was made of a running cluster: its topics do not end"
                    + " at the same moment", "leave out --at-rest, or ask the cluster");
        }
        int partitions = source.partitions(topics.events());
        if (source.partitions(topics.decisions()) != partitions) {
            throw new AuditException(topics.events() + " has " + partitions + " partitions, and " + topics.decisions() + " has "
                    + source.partitions(topics.decisions()), "these are not the topics of one log: look at --topic-prefix");
        }
        options.continuation().ifPresent(row -> row.findings().forEach(this::found));
        List<OptionalLong> due = due(partitions);
        long start = System.nanoTime();
        List<PlacementCheck> placements = new ArrayList<>();
        List<Callable<LogInvariants.Counts>> jobs = new ArrayList<>();
        for (int p = 0; p < partitions; p++) {
            PlacementCheck check = new PlacementCheck(p);
            placements.add(check);
            int partition = p;
            jobs.add(() -> {
                PartitionAudit audit = audit(partition, check);
                return audit.run(due.get(partition), () -> image(audit, check));
            });
        }
        LogInvariants.Counts operations = new LogInvariants.Counts(0, 0, 0, 0, 0, 0);
        for (LogInvariants.Counts counted : PartitionJobs.run(jobs, options.threads())) {
            operations = operations.plus(counted);
        }
        List<String> notes = new ArrayList<>(placements() ? comparePlacements(placements) : withoutPlacements());
        options.signing().filter(codes -> codes.unsigned() > 0).ifPresent(codes ->
                notes.add(codes.unsigned() + " records have no code, which --record-check WARN takes"));
        Optional<Finding> first = firsts.values().stream().min(OVERALL);
        long elapsedMs = (System.nanoTime() - start) / 1_000_000;
        return new VerifyReport(partitions, records.sum(), bytes.sum(), elapsedMs, operations, first, Map.copyOf(counts), List.copyOf(notes));
    }

    /** At rest, the end of each partition's events: those before must be answered. A running cluster, where later ones come, gets time to do so. */
    private List<OptionalLong> due(int partitions) throws InterruptedException {
        List<OptionalLong> ends = new ArrayList<>();
        for (int p = 0; p < partitions; p++) {
            if (options.atRest()) {
                try (LogSource.Stream events = source.open(topics.events(), p)) {
                    ends.add(OptionalLong.of(events.end()));
                }
            } else {
                ends.add(OptionalLong.empty());
            }
        }
        if (options.atRest() && source.isLive()) {
            pause.take();
        }
        return ends;
    }

    private PartitionAudit audit(int partition, PlacementCheck check) {
        Optional<PartitionStart> start = options.start().of(partition);
        PartitionAudit.Job job = new PartitionAudit.Job(source, topics, codec, partition, options.fold(), start, Long.MAX_VALUE, options.signing());
        PartitionAudit audit = new PartitionAudit(job, new Listener(placements() ? check : null));
        start.ifPresent(from -> {
            SnapshotFold.goOn(from, audit, check);
            if (options.continuation().isPresent()) {
                new SnapshotSeam(source, topics, codec, "checkpoint").require(from, audit);
            }
        });
        if (start.isPresent() && placementsFrom().isPresent()) {
            check.onlyFromHere();
        }
        return audit;
    }

    /** Offsets from which the placements topic is compared; empty for all of it. */
    private Optional<List<Long>> placementsFrom() {
        return options.continuation().map(Continuation::placementsFrom).filter(from -> !from.isEmpty());
    }

    /** Leaves the state of a partition to the next audit. When something is wrong so far, there will be none to go on from this one. */
    private void image(PartitionAudit audit, PlacementCheck placements) {
        Continuation row = options.continuation().orElse(null);
        if (row == null || hasFindings()) {
            return;
        }
        try {
            try (DataOutputStream out = row.image(audit.at().partition())) {
                SnapshotFold.image(audit, placements, out);
            }
            row.written(audit.at(), audit.tables().orElseThrow().rows(Rows.PLACEMENTS).size());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private synchronized boolean hasFindings() {
        return !firsts.isEmpty();
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
        if (placements()) {
            jobs.add(() -> BareReader.read(source, codec.reader(Published.class), topics.placements()));
        }
        return PartitionJobs.run(jobs, options.threads()).stream().mapToLong(Long::longValue).sum();
    }

    private boolean placements() {
        return options.placements() && source.hasPlacements();
    }

    private List<String> withoutPlacements() {
        return options.placements()
                ? List.of("an archive has no " + topics.placements() + ": what directories read was not compared")
                : List.of();
    }

    private List<String> comparePlacements(List<PlacementCheck> checks) throws InterruptedException {
        Listener listener = new Listener(null);
        List<Callable<PlacementCheck.TopicPlacements>> jobs = new ArrayList<>();
        for (int p = 0; p < source.partitions(topics.placements()); p++) {
            long from = placementsFrom().isEmpty() ? 0 : placementsFrom().get().get(p);
            PlacementCheck.TopicPlacements topic =
                    new PlacementCheck.TopicPlacements(topics.placements(), p, listener, options.signing(), placementsFrom().isPresent());
            jobs.add(() -> topic.read(source, codec, from));
        }
        List<PlacementCheck.TopicPlacements> topic = PartitionJobs.run(jobs, options.threads());
        PlacementCheck.compare(checks, topic, source.isLive());
        if (source.isLive()) {
            return List.of("the cluster is running: of " + topics.placements() + ", only placements that cannot have changed since were compared");
        }
        checks.forEach(check -> check.reportMissing(topics.decisions(), topic, listener));
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
