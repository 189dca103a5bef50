/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.audit;

import io.tierlog.controller.core.invariant.FoldBytes;
import io.tierlog.controller.core.table.HeapTables;
import io.tierlog.controller.core.table.RowImage;
import io.tierlog.controller.core.table.Rows;
import io.tierlog.events.Codec;
import io.tierlog.events.RecordStamp;
import io.tierlog.events.topic.Topics;
import io.tierlog.schemas.decision.Fact;
import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Folds the decided part of one partition and writes it as an image, and reads an image. The fold is that of {@code audit verify}: an image
 * of records that break a check is not made. The same decisions give the same bytes, from the beginning of the log or from an earlier image.
 *
 * <pre>
 *   layout, partition, next event, next decision, time, application id
 *   all rows of the tables                            (RowImage)
 *   number and checksum of the last decision about each aggregate
 *   invariants, chains of events and decisions, placements: what an audit needs to go on
 * </pre>
 *
 * <p>Static and without state. Memory: the tables of the partition and the state of an audit, as with {@code audit verify}.
 */
public final class SnapshotFold {
    /** Raised when what is written changes, the state of the invariants included. */
    public static final int LAYOUT = 3;

    private static final int BUFFER = 1 << 16;

    private SnapshotFold() {}

    /** A partition of a log. */
    public record Job(LogSource source, Topics topics, Codec codec, int partition) {}

    /** Opens the bytes of an image. */
    @FunctionalInterface
    public interface Image {
        /** Opens them from the first byte on. */
        InputStream open() throws IOException;
    }

    /**
     * What was folded.
     *
     * @param placements rows of the table of placements
     * @param finding the first check that a record broke; empty when the image was written
     */
    public record Result(PartitionStart.At at, long placements, Optional<Finding> finding) {}

    /** Where the bytes of an image go; opened once the fold holds. */
    @FunctionalInterface
    public interface Target {
        /** Opens it. */
        DataOutputStream open() throws IOException;
    }

    /**
     * Folds the decisions of a partition and writes the image.
     *
     * @param start an earlier image to go on from; empty for the beginning of the log
     * @param until offset of the last decision; {@link Long#MAX_VALUE} for the present end
     * @throws AuditException when the log cannot be read, or has no such decision
     * @throws IOException when the image cannot be written
     */
    public static Result write(Job job, Optional<PartitionStart> start, long until, Target target) throws IOException {
        List<Finding> findings = new ArrayList<>();
        PlacementCheck placements = new PlacementCheck(job.partition());
        PartitionAudit.Job fold = new PartitionAudit.Job(job.source(), job.topics(), job.codec(), job.partition(), true, start, until);
        PartitionAudit audit = new PartitionAudit(fold, new PartitionAudit.Listener() {
            @Override
            public void found(Finding finding) {
                if (findings.isEmpty()) {
                    findings.add(finding);
                }
            }

            @Override
            public void read(long records, long bytes) {}

            @Override
            public void fact(long offset, Fact decision) {
                placements.fact(offset, decision);
            }
        });
        start.ifPresent(from -> goOn(from, audit, placements));
        audit.runDecided();
        HeapTables tables = audit.tables().orElseThrow();
        PartitionStart.At at = audit.at();
        long rows = tables.rows(Rows.PLACEMENTS).size();
        if (until != Long.MAX_VALUE && at.lastDecision() != until) {
            throw new AuditException("partition " + job.partition() + " of " + job.topics().decisions() + " has no committed decision at offset "
                    + until, "the snapshot is of another log, or the end of the log was lost");
        }
        if (!findings.isEmpty()) {
            return new Result(at, rows, Optional.of(findings.getFirst()));
        }
        try (DataOutputStream out = target.open()) {
            image(audit, placements, out);
        }
        // The chains report at last what they could not decide while they went on.
        return new Result(at, rows, findings.stream().findFirst());
    }

    /**
     * Writes what an audit has folded, up to its last decision. Chains of records report what they could not decide so far.
     *
     * @throws IOException when it cannot be written
     */
    static void image(PartitionAudit audit, PlacementCheck placements, DataOutputStream out) throws IOException {
        FoldBytes io = FoldBytes.to(out);
        try {
            io.int32(LAYOUT);
            place(io, audit.at());
            RowImage.write(audit.tables().orElseThrow(), out);
            io.map(new TreeMap<>(audit.stamps()), io::text, stamp -> stamp(io, stamp));
            audit.proof(io);
            placements.state(io);
        } catch (UncheckedIOException e) {
            throw e.getCause();
        }
    }

    /**
     * Reads an image.
     *
     * @throws IOException when it is not whole, or of another layout
     */
    public static PartitionStart read(Image image) throws IOException {
        Counting counting = new Counting(new BufferedInputStream(image.open(), BUFFER));
        try (DataInputStream in = new DataInputStream(counting)) {
            FoldBytes io = FoldBytes.from(in);
            int layout = io.int32(0);
            if (layout != LAYOUT) {
                throw new IOException("it has layout " + layout + ", and this version reads layout " + LAYOUT);
            }
            PartitionStart.At at = place(io, null);
            HeapTables tables = new HeapTables();
            RowImage.read(in, tables);
            Map<String, RecordStamp> stamps = new TreeMap<>();
            io.map(stamps, io::text, stamp -> stamp(io, stamp));
            long proofAt = counting.position;
            return new PartitionStart(at, tables, stamps, () -> {
                DataInputStream proof = new DataInputStream(new BufferedInputStream(image.open(), BUFFER));
                proof.skipNBytes(proofAt);
                return proof;
            });
        } catch (UncheckedIOException e) {
            throw e.getCause();
        }
    }

    /** Gives an audit the state in which the image was made. */
    static void goOn(PartitionStart start, PartitionAudit audit, PlacementCheck placements) {
        try (DataInputStream in = start.proof().open()) {
            FoldBytes io = FoldBytes.from(in);
            audit.proof(io);
            placements.state(io);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static PartitionStart.At place(FoldBytes io, PartitionStart.@Nullable At known) {
        PartitionStart.At at = known == null ? new PartitionStart.At(0, 0, 0, 0, "") : known;
        return new PartitionStart.At(io.int32(at.partition()), io.int64(at.nextEvent()), io.int64(at.nextDecision()), io.int64(at.lastTimeMs()),
                io.text(at.applicationId()));
    }

    private static RecordStamp stamp(FoldBytes io, @Nullable RecordStamp known) {
        RecordStamp stamp = known == null ? RecordStamp.NONE : known;
        return new RecordStamp(io.int64(stamp.sequence()), io.int32(stamp.crc32c()));
    }

    /** Counts what was read. */
    private static final class Counting extends FilterInputStream {
        private long position;

        Counting(InputStream in) {
            super(in);
        }

        @Override
        public int read() throws IOException {
            int one = in.read();
            position += one < 0 ? 0 : 1;
            return one;
        }

        @Override
        public int read(byte[] bytes, int offset, int length) throws IOException {
            int read = in.read(bytes, offset, length);
            position += Math.max(0, read);
            return read;
        }
    }
}
