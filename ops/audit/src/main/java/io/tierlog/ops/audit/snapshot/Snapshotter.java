/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.audit.snapshot;

import io.tierlog.controller.core.api.CoreVersion;
import io.tierlog.events.Codec;
import io.tierlog.events.topic.Topics;
import io.tierlog.ops.audit.AuditException;
import io.tierlog.ops.audit.Finding;
import io.tierlog.ops.audit.LogSource;
import io.tierlog.ops.audit.LogStart;
import io.tierlog.ops.audit.PartitionJobs;
import io.tierlog.ops.audit.SnapshotFold;
import java.io.BufferedOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;

/** Makes and verifies snapshots of a log. Partitions are folded side by side. One instance is used once. */
public final class Snapshotter {
    private static final int BUFFER = 1 << 16;

    private final SnapshotDirectory directory;
    private final LogSource source;
    private final Topics topics;
    private final Codec codec;
    private final int threads;

    /**
     * A log and its snapshots.
     *
     * @param threads partitions at a time, 1 or more; each needs the memory of an audit of its partition
     */
    public Snapshotter(SnapshotDirectory directory, LogSource source, Topics topics, Codec codec, int threads) {
        this.directory = directory;
        this.source = source;
        this.topics = topics;
        this.codec = codec;
        this.threads = threads;
    }

    /** A snapshot, or the first check that the log breaks. */
    public record Made(Optional<Snapshot> snapshot, Optional<Finding> finding) {}

    /**
     * Folds the log on from the last snapshot, or from the beginning, to its present end.
     *
     * @param createdMs the time, milliseconds since 1970
     * @throws AuditException when the log cannot be read or the snapshot cannot be written; nothing of it is left then
     */
    public Made create(long createdMs) throws InterruptedException {
        int partitions = partitions();
        Optional<Snapshot> last = directory.last();
        last.ifPresent(snapshot -> snapshot.requireOf(topics, partitions));
        LogStart start = last.<LogStart>map(s -> s).orElse(LogStart.BEGINNING);
        List<Finding> findings = new ArrayList<>();
        Optional<Snapshot> made = directory.create(into -> {
            List<Callable<Written>> jobs = new ArrayList<>();
            for (int p = 0; p < partitions; p++) {
                int partition = p;
                jobs.add(() -> unchecked(() -> write(partition, start, into)));
            }
            List<Written> written = PartitionJobs.run(jobs, threads);
            written.stream().flatMap(one -> one.finding.stream()).findFirst().ifPresent(findings::add);
            return findings.isEmpty()
                    ? Optional.of(new Manifest(SnapshotFold.LAYOUT, CoreVersion.CURRENT, topics.events(), topics.decisions(),
                            last.map(Snapshot::name).orElse(""), createdMs, written.stream().map(one -> one.part).toList()))
                    : Optional.empty();
        });
        return new Made(made, findings.stream().findFirst());
    }

    /** A job's failure to write leaves it as one, not as a fault of the program. */
    private interface Job<T> {
        T run() throws IOException;
    }

