/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.audit.snapshot;

import io.tierlog.controller.core.api.CoreVersion;
import io.tierlog.events.Codec;
import io.tierlog.events.topic.Topics;
import io.tierlog.ops.audit.AuditException;
import io.tierlog.ops.audit.Continuation;
import io.tierlog.ops.audit.Finding;
import io.tierlog.ops.audit.LogSource;
import io.tierlog.ops.audit.LogStart;
import io.tierlog.ops.audit.PartitionStart;
import io.tierlog.ops.audit.SnapshotFold;
import io.tierlog.ops.audit.Verifier;
import io.tierlog.ops.audit.VerifyReport;
import io.tierlog.ops.audit.heads.HeadCheck;
import io.tierlog.ops.audit.heads.HeadReport;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Audits that go on from each other. Each leaves a checkpoint in a directory: a snapshot with the state of every check, bound to the log, to what
 * of it was read, and to the code that checked it. The next one reads what was appended since.
 *
 * <pre>
 *   binding.code                      checksum of the classes of the checks and the fold
 *   binding.topic.NAME                id of a topic
 *   binding.placements                by partition, the first offset of the placements topic that was not compared
 *   binding.heads                     NUMBER:HASH:OFFSET:TIME of the last signed head, where heads are checked
 *   binding.batches.NAME.PARTITION    FROM:TO:CHECKSUM of the headers of the batches in each file, where the log is read from files
 * </pre>
 *
 * <p>When a check fails, the checkpoints stay as they are: the next audit finds the same. One instance is used once. Memory: that of an audit.
 */
public final class Checkpoints {
    /** How the names of checkpoints begin. */
    static final String KIND = "checkpoint";

    /** A withdrawn placement shows in the compacted topic for 24 hours; an older checkpoint does not spare reading all of it. */
    private static final Duration PLACEMENTS_AGE = Duration.ofHours(12);

    private static final int KEPT = 2;
    private static final String CODE = "code";
    private static final String TOPIC = "topic.";
    private static final String PLACEMENTS = "placements";
    private static final String BATCHES = "batches.";
    private static final String HEADS = "heads";

    private final SnapshotDirectory directory;
    private final Path path;
    private final LogSource source;
    private final Topics topics;
    private final Codec codec;

    /** A log, and the directory of its checkpoints, which is made if there is none. */
    public Checkpoints(Path path, LogSource source, Topics topics, Codec codec) {
        this(path, SnapshotFiles.DISK, source, topics, codec);
    }

    Checkpoints(Path path, SnapshotFiles files, LogSource source, Topics topics, Codec codec) {
        this.path = path;
        this.directory = new SnapshotDirectory(path, files, KIND);
        this.source = source;
        this.topics = topics;
        this.codec = codec;
    }

    /**
     * Verifies what was appended since the last checkpoint, or everything when there is none, and leaves a checkpoint when all holds.
     *
     * @param options extent; where there is no checkpoint, the audit begins at their start
     * @param nowMs the time, milliseconds since 1970
     * @throws AuditException when the log cannot be read, or the last checkpoint is damaged or of another log or build, or a checkpoint cannot be
     *     written
     */
    public VerifyReport verify(Verifier.Options options, long nowMs) throws InterruptedException {
        return verify(options, Optional.empty(), nowMs).report();
    }

    /**
     * An audit.
     *
     * @param heads what the signed heads prove; empty when they were not checked
     */
    public record Audit(VerifyReport report, Optional<HeadReport> heads) {}

    /** As the other, and also checks the signed heads: those after the last one that an earlier audit has checked, which must still be there. */
    public Audit verify(Verifier.Options options, Optional<HeadCheck> heads, long nowMs) throws InterruptedException {
        Optional<Snapshot> last = directory.newest();
        int partitions = source.partitions(topics.events());
        SortedMap<String, String> bindings = new TreeMap<>();
        bindings.put(CODE, CheckCode.checksum());
        for (String topic : names()) {
            source.topicId(topic).ifPresent(id -> bindings.put(TOPIC + topic, id));
        }
        last.ifPresent(checkpoint -> require(checkpoint, bindings, partitions));
        List<Finding> altered = new ArrayList<>(last.map(this::altered).orElse(List.of()));
        Optional<HeadReport> proof = Optional.empty();
        last.map(checkpoint -> checkpoint.manifest().bindings().get(HEADS)).ifPresent(seen -> bindings.put(HEADS, seen));
        if (heads.isPresent()) {
            proof = Optional.of(heads.get().check(Optional.ofNullable(bindings.get(HEADS)).map(Checkpoints::seen)));
            altered.addAll(proof.get().findings());
            proof.get().last().ifPresent(seen -> bindings.put(HEADS, seen.number() + ":" + seen.hash() + ":" + seen.offset() + ":" + seen.timeMs()));
        }
        boolean recent = last.isPresent() && nowMs - last.get().createdMs() < PLACEMENTS_AGE.toMillis();
        List<Long> compared = recent ? offsets(binding(last.get(), PLACEMENTS)) : List.of();
        // Before the ends of the decisions are fixed: what is compared twice does no harm.
        bindings.put(PLACEMENTS, ends(topics.placements()).stream().map(String::valueOf).collect(Collectors.joining(" ")));
        List<@Nullable VerifyReport> reports = new ArrayList<>();
        Optional<Snapshot> made = directory.create(into -> {
            Row row = new Row(into, altered, compared);
            LogStart start = last.<LogStart>map(checkpoint -> checkpoint).orElse(options.start());
            Verifier verifier = new Verifier(source, topics, codec, options.with(start, row));
            VerifyReport report = verifier.verify();
            reports.add(report);
            if (!report.holds()) {
                return Optional.empty();
            }
            List<Manifest.Part> parts = List.copyOf(row.parts.values());
            parts.forEach(part -> batches(part.at(), bindings));
            return Optional.of(new Manifest(SnapshotFold.LAYOUT, CoreVersion.CURRENT, topics.events(), topics.decisions(),
                    last.map(Snapshot::name).orElse(""), nowMs, parts, bindings));
        });
        directory.keep(KEPT);
        List<String> notes = new ArrayList<>();
        last.ifPresent(checkpoint -> notes.add("what was before " + checkpoint.name() + " of " + Instant.ofEpochMilli(checkpoint.createdMs())
                + " was verified then, and was not read again"));
        made.ifPresent(checkpoint -> notes.add("the next audit goes on from " + checkpoint.name() + " in " + path));
        return new Audit(reports.getFirst().with(notes), proof);
    }

    private static HeadReport.Seen seen(String binding) {
        String[] part = binding.split(":", -1);
        return new HeadReport.Seen(Long.parseLong(part[0]), part[1], Long.parseLong(part[2]), Long.parseLong(part[3]));
    }

    private List<String> names() {
        return List.of(topics.events(), topics.decisions(), topics.placements());
    }

    private List<Long> ends(String topic) {
        List<Long> ends = new ArrayList<>();
        for (int p = 0; p < source.partitions(topic); p++) {
            try (LogSource.Stream stream = source.open(topic, p)) {
                ends.add(stream.end());
            }
        }
        return ends;
    }

    private static List<Long> offsets(String text) {
        return Arrays.stream(text.split(" ", -1)).map(Long::valueOf).toList();
    }

    private static String binding(Snapshot checkpoint, String name) {
        String value = checkpoint.manifest().bindings().get(name);
        if (value == null) {
            throw new AuditException("the checkpoint " + checkpoint.directory() + " does not say its " + name, "delete it");
        }
        return value;
    }