    private static <T> T unchecked(Job<T> job) {
        try {
            return job.run();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private record Written(Manifest.Part part, Optional<Finding> finding) {}

    private Written write(int partition, LogStart start, Path into) throws IOException {
        PartFile file = new PartFile(directory, into, partition);
        SnapshotFold.Result result = SnapshotFold.write(job(partition), start.of(partition), Long.MAX_VALUE, file::open);
        return new Written(file.part(result.at(), result.placements()), result.finding());
    }

    /**
     * Folds the log again up to where the snapshot stands, and compares the bytes: from the beginning where the log has it, else from the
     * last verified snapshot before it. When all are equal, this is put on record.
     *
     * @return what differs; empty when nothing does
     * @throws AuditException when snapshot or log cannot be read, or what is needed of the log was trimmed, or it no longer has its
     *     beginning and no snapshot before this one is verified
     */
    public Optional<String> verify(Snapshot snapshot) throws InterruptedException {
        int partitions = partitions();
        snapshot.requireOf(topics, partitions);
        snapshot.requireWhole();
        List<Callable<Optional<String>>> jobs = new ArrayList<>();
        for (Manifest.Part part : snapshot.manifest().parts()) {
            jobs.add(() -> unchecked(() -> compare(snapshot, part)));
        }
        Optional<String> differs;
        try {
            differs = PartitionJobs.run(jobs, threads).stream().flatMap(Optional::stream).findFirst();
        } catch (UncheckedIOException e) {
            throw new AuditException("cannot read " + snapshot.directory() + ": " + e.getCause(), "check that this user may read it", e);
        }
        if (differs.isEmpty()) {
            directory.verified(snapshot);
        }
        return differs;
    }

    private Optional<String> compare(Snapshot snapshot, Manifest.Part part) throws IOException {
        int partition = part.at().partition();
        LogStart start = begin(partition) == 0 ? LogStart.BEGINNING : verifiedBefore(snapshot);
        long last = part.at().lastDecision();
        try (Same same = new Same(Files.newInputStream(snapshot.directory().resolve(part.file())))) {
            SnapshotFold.Result result =
                    SnapshotFold.write(job(partition), start.of(partition), last, () -> new DataOutputStream(new BufferedOutputStream(same, BUFFER)));
            if (result.finding().isPresent()) {
                return Optional.of("partition " + partition + ": " + result.finding().get());
            }
            return same.differs() ? Optional.of(part.file() + " differs from the fold of the log at byte " + same.position()) : Optional.empty();
        }
    }

    /** What a mark "verified" rests on must be verified itself. */
    private Snapshot verifiedBefore(Snapshot snapshot) {
        Snapshot before = directory.list().stream()
                .takeWhile(one -> !one.name().equals(snapshot.name()))
                .filter(Snapshot::isVerified)
                .reduce((_, later) -> later)
                .orElseThrow(() -> new AuditException("the log no longer has its beginning, and no snapshot before " + snapshot.name()
                        + " is verified", "verify the one before it first" + (snapshot.previous().isEmpty() ? "" : ": " + snapshot.previous())));
        before.requireOf(topics, snapshot.places().size());
        return before;
    }

    /** The later one of where the two topics of a partition begin. */
    private long begin(int partition) {
        try (LogSource.Stream events = source.open(topics.events(), partition);
                LogSource.Stream decisions = source.open(topics.decisions(), partition)) {
            return Math.max(events.begin(), decisions.begin());
        }
    }

    private int partitions() {
        int partitions = source.partitions(topics.events());
        if (source.partitions(topics.decisions()) != partitions) {
            throw new AuditException(topics.events() + " has " + partitions + " partitions, and " + topics.decisions() + " has "
                    + source.partitions(topics.decisions()), "these are not the topics of one log: look at --topic-prefix");
        }
        return partitions;
    }

    private SnapshotFold.Job job(int partition) {
        return new SnapshotFold.Job(source, topics, codec, partition);
    }

    /** Compares what is written with what is there. */
    private static final class Same extends OutputStream {
        private final InputStream there;
        private long position;
        private boolean differs;

        Same(InputStream there) {
            this.there = there;
        }

        long position() {
            return position;
        }

        boolean differs() throws IOException {
            return differs || there.read() >= 0;
        }

        @Override
        public void write(int one) throws IOException {
            write(new byte[] {(byte) one}, 0, 1);
        }

        @Override
        public void write(byte[] data, int offset, int length) throws IOException {
            if (differs) {
                return;
            }
            byte[] expected = there.readNBytes(length);
            int first = Arrays.mismatch(expected, 0, expected.length, data, offset, offset + length);
            differs = first >= 0;
            position += first >= 0 ? first : length;
        }

        /** What is there stays open until it is asked whether there is more. */
        @Override
        public void close() {}
    }
}