    /** The checkpoint is of this log and of these checks. */
    private void require(Snapshot checkpoint, Map<String, String> now, int partitions) {
        checkpoint.requireOf(topics, partitions);
        if (!binding(checkpoint, CODE).equals(now.get(CODE))) {
            throw new AuditException("the checkpoint " + checkpoint.directory() + " was made by another build, which may check something else",
                    "give an empty directory, so that this build verifies the log from its beginning once");
        }
        for (String topic : names()) {
            String known = checkpoint.manifest().bindings().get(TOPIC + topic);
            String present = now.get(TOPIC + topic);
            if (known != null && present != null && !known.equals(present)) {
                throw new AuditException("the checkpoint " + checkpoint.directory() + " is of another log: its topic " + topic + " has the id "
                        + known + ", and this one " + present, "give each log a directory of its own; a topic that was made again is another one");
            }
        }
    }

    /** Files whose batches are not those that were verified. */
    private List<Finding> altered(Snapshot checkpoint) {
        List<Finding> found = new ArrayList<>();
        for (PartitionStart.At at : checkpoint.places()) {
            for (String topic : List.of(topics.events(), topics.decisions())) {
                String ranges = checkpoint.manifest().bindings().getOrDefault(BATCHES + topic + "." + at.partition(), "");
                List<Long> files = ranges.isEmpty() ? List.of() : source.fileOffsets(topic, at.partition());
                for (String range : ranges.isEmpty() ? new String[0] : ranges.split(" ", -1)) {
                    String[] part = range.split(":", -1);
                    long from = Long.parseLong(part[0]);
                    // What was trimmed since is no longer there to be compared.
                    if (!files.isEmpty() && files.getFirst() <= from
                            && !source.batchChecksum(topic, at.partition(), from, Long.parseLong(part[1])).equals(Optional.of(part[2]))) {
                        found.add(new Finding(Finding.BYTES, topic, at.partition(), from, 0, from, "records " + from + " to "
                                + (Long.parseLong(part[1]) - 1) + " are not those that were verified up to " + checkpoint.name()
                                + ": some were altered, removed or added; audit verify without --checkpoint names what it can"));
                    }
                }
            }
        }
        return found;
    }

    private void batches(PartitionStart.At at, Map<String, String> bindings) {
        batches(topics.events(), at.partition(), at.nextEvent(), bindings);
        batches(topics.decisions(), at.partition(), at.nextDecision(), bindings);
    }

    private void batches(String topic, int partition, long until, Map<String, String> bindings) {
        List<Long> files = source.fileOffsets(topic, partition);
        List<String> ranges = new ArrayList<>();
        for (int i = 0; i < files.size() && files.get(i) < until; i++) {
            long from = files.get(i);
            long to = i + 1 < files.size() ? Math.min(until, files.get(i + 1)) : until;
            source.batchChecksum(topic, partition, from, to).ifPresent(checksum -> ranges.add(from + ":" + to + ":" + checksum));
        }
        if (!ranges.isEmpty()) {
            bindings.put(BATCHES + topic + "." + partition, String.join(" ", ranges));
        }
    }

    /** One audit of the row: its state goes into a checkpoint that is being made. */
    private final class Row implements Continuation {
        private final Path into;
        private final List<Finding> findings;
        private final List<Long> placementsFrom;
        private final Map<Integer, PartFile> files = new ConcurrentHashMap<>();
        private final Map<Integer, Manifest.Part> parts = new ConcurrentSkipListMap<>();

        Row(Path into, List<Finding> findings, List<Long> placementsFrom) {
            this.into = into;
            this.findings = findings;
            this.placementsFrom = placementsFrom;
        }

        @Override
        public List<Finding> findings() {
            return findings;
        }

        @Override
        public List<Long> placementsFrom() {
            return placementsFrom;
        }

        @Override
        public DataOutputStream image(int partition) throws IOException {
            PartFile file = new PartFile(directory, into, partition);
            files.put(partition, file);
            return file.open();
        }

        @Override
        public void written(PartitionStart.At at, long placements) {
            PartFile file = files.remove(at.partition());
            if (file == null) {
                throw new IllegalStateException("the state of partition " + at.partition() + " was not begun");
            }
            parts.put(at.partition(), file.part(at, placements));
        }
    }
}
